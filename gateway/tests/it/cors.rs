//! Requests of web pages of other origins.

use clap::Parser as _;
use gateway::{Config, Gateway};
use platform::service::{Application as _, Runtime};
use reqwest::Response;

use crate::{
    harness::{ID, TestApp},
    operations,
};

const SHOP: &str = "https://shop.example";
const FLAG: &str = "--cors-origins=https://shop.example,http://localhost:3000";

async fn send(app: &TestApp, method: &str, path: &str, origin: &str) -> Response {
    let request = app.admin(method, path).header("origin", origin);
    request.send().await.expect("a response")
}

async fn preflight(app: &TestApp, path: &str, method: &str, origin: &str) -> Response {
    let request = app
        .anonymous("OPTIONS", path)
        .header("origin", origin)
        .header("access-control-request-method", method)
        .header(
            "access-control-request-headers",
            "authorization,content-type",
        );
    request.send().await.expect("a response")
}

fn header<'a>(response: &'a Response, name: &str) -> Option<&'a str> {
    let value = response.headers().get(name)?;
    Some(value.to_str().expect("ASCII"))
}

fn allowed_origin(response: &Response) -> Option<&str> {
    header(response, "access-control-allow-origin")
}

fn vary(response: &Response) -> Vec<&str> {
    let values = response.headers().get_all("vary").iter();
    values.map(|value| value.to_str().expect("ASCII")).collect()
}

#[tokio::test]
async fn without_origins_nothing_is_said() {
    let app = TestApp::start().await;
    for response in [
        send(&app, "GET", "/products", SHOP).await,
        preflight(&app, "/products", "POST", SHOP).await,
    ] {
        let mut names = response
            .headers()
            .keys()
            .map(axum::http::HeaderName::as_str);
        assert!(
            !names.any(|name| name.starts_with("access-control")),
            "{response:?}"
        );
        assert!(!vary(&response).contains(&"origin"));
    }
}

#[tokio::test]
async fn a_preflight_lists_the_methods_of_every_path() {
    let app = TestApp::start_with(&[FLAG]).await;
    for operation in operations::all() {
        let path = operation.url();
        let response = preflight(&app, &path, &operation.method, SHOP).await;
        assert_eq!(response.status(), 204, "{path}");
        assert_eq!(allowed_origin(&response), Some(SHOP));
        let methods = header(&response, "access-control-allow-methods").expect("methods");
        assert_eq!(header(&response, "allow"), Some(methods), "{path}");
        let mut methods = methods.split(',');
        assert!(methods.any(|method| method == operation.method), "{path}");
        assert_eq!(header(&response, "access-control-max-age"), Some("7200"));
        assert_eq!(vary(&response), ["origin"]);
        assert_eq!(header(&response, "access-control-allow-credentials"), None);
    }
    let response = preflight(&app, "/products", "POST", SHOP).await;
    let headers = header(&response, "access-control-allow-headers").expect("headers");
    for name in [
        "apikey",
        "authorization",
        "content-type",
        "idempotency-key",
        "if-match",
    ] {
        assert!(headers.split(", ").any(|known| known == name), "{name}");
    }
}

#[tokio::test]
async fn pages_read_responses_and_errors_with_the_headers_that_they_need() {
    let app = TestApp::start_with(&[FLAG]).await;
    let product = format!("/products/{ID}");
    for (method, path, status) in [
        ("GET", &*product, 200),
        ("POST", "/wallets", 201),
        ("DELETE", &product, 204),
        ("GET", "/nope", 404),
        ("PUT", &product, 405),
        ("INVENTED", &product, 405),
        ("GET", "/products?page[size]=x", 400),
        ("GET", "/openapi.json", 200),
    ] {
        for origin in [SHOP, "http://localhost:3000"] {
            let response = send(&app, method, path, origin).await;
            assert_eq!(response.status(), status, "{method} {path}");
            assert_eq!(allowed_origin(&response), Some(origin), "{method} {path}");
            assert!(vary(&response).contains(&"origin"), "{method} {path}");
            let exposed = header(&response, "access-control-expose-headers").expect("a list");
            for name in [
                "etag",
                "location",
                "ratelimit",
                "retry-after",
                "x-request-id",
            ] {
                assert!(exposed.split(", ").any(|known| known == name), "{name}");
            }
        }
    }
    let anonymous = app.anonymous("GET", &product).header("origin", SHOP);
    let response = anonymous.send().await.expect("a response");
    assert_eq!(
        (response.status().as_u16(), allowed_origin(&response)),
        (401, Some(SHOP))
    );
}

#[tokio::test]
async fn other_origins_get_the_response_without_a_permission() {
    let app = TestApp::start_with(&[FLAG]).await;
    for origin in [
        "https://evil.example",
        "null",
        "http://shop.example",
        "https://shop.example:8443",
        "https://shop.example.evil.example",
        "https://SHOP.example",
    ] {
        for response in [
            send(&app, "GET", "/products", origin).await,
            preflight(&app, "/products", "POST", origin).await,
        ] {
            assert!(response.status().is_success());
            let mut names = response
                .headers()
                .keys()
                .map(axum::http::HeaderName::as_str);
            assert!(
                !names.any(|name| name.starts_with("access-control")),
                "{origin}"
            );
            assert!(vary(&response).contains(&"origin"), "{origin}");
        }
    }
    // Without an origin, too: a cache must not give the response to a page.
    let response = app
        .admin("GET", "/products")
        .send()
        .await
        .expect("a response");
    assert!(vary(&response).contains(&"origin"));
}

#[tokio::test]
async fn all_origins_may_be_allowed_and_never_with_credentials() {
    let app = TestApp::start_with(&["--cors-origins=*"]).await;
    for response in [
        send(&app, "GET", "/products", "https://any.example").await,
        preflight(&app, "/products", "POST", "null").await,
    ] {
        assert_eq!(allowed_origin(&response), Some("*"));
        assert_eq!(header(&response, "access-control-allow-credentials"), None);
        assert!(!vary(&response).contains(&"origin"));
    }
}

#[tokio::test]
async fn a_preflight_of_what_does_not_exist_allows_nothing() {
    let app = TestApp::start_with(&[FLAG]).await;
    let response = preflight(&app, "/nope", "GET", SHOP).await;
    assert_eq!(response.status(), 404);
    assert_eq!(header(&response, "access-control-allow-methods"), None);
    // OPTIONS without a method to ask for is no preflight.
    let response = send(&app, "OPTIONS", "/products", SHOP).await;
    assert_eq!(response.status(), 204);
    assert_eq!(header(&response, "access-control-allow-methods"), None);
}

#[derive(clap::Parser)]
struct Args {
    #[command(flatten)]
    config: Config,
}

#[tokio::test]
async fn a_gateway_does_not_start_with_what_is_no_origin_or_without_credentials() {
    let services = ["catalog", "orders", "wallet", "identity"];
    let services = services.map(|name| format!("--{name}-grpc-url=http://127.0.0.1:9"));
    for (flags, reason) in [
        ("--cors-origins=shop.example", "is no origin"),
        ("--cors-origins=*,https://shop.example", "is no origin"),
        (
            "--cors-origins=https://shop.example --auth=open",
            "AUTH=open",
        ),
        ("--cors-origins=* --auth=open", "AUTH=open"),
    ] {
        let mut args = vec!["gateway", "--listen=127.0.0.1:0"];
        args.push("--service-secret=k3J9x0PqLr7sTz2Vb5Yw8Nc1Md4Fg6Ha");
        args.extend(services.iter().map(String::as_str));
        args.extend(flags.split(' '));
        let config = Args::parse_from(args).config;
        let refusal = Gateway::build(config, Runtime::system()).await;
        let refusal = refusal.expect_err("it does not start").to_string();
        assert!(refusal.contains(reason), "{refusal}");
    }
}
