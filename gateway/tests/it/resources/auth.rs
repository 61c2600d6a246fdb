//! `/auth/token` and the key set.

use platform::error::{Code, Failure};
use proto::identity::v1::GetJwksResponse;
use serde_json::json;

use crate::harness::{TestApp, problem_of};

#[tokio::test]
async fn a_login_passes_the_address_of_its_client_on() {
    let app = TestApp::start().await;
    let body = json!({"email": "ann@example.com", "password": "Abcdefg1"});
    let exchange = app.exchange(app.anonymous("POST", "/auth/token").json(&body));
    insta::assert_json_snapshot!(exchange.await, @r#"
    {
      "calls": [
        {
          "rpc": "AuthService/LogIn",
          "message": {
            "client_address": "127.0.0.1",
            "email": "ann@example.com",
            "password": "Abcdefg1"
          }
        }
      ],
      "status": 200,
      "body": {
        "data": {
          "expiresIn": 4,
          "refreshToken": "tokens.refresh_token",
          "roles": [
            "tokens.roles"
          ],
          "token": "tokens.access_token"
        }
      }
    }
    "#);
}

#[tokio::test]
async fn credentials_and_limits_are_reported_by_the_service() {
    let app = TestApp::start().await;
    let request = || {
        let body = json!({"email": "ann@example.com", "password": "Abcdefg1"});
        app.anonymous("POST", "/auth/token").json(&body)
    };
    let refusal = Failure::new(Code::Unauthenticated, "the credentials are not valid");
    app.services.fail("AuthService/LogIn", refusal);
    problem_of(request().send().await.unwrap(), 401, "unauthenticated").await;
    let mut refusal = Failure::new(Code::RateLimited, "too many attempts to log in");
    refusal.retry_after = Some(std::time::Duration::from_secs(7));
    app.services.fail("AuthService/LogIn", refusal);
    let response = request().send().await.unwrap();
    assert_eq!(response.headers()["retry-after"], "7");
    problem_of(response, 429, "rate_limited").await;
}

#[tokio::test]
async fn a_login_that_has_to_wait_is_refused_without_a_call() {
    let app = TestApp::start().await;
    let log_in = |email: &str| {
        let body = json!({"email": email, "password": "Abcdefg1"});
        app.exchange(app.anonymous("POST", "/auth/token").json(&body))
    };
    let refusal = Failure::new(Code::RateLimited, "too many attempts to log in");
    let wait = std::time::Duration::from_mins(5);
    app.services
        .fail("AuthService/LogIn", refusal.retry_after(wait));
    log_in("ann@example.com").await.problem(429, "rate_limited");
    let early = log_in("ann@example.com").await;
    early.problem(429, "rate_limited");
    assert!(early.calls.is_empty(), "{:?}", early.calls);
    assert_eq!(log_in("bob@example.com").await.calls.len(), 1);
}

#[tokio::test]
async fn missing_unknown_and_mistyped_fields_are_named() {
    let app = TestApp::start().await;
    for (path, body, field) in [
        ("/auth/token", json!({"email": "a@x.com"}), "password"),
        ("/auth/token", json!({"email": 1, "password": "x"}), "email"),
        (
            "/auth/token",
            json!({"email": "a@x.com", "password": "x", "roles": []}),
            "roles",
        ),
        ("/auth/token/refresh", json!({"token": "x"}), "token"),
        (
            "/auth/token/revoke",
            json!({"refreshToken": null}),
            "refreshToken",
        ),
        ("/auth/token/validate", json!({}), "token"),
    ] {
        let exchange = app.exchange(app.anonymous("POST", path).json(&body)).await;
        let document = exchange.problem(422, "validation_failed").to_string();
        assert!(
            document.contains(&format!(r#""field":"{field}""#)),
            "{document}"
        );
    }
}

#[tokio::test]
async fn the_key_set_is_a_document_that_may_be_cached() {
    let app = TestApp::start().await;
    let keys = r#"{"keys":[]}"#.to_owned();
    let reply = GetJwksResponse { jwks_json: keys };
    app.services.reply("AuthService/GetJwks", &reply);
    let request = app.anonymous("GET", "/.well-known/jwks.json");
    let response = request.send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "application/json");
    assert_eq!(response.headers()["cache-control"], "public, max-age=60");
    assert_eq!(response.text().await.unwrap(), r#"{"keys":[]}"#);
}
