//! Compression of responses.

use platform::error::{Code, Failure};
use proto::catalog::v1::{GetProductResponse, Product};
use reqwest::Response;
use serde_json::Value;

use crate::{
    harness::{ID, TestApp, problem},
    operations,
};

/// Sets a product whose JSON has about this many bytes.
fn product_of(app: &TestApp, bytes: usize) -> String {
    let product = Product {
        description: Some("words ".repeat(bytes / 6)),
        custom_data: "{}".to_owned(),
        metadata: "{}".to_owned(),
        ..Product::default()
    };
    let product = Some(product);
    app.services
        .reply("ProductService/GetProduct", &GetProductResponse { product });
    format!("/products/{ID}")
}

async fn get(app: &TestApp, method: &str, path: &str, accept: &str) -> Response {
    let request = app.admin(method, path).header("accept-encoding", accept);
    request.send().await.expect("a response")
}

fn header<'a>(response: &'a Response, name: &str) -> Option<&'a str> {
    let value = response.headers().get(name)?;
    Some(value.to_str().expect("ASCII"))
}

fn inflate(bytes: &[u8]) -> Value {
    serde_json::from_reader(flate2::read::GzDecoder::new(bytes)).expect("compressed JSON")
}

#[tokio::test]
async fn a_large_body_is_compressed_for_those_who_ask() {
    let app = TestApp::start().await;
    let path = product_of(&app, 20_000);
    for accept in ["gzip", "gzip, deflate, br, zstd", "*", "br, gzip;q=0.2"] {
        let response = get(&app, "GET", &path, accept).await;
        assert_eq!(
            header(&response, "content-encoding"),
            Some("gzip"),
            "{accept}"
        );
        assert_eq!(header(&response, "vary"), Some("accept-encoding"));
        assert_eq!(header(&response, "content-type"), Some("application/json"));
        let body = response.bytes().await.expect("a body");
        assert!(body.len() < 2_000, "{} bytes", body.len());
        let text = inflate(&body)["data"]["description"].to_string();
        assert!(text.len() > 19_000);
    }
    for accept in [
        "",
        "br",
        "identity",
        "gzip;q=0",
        "gzip;q=0.1, identity",
        "nonsense nonsense",
    ] {
        let response = get(&app, "GET", &path, accept).await;
        assert_eq!(header(&response, "content-encoding"), None, "{accept}");
        assert_eq!(header(&response, "vary"), Some("accept-encoding"));
        let body: Value = response.json().await.expect("JSON");
        assert!(body["data"].is_object());
    }
}

#[tokio::test]
async fn a_small_body_stays_as_it_is() {
    let app = TestApp::start().await;
    let path = product_of(&app, 100);
    let response = get(&app, "GET", &path, "gzip").await;
    assert_eq!(header(&response, "content-encoding"), None);
    assert_eq!(header(&response, "vary"), Some("accept-encoding"));
    assert!(header(&response, "content-length").is_some());
}

#[tokio::test]
async fn a_client_that_takes_no_form_is_refused_before_anything_is_done() {
    let app = TestApp::start().await;
    for accept in ["*;q=0", "identity;q=0", "identity;q=0, br"] {
        let request = app
            .admin("POST", "/wallets")
            .header("accept-encoding", accept);
        let exchange = app.exchange(request).await;
        exchange.problem(406, "not_acceptable");
        assert!(exchange.calls.is_empty());
    }
}

#[tokio::test]
async fn head_has_the_headers_of_get() {
    let app = TestApp::start().await;
    for (bytes, accept) in [(20_000, "gzip"), (20_000, "identity"), (100, "gzip")] {
        let path = product_of(&app, bytes);
        let head = get(&app, "HEAD", &path, accept).await;
        let full = get(&app, "GET", &path, accept).await;
        for name in [
            "content-encoding",
            "vary",
            "etag",
            "content-type",
            "content-length",
        ] {
            assert_eq!(
                header(&head, name),
                header(&full, name),
                "{name} {bytes} {accept}"
            );
        }
        assert_eq!(head.bytes().await.expect("a body"), "");
    }
}

#[tokio::test]
async fn the_tag_of_a_compressed_body_is_another_and_both_mean_not_modified() {
    let app = TestApp::start().await;
    let path = product_of(&app, 20_000);
    let plain = get(&app, "GET", &path, "identity").await;
    let compressed = get(&app, "GET", &path, "gzip").await;
    let [plain, compressed] =
        [plain, compressed].map(|it| header(&it, "etag").expect("a tag").to_owned());
    assert_eq!(
        compressed,
        format!("{}-gzip\"", plain.trim_end_matches('"'))
    );
    for tag in [plain, compressed] {
        for accept in ["gzip", "identity"] {
            let request = app.admin("GET", &path).header("accept-encoding", accept);
            let request = request.header("if-none-match", &tag);
            let response = request.send().await.expect("a response");
            assert_eq!(response.status(), 304);
            assert_eq!(
                header(&response, "etag"),
                Some(&*tag),
                "the copy that the client has"
            );
            assert_eq!(header(&response, "vary"), Some("accept-encoding"));
            assert_eq!(header(&response, "content-encoding"), None);
        }
    }
}

#[tokio::test]
async fn responses_with_secrets_are_never_compressed() {
    let app = TestApp::start().await;
    let secret = [
        "/auth/token",
        "/auth/token/refresh",
        "/api-keys",
        "/webhooks",
        "/webhooks/{id}/rotate-secret",
    ];
    let mut seen = 0;
    for operation in operations::all() {
        let is_secret = operation.method == "POST" && secret.contains(&&*operation.path);
        let request = operation.request(&app).header("accept-encoding", "gzip");
        let response = request.send().await.expect("a response");
        let varies = header(&response, "vary").is_some();
        assert_eq!(
            varies,
            !is_secret && operation.success != 204,
            "{operation:?}"
        );
        seen += usize::from(is_secret);
    }
    assert_eq!(seen, secret.len());
    // Nor are they with a long answer.
    let long = proto::identity::v1::LogInResponse {
        tokens: Some(proto::identity::v1::UserTokens {
            access_token: "t".repeat(20_000),
            ..Default::default()
        }),
    };
    app.services.reply("AuthService/LogIn", &long);
    let body = serde_json::json!({"email": "a@b.example", "password": "p"});
    let request = app.anonymous("POST", "/auth/token").json(&body);
    let response = request
        .header("accept-encoding", "gzip")
        .send()
        .await
        .expect("a response");
    assert_eq!(response.status(), 200);
    assert_eq!(header(&response, "content-encoding"), None);
}

#[tokio::test]
async fn an_export_is_compressed_while_it_is_sent() {
    use std::io::Read as _;
    let app = TestApp::start().await;
    let response = get(&app, "GET", "/products/export", "gzip").await;
    assert_eq!(header(&response, "content-encoding"), Some("gzip"));
    assert_eq!(
        header(&response, "content-type"),
        Some("application/x-ndjson")
    );
    let body = response.bytes().await.expect("a body");
    let mut text = String::new();
    let mut lines = flate2::read::GzDecoder::new(&body[..]);
    lines.read_to_string(&mut text).expect("compressed text");
    let line: Value = serde_json::from_str(text.lines().next().expect("a line")).expect("JSON");
    assert!(line["id"].is_string());
}

#[tokio::test]
async fn a_problem_is_readable_whatever_is_asked_for() {
    let app = TestApp::start().await;
    let missing = Failure::new(Code::ProductNotFound, "x".repeat(20_000));
    app.services.fail("ProductService/GetProduct", missing);
    let request = app.admin("GET", &format!("/products/{ID}"));
    let request = request.header("accept-encoding", "gzip");
    problem(request, 404, "product_not_found").await;
}
