//! Who gets past the gateway.

use crate::support::{ID, problem, start};

#[tokio::test]
async fn without_good_credentials_there_is_nothing() {
    let gateway = start(&[]).await;
    let answer = gateway.anonymous("GET", "/products").send().await.unwrap();
    assert_eq!(answer.headers()["www-authenticate"], "Bearer");
    problem(answer, 401, "unauthenticated").await;
    for value in ["Bearer x", "Basic dTpw", "Bearer", "x"] {
        let request = gateway
            .anonymous("GET", "/products")
            .header("authorization", value);
        problem(request.send().await.unwrap(), 401, "unauthenticated").await;
    }
}

#[tokio::test]
async fn admin_routes_refuse_users_before_reading_the_body() {
    let gateway = start(&[]).await;
    for (method, path) in [
        ("POST", "/products"),
        ("POST", "/users"),
        ("POST", "/transactions/deposit"),
        ("POST", &format!("/transactions/{ID}/confirm")),
        ("POST", &format!("/orders/{ID}/cancel")),
        ("POST", &format!("/tasks/{ID}/complete")),
        ("PATCH", &format!("/wallets/{ID}")),
        ("DELETE", &format!("/categories/{ID}")),
        ("POST", "/addresses"),
        ("POST", "/assets"),
        ("PATCH", "/assets/gold"),
        ("POST", "/rates"),
        ("PATCH", "/rates/points/usd"),
        ("DELETE", "/rates/points/usd"),
    ] {
        let request = gateway
            .user(method, path)
            .header("content-type", "text/plain")
            .body("{");
        problem(request.send().await.unwrap(), 403, "forbidden").await;
    }
}

#[tokio::test]
async fn open_mode_is_for_loopback_and_its_own_pages() {
    let gateway = start(&["--auth", "open"]).await;
    let ask = || gateway.anonymous("GET", "/products");
    problem(ask().send().await.unwrap(), 503, "unavailable").await;
    let own = ask().header("origin", &gateway.base);
    problem(own.send().await.unwrap(), 503, "unavailable").await;
    for (name, value) in [("host", "shop.example"), ("origin", "http://evil.example")] {
        let request = ask().header(name, value);
        problem(request.send().await.unwrap(), 403, "forbidden").await;
    }
    let wrong = ask().header("authorization", "Bearer wrong");
    problem(wrong.send().await.unwrap(), 401, "unauthenticated").await;
}

#[tokio::test]
async fn services_that_are_away_are_said_within_three_seconds() {
    let gateway = start(&[]).await;
    let started = std::time::Instant::now();
    let answer = gateway.admin("GET", "/orders").send().await.unwrap();
    assert!(answer.headers().contains_key("retry-after"));
    problem(answer, 503, "unavailable").await;
    assert!(started.elapsed().as_secs() < 3);
    let ready = gateway.anonymous("GET", "/readyz").send().await.unwrap();
    assert_eq!(ready.status(), 503);
    assert_eq!(
        gateway
            .anonymous("GET", "/livez")
            .send()
            .await
            .unwrap()
            .status(),
        200
    );
}

#[tokio::test]
async fn users_read_payment_methods() {
    let gateway = start(&[]).await;
    for path in ["/payment-methods", "/payment-methods/stripe"] {
        let asked = gateway.user("GET", path);
        problem(asked.send().await.unwrap(), 503, "unavailable").await;
        let anonymous = gateway.anonymous("GET", path);
        problem(anonymous.send().await.unwrap(), 401, "unauthenticated").await;
    }
}
