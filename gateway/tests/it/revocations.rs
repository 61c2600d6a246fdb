//! Revoked tokens and API keys, and changes while revocations are not known.

use std::time::Duration;

use platform::{
    auth::{Caller, Grant, Kind, Revocation, Revocations, Role, TokenIssuer},
    clock::Clock,
    error::{Code, Failure},
};
use proto::identity::v1::ExchangeApiKeyResponse;
use serde_json::json;

use crate::harness::{ADMIN_KEY, ID, TestApp, problem, problem_of};

const EXCHANGE: &str = "AuthService/ExchangeApiKey";

/// Refuses the tokens of the API key that are older than `min_version`.
fn revoke(revocations: &Revocations, min_version: i32) {
    revocations.record([Revocation {
        kind: Kind::Key,
        subject: ID.to_owned(),
        min_version,
    }]);
}

/// Builds the response of identity-svc to the API key when its token version is this one.
fn exchanged(version: i32) -> ExchangeApiKeyResponse {
    let caller = Caller {
        kind: Kind::Key,
        subject: ID.to_owned(),
        roles: vec![Role::Admin],
    };
    let token = TokenIssuer::new(&[7; 32]).issue(Grant {
        caller: &caller,
        version,
        now: Clock::system().now(),
        lifetime: Duration::from_mins(10),
        id: "t",
    });
    ExchangeApiKeyResponse {
        token,
        ..ExchangeApiKeyResponse::default()
    }
}

#[tokio::test]
async fn changes_are_refused_while_revocations_are_not_known() {
    let revocations = Revocations::own();
    let app = TestApp::start_knowing(revocations.clone(), &[]).await;
    let path = format!("/categories/{ID}");
    let requests = || {
        [
            app.admin("POST", "/categories")
                .json(&json!({"title": "Tea"})),
            app.admin("PATCH", &path).json(&json!({"title": "Tea"})),
            app.admin("DELETE", &path),
        ]
    };
    for request in requests() {
        let response = request.send().await.unwrap();
        assert_eq!(response.headers()["retry-after"], "1");
        problem_of(response, 503, "unavailable").await;
    }
    for method in ["GET", "HEAD", "OPTIONS"] {
        let status = app.exchange(app.admin(method, &path)).await.status;
        assert!([200, 204].contains(&status), "{method}: {status}");
    }
    // Wrong credentials have precedence.
    problem(app.anonymous("DELETE", &path), 401, "unauthenticated").await;
    problem(app.user("DELETE", &path), 403, "forbidden").await;

    revocations.record([]);
    for request in requests() {
        let status = app.exchange(request).await.status;
        assert!((200..300).contains(&status), "{status}");
    }
}

#[tokio::test]
async fn a_revoked_token_is_refused() {
    let revocations = Revocations::own();
    let app = TestApp::start_knowing(revocations.clone(), &[]).await;
    assert_eq!(app.get("/products").await.status, 200);
    revoke(&revocations, 1);
    let document = problem(app.admin("GET", "/products"), 401, "unauthenticated").await;
    assert_eq!(document["detail"], "the token is not valid: it was revoked");
}

#[tokio::test]
async fn an_api_key_that_has_ended_is_refused_though_its_token_was_cached() {
    let revocations = Revocations::own();
    let app = TestApp::start_knowing(revocations.clone(), &[]).await;
    let request = || {
        app.anonymous("GET", "/products")
            .header("apikey", ADMIN_KEY)
    };
    assert_eq!(app.exchange(request()).await.status, 200);
    let ended = Failure::new(Code::Unauthenticated, "the credentials are not valid");
    app.services.fail(EXCHANGE, ended);
    assert_eq!(app.exchange(request()).await.status, 200, "cached");
    revoke(&revocations, 1);
    problem(request(), 401, "unauthenticated").await;
}

#[tokio::test]
async fn an_api_key_that_is_still_usable_gets_a_new_token_when_its_token_is_revoked() {
    let revocations = Revocations::own();
    let app = TestApp::start_knowing(revocations.clone(), &[]).await;
    let request = || {
        app.anonymous("GET", "/products")
            .header("apikey", ADMIN_KEY)
    };
    assert_eq!(app.exchange(request()).await.status, 200);
    revoke(&revocations, 1);
    app.services.reply(EXCHANGE, &exchanged(1));
    assert_eq!(app.exchange(request()).await.status, 200);
}
