//! API keys, tokens and open mode.

use chrono::TimeDelta;
use platform::error::{Code, Failure};
use proto::identity::v1::ExchangeApiKeyResponse;

use crate::harness::{ADMIN_KEY, SEED, TestApp, problem, problem_of};

const EXCHANGE: &str = "AuthService/ExchangeApiKey";

#[tokio::test]
async fn a_request_without_credentials_is_challenged() {
    let app = TestApp::start().await;
    let response = app.anonymous("GET", "/products").send().await.unwrap();
    assert_eq!(response.headers()["www-authenticate"], "Bearer");
    let document = problem_of(response, 401, "unauthenticated").await;
    assert_eq!(
        document["detail"],
        "send an API key in `apikey`, or a token in `Authorization: Bearer`"
    );
}

#[tokio::test]
async fn malformed_credentials_are_refused() {
    let app = TestApp::start().await;
    for value in ["Bearer x", "Basic dTpw", "Bearer", "x", "Bearer a.b.c", ""] {
        let request = app.anonymous("GET", "/products");
        problem(
            request.header("authorization", value),
            401,
            "unauthenticated",
        )
        .await;
    }
    for name in ["apikey", "authorization"] {
        let request = app.anonymous("GET", "/products");
        let request = request.header(name, &b"\xff"[..]);
        let document = problem(request, 401, "unauthenticated").await;
        assert_eq!(
            document["detail"], "the credentials are malformed",
            "{name}"
        );
    }
}

#[tokio::test]
async fn two_credentials_are_refused_even_if_equal() {
    let app = TestApp::start().await;
    let bearer = format!("Bearer {ADMIN_KEY}");
    for (first, second) in [
        (("apikey", ADMIN_KEY), ("apikey", ADMIN_KEY)),
        (("apikey", ADMIN_KEY), ("authorization", &*bearer)),
        (("authorization", &*bearer), ("authorization", &*bearer)),
    ] {
        let request = app.anonymous("GET", "/products");
        let request = request.header(first.0, first.1).header(second.0, second.1);
        let document = problem(request, 401, "unauthenticated").await;
        let detail = document["detail"].as_str().expect("a text");
        assert!(detail.starts_with("send one credential"), "{detail}");
    }
}

/// Returns the token of a request.
fn token_in(request: reqwest::RequestBuilder) -> String {
    let request = request.build().expect("a request");
    let header = request.headers()["authorization"].to_str().expect("ASCII");
    header.trim_start_matches("Bearer ").to_owned()
}

#[tokio::test]
async fn forged_unsigned_expired_and_foreign_tokens_are_refused() {
    let app = TestApp::start().await;
    let user = token_in(app.user("GET", "/products"));
    let admin = token_in(app.admin("GET", "/products"));
    let [header, payload, signature] = parts(&user);
    let [_, payload_of_admin, _] = parts(&admin);
    // {"alg":"none"}
    let unsigned = "eyJhbGciOiJub25lIn0";
    let foreign = TestApp::issue(8, TimeDelta::zero());
    let expired = TestApp::issue(SEED, TimeDelta::hours(-1));
    for token in [
        format!("{header}.{payload_of_admin}.{signature}"),
        format!("{header}.{payload}."),
        format!("{header}.{payload}"),
        format!("{unsigned}.{payload_of_admin}."),
        format!("{unsigned}.{payload_of_admin}.{signature}"),
        foreign,
        expired,
        app.own_token.clone(),
    ] {
        let request = app.anonymous("GET", "/products").bearer_auth(&token);
        problem(request, 401, "unauthenticated").await;
    }
    assert!(
        app.services.take_calls().is_empty(),
        "no service was called"
    );
    let request = app.anonymous("GET", "/products");
    let valid = request.bearer_auth(TestApp::issue(SEED, TimeDelta::zero()));
    assert_eq!(app.exchange(valid).await.status, 200);
}

fn parts(token: &str) -> [&str; 3] {
    let parts: Vec<_> = token.split('.').collect();
    parts.try_into().expect("three parts")
}

#[tokio::test]
async fn api_keys_go_in_either_header() {
    let app = TestApp::start().await;
    let bearer = format!("Bearer {ADMIN_KEY}");
    let padded = format!("bearer   {ADMIN_KEY} ");
    for (name, value) in [
        ("apikey", ADMIN_KEY),
        ("authorization", &bearer),
        ("authorization", &padded),
    ] {
        let request = app.anonymous("GET", "/products").header(name, value);
        assert_eq!(app.exchange(request).await.status, 200, "{name}: {value}");
    }
}

#[tokio::test]
async fn an_unknown_api_key_is_refused_and_not_asked_for_again() {
    let app = TestApp::start().await;
    let refusal = Failure::new(Code::Unauthenticated, "the API key is not valid");
    app.services.fail(EXCHANGE, refusal);
    let request = || {
        app.anonymous("GET", "/products")
            .header("apikey", "gk_wrong")
    };
    let document = problem(request(), 401, "unauthenticated").await;
    assert_eq!(document["detail"], "the API key is not valid");
    let token = app.admin("GET", "/").build().unwrap().headers()["authorization"].clone();
    let token = token
        .to_str()
        .unwrap()
        .trim_start_matches("Bearer ")
        .to_owned();
    let response = ExchangeApiKeyResponse {
        token,
        ..ExchangeApiKeyResponse::default()
    };
    app.services.reply(EXCHANGE, &response);
    // The refusal is kept for a while. Another key is asked for.
    problem(request(), 401, "unauthenticated").await;
    let other = app
        .anonymous("GET", "/products")
        .header("apikey", "gk_other");
    assert_eq!(app.exchange(other).await.status, 200);
}

#[tokio::test]
async fn an_exchanged_key_is_cached() {
    let app = TestApp::start().await;
    let request = || {
        app.anonymous("GET", "/products")
            .header("apikey", ADMIN_KEY)
    };
    assert_eq!(app.exchange(request()).await.status, 200);
    app.services
        .fail(EXCHANGE, Failure::unavailable("identity"));
    assert_eq!(app.exchange(request()).await.status, 200);
    let other = app
        .anonymous("GET", "/products")
        .header("apikey", "gk_other");
    problem(other, 503, "unavailable").await;
}

#[tokio::test]
async fn open_mode_lets_loopback_and_its_own_pages_in() {
    let app = TestApp::start_with(&["--auth", "open"]).await;
    let request = || app.anonymous("GET", "/products");
    assert_eq!(app.exchange(request()).await.status, 200);
    let own_page = request().header("origin", &app.base);
    assert_eq!(app.exchange(own_page).await.status, 200);
    for (name, value) in [("host", "shop.example"), ("origin", "http://evil.example")] {
        problem(request().header(name, value), 403, "forbidden").await;
    }
    // Also with credentials, and for pages that need none.
    for path in [
        "/products",
        "/docs/",
        "/docs/errors",
        "/openapi.json",
        "/nope",
    ] {
        for (name, value) in [
            ("host", "shop.example"),
            ("origin", "http://evil.example"),
            ("forwarded", "for=203.0.113.7"),
            ("via", "1.1 proxy"),
            ("x-forwarded-for", "203.0.113.7"),
            ("x-forwarded-host", "shop.example"),
            ("x-forwarded-proto", "https"),
        ] {
            problem(
                app.anonymous("GET", path).header(name, value),
                403,
                "forbidden",
            )
            .await;
            problem(app.admin("GET", path).header(name, value), 403, "forbidden").await;
        }
    }
    let wrong = request().header("authorization", "Bearer wrong");
    problem(wrong, 401, "unauthenticated").await;
}

#[tokio::test]
async fn open_mode_acts_as_the_anonymous_admin_of_identity_svc() {
    let app = TestApp::start_with(&["--auth", "open"]).await;
    let request = || app.anonymous("POST", "/users/01920000-0000-7000-8000-000000000001/block");
    let exchange = app.exchange(request()).await;
    assert_eq!(exchange.status, 204);
    let header = &exchange.call().metadata["authorization"];
    assert_eq!(header, &format!("Bearer {}", app.anonymous_token));
}

#[tokio::test]
async fn open_mode_needs_identity_svc_in_open_mode() {
    let app = TestApp::start_with(&["--auth", "open"]).await;
    let refusal = Failure::new(Code::Forbidden, "not in open mode");
    app.services
        .fail("AuthService/IssueAnonymousToken", refusal);
    problem(app.anonymous("GET", "/products"), 503, "unavailable").await;
}

#[tokio::test]
async fn unavailable_services_lead_to_503_within_three_seconds() {
    let app = TestApp::start_without_services(&[]).await;
    let started = std::time::Instant::now();
    let response = app.admin("GET", "/orders").send().await.unwrap();
    assert!(response.headers().contains_key("retry-after"));
    problem_of(response, 503, "unavailable").await;
    assert!(started.elapsed().as_secs() < 3);
}
