//! The `Idempotency-Key` header.

use serde_json::json;

use crate::{
    harness::{Exchange, ID, TestApp, assert_status, problem},
    operations::{self, Access},
};

/// The idempotency metadata of the first RPC: key, path, hash.
fn metadata(exchange: &Exchange) -> [Option<String>; 3] {
    ["key", "path", "hash"].map(|name| {
        let value = exchange.calls[0]
            .metadata
            .get(format!("guerdon-idempotency-{name}"));
        value.map(|value| value.to_str().expect("ASCII").to_owned())
    })
}

#[tokio::test]
async fn every_post_passes_its_key_path_and_hash_on() {
    let app = TestApp::start().await;
    let of_callers = operations::all()
        .into_iter()
        .filter(|operation| operation.access != Access::Anonymous);
    for operation in of_callers {
        let request = operation.request(&app).header("idempotency-key", "k 1");
        let exchange = app.exchange(request).await;
        let [key, path, hash] = metadata(&exchange);
        if operation.method == "POST" {
            assert_eq!(key.as_deref(), Some("k 1"), "{}", operation.path);
            assert_eq!(path, Some(format!("POST {}", operation.url())));
            assert_eq!(hash.map(|hash| hash.len()), Some(64), "{}", operation.path);
        } else {
            assert_eq!([key, path, hash], [None, None, None], "{}", operation.path);
        }
    }
}

#[tokio::test]
async fn anonymous_routes_ignore_keys() {
    let app = TestApp::start().await;
    for operation in operations::all() {
        for key in ["k 1", ""] {
            let request = operation.request(&app).header("idempotency-key", key);
            if operation.access == Access::Anonymous {
                let exchange = app.exchange(request).await;
                assert_eq!(exchange.status, operation.success, "{}", operation.path);
                assert_eq!(metadata(&exchange), [None, None, None]);
            }
        }
    }
}

#[tokio::test]
async fn a_request_without_a_key_passes_nothing_on() {
    let app = TestApp::start().await;
    let exchange = app.post("/categories", &json!({"title": "x"})).await;
    assert_eq!(metadata(&exchange), [None, None, None]);
}

#[tokio::test]
async fn the_hash_tells_bodies_apart() {
    let app = TestApp::start().await;
    let hash = async |body: &'static str| {
        let request = app
            .admin("POST", "/categories")
            .header("idempotency-key", "k");
        let request = request.header("content-type", "application/json");
        let exchange = app.exchange(request.body(body)).await;
        metadata(&exchange)[2].clone().expect("a hash")
    };
    let one = hash(r#"{"title":"x"}"#).await;
    assert_eq!(hash(r#"{"title":"x"}"#).await, one);
    assert_ne!(hash(r#"{"title":"y"}"#).await, one);
    assert_ne!(hash(r#"{"title": "x"}"#).await, one, "the raw body counts");
}

#[tokio::test]
async fn the_hash_is_keyed_with_the_service_secret() {
    let (first, second) = (
        TestApp::start().await,
        TestApp::start_with(&["--service-secret=another-k3J9x0PqLr7sTz2Vb5Yw8Nc1Md4Fg6Ha"]).await,
    );
    let mut hashes = Vec::new();
    for app in [&first, &second] {
        let request = app
            .admin("POST", "/categories")
            .json(&json!({"title": "x"}));
        let exchange = app.exchange(request.header("idempotency-key", "k")).await;
        hashes.push(metadata(&exchange)[2].clone());
    }
    assert_ne!(hashes[0], hashes[1]);
}

#[tokio::test]
async fn an_import_hashes_the_body_that_it_streams() {
    let app = TestApp::start().await;
    let hash = async |body: &'static str| {
        let request = app
            .admin("POST", "/products/import")
            .header("idempotency-key", "k");
        let request = request.header("content-type", "application/x-ndjson");
        let exchange = app.exchange(request.body(body)).await;
        metadata(&exchange)[2].clone().expect("a hash")
    };
    assert_eq!(hash("{}\n").await, hash("{}\n").await);
    assert_ne!(hash("{}\n").await, hash("{}\n\n").await);
}

#[tokio::test]
async fn malformed_keys_are_refused() {
    let app = TestApp::start().await;
    let longest = "k".repeat(255);
    for key in ["k", " ~", &longest] {
        let request = app
            .admin("POST", "/categories")
            .json(&json!({"title": "x"}));
        let exchange = app.exchange(request.header("idempotency-key", key)).await;
        // HTTP trims blanks at the ends.
        assert_eq!(metadata(&exchange)[0].as_deref(), Some(key.trim()), "{key}");
    }
    for path in ["/orders", "/products/import", &format!("/users/{ID}/block")] {
        for key in [
            &b""[..],
            "k".repeat(256).as_bytes(),
            b"a\tb",
            "é".as_bytes(),
            b"\xff",
        ] {
            let request = app
                .admin("POST", path)
                .header("content-type", "application/json");
            let request = request.header("idempotency-key", key).body("{}");
            problem(request, 400, "invalid_idempotency_key").await;
        }
    }
    // Other methods ignore the header.
    let request = app.admin("GET", "/orders").header("idempotency-key", "");
    assert_eq!(app.exchange(request).await.status, 200);
}

#[tokio::test]
async fn replays_are_marked_whatever_the_response() {
    let app = TestApp::start().await;
    for (rpc, path, body, status) in [
        (
            "CategoryService/CreateCategory",
            "/categories",
            json!({"title": "x"}),
            201,
        ),
        (
            "OrderService/PayOrder",
            &*format!("/orders/{ID}/pay"),
            json!({}),
            200,
        ),
        (
            "OrderService/CreateOrder",
            "/orders",
            json!({"userId": ID, "lines": [{"productId": ID}]}),
            201,
        ),
        (
            "UserService/BlockUser",
            &*format!("/users/{ID}/block"),
            json!({}),
            204,
        ),
        (
            "ProductService/ImportProducts",
            "/products/import?mode=partial",
            json!([]),
            200,
        ),
    ] {
        let status = reqwest::StatusCode::from_u16(status).unwrap();
        let first = assert_status(app.admin("POST", path).json(&body), status).await;
        assert!(
            !first.headers().contains_key("idempotency-replayed"),
            "{path}"
        );
        app.services.replay(rpc);
        let again = assert_status(app.admin("POST", path).json(&body), status).await;
        assert_eq!(again.headers()["idempotency-replayed"], "true", "{path}");
        assert_eq!(
            again.headers().get("location"),
            first.headers().get("location")
        );
    }
}
