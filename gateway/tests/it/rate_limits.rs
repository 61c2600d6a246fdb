//! Limits of requests by caller, and of wrong credentials by address.

use platform::{
    auth::{Kind, Role},
    error::{Code, Failure},
};

use serde_json::json;

use crate::harness::{ID, TestApp, problem_of};

/// A bucket to which next to nothing is added within a test.
const LIMITED: [&str; 2] = ["--rate-limit=1", "--rate-limit-burst=5"];

#[tokio::test]
async fn a_caller_beyond_its_limit_gets_429_and_others_go_on() {
    let app = TestApp::start_with(&LIMITED).await;
    let mut refused = None;
    for _ in 0..10 {
        let response = app.admin("GET", "/products").send().await.unwrap();
        if response.status() == 429 {
            refused = Some(response);
            break;
        }
        assert_eq!(
            response.headers()["ratelimit-policy"],
            "\"default\";q=5;w=5"
        );
        assert!(response.headers().contains_key("ratelimit"));
    }
    let refused = refused.expect("the bucket is empty");
    assert!(refused.headers().contains_key("retry-after"));
    problem_of(refused, 429, "rate_limited").await;

    // Without credentials the address has a bucket of its own.
    let page = app.anonymous("GET", "/openapi.json").send().await.unwrap();
    assert_eq!(page.status(), 200);
}

#[tokio::test]
async fn many_wrong_keys_lead_to_429() {
    let app = TestApp::start_with(&["--rate-limit=1000"]).await;
    let refusal = Failure::new(Code::Unauthenticated, "unknown");
    app.services.fail("AuthService/ExchangeApiKey", refusal);
    let mut limited = false;
    for number in 0..60 {
        let request = app.anonymous("GET", "/products");
        let request = request.header("apikey", format!("gk_0123456789abcdef{number:04}"));
        let exchange = app.exchange(request).await;
        limited |= exchange.status == 429;
    }
    assert!(limited);
    // A caller whose credentials are known goes on.
    let user = app.with_token("GET", "/products", Kind::User, &[Role::User]);
    assert_eq!(user.send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn a_user_may_not_try_emails_by_sending_money() {
    let app = TestApp::start_with(&["--rate-limit=1000"]).await;
    let body = json!({"amount": "1", "assetCode": "usd", "originWalletId": ID,
        "destinationEmail": "ann@example.com"});
    let mut statuses = Vec::new();
    for _ in 0..25 {
        let request = app.with_token("POST", "/transactions/send", Kind::User, &[Role::User]);
        statuses.push(app.exchange(request.json(&body)).await.status);
    }
    assert_eq!(statuses[..20], [201; 20]);
    assert!(statuses[20..].contains(&429), "{statuses:?}");
    // A transfer has the usual limit, and so has an admin.
    let request = app.with_token("GET", "/products", Kind::User, &[Role::User]);
    assert_eq!(app.exchange(request).await.status, 200);
    for _ in 0..25 {
        let sent = app.post("/transactions/send", &body).await;
        assert_eq!(sent.status, 201);
    }
}
