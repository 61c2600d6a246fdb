//! Sizes of bodies, URLs and headers.

use std::io::Write as _;

use axum::body::Bytes;
use flate2::{Compression, write::GzEncoder};
use http_body_util::{BodyExt as _, Full};
use reqwest::RequestBuilder;

use crate::{
    harness::{ID, TestApp, problem},
    operations,
};

const MIB: usize = 1024 * 1024;

/// A body of exactly this many bytes.
fn category(bytes: usize) -> String {
    let body = r#"{"title":"x"}"#;
    format!("{body}{}", " ".repeat(bytes - body.len()))
}

#[tokio::test]
async fn a_body_may_have_one_mebibyte() {
    let app = TestApp::start().await;
    let exchange = app.post_raw("/categories", category(MIB)).await;
    assert_eq!(exchange.status, 201);
    let exchange = app.post_raw("/categories", category(MIB + 1)).await;
    exchange.problem(413, "payload_too_large");
    assert!(exchange.calls.is_empty());
}

#[tokio::test]
async fn a_body_of_unknown_length_is_read_up_to_the_limit() {
    let app = TestApp::start().await;
    // Mapped, it announces no length.
    let chunked = |bytes: usize| {
        let body = Full::new(Bytes::from(category(bytes)));
        reqwest::Body::wrap(body.map_frame(|frame| frame))
    };
    assert_eq!(app.post_raw("/categories", chunked(MIB)).await.status, 201);
    let exchange = app.post_raw("/categories", chunked(MIB + 1)).await;
    exchange.problem(413, "payload_too_large");
}

#[tokio::test]
async fn the_limit_holds_with_an_idempotency_key_too() {
    let app = TestApp::start().await;
    let request = app
        .admin("POST", "/categories")
        .header("content-type", "application/json");
    let request = request
        .header("idempotency-key", "k")
        .body(category(MIB + 1));
    problem(request, 413, "payload_too_large").await;
}

#[tokio::test]
async fn a_url_may_have_32_kibibytes() {
    let app = TestApp::start().await;
    let url = |bytes: usize| format!("/products?x={}", "y".repeat(bytes - "/products?x=".len()));
    assert_eq!(app.get(&url(32 * 1024)).await.status, 200);
    problem(app.admin("GET", &url(32 * 1024 + 1)), 414, "uri_too_long").await;
}

#[tokio::test]
async fn headers_may_have_32_kibibytes() {
    let app = TestApp::start().await;
    let path = format!("/products/{ID}");
    let request = |bytes: usize| app.admin("GET", &path).header("x-large", "y".repeat(bytes));
    assert_eq!(app.exchange(request(31 * 1024)).await.status, 200);
    problem(request(32 * 1024), 431, "headers_too_large").await;
}

/// 1 MiB of blanks, which gzip makes a kilobyte of.
fn bomb() -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&vec![b' '; MIB]).expect("memory");
    encoder.finish().expect("memory")
}

#[tokio::test]
async fn compressed_bodies_are_refused_by_every_route_after_credentials() {
    let app = TestApp::start().await;
    let bomb = bomb();
    assert!(bomb.len() < 2_000);
    let compressed = |request: RequestBuilder, coding: &str| {
        let request = request.header("content-encoding", coding);
        request.body(bomb.clone())
    };
    for operation in operations::all() {
        let (method, url) = (&*operation.method, operation.url());
        if !matches!(method, "POST" | "PATCH") || operation.takes_no_body() {
            continue;
        }
        for coding in ["gzip", "br", "zstd", "deflate"] {
            let request = app.admin(method, &url);
            let request = request.header("content-type", operation.media_type);
            let exchange = app.exchange(compressed(request, coding)).await;
            exchange.problem(415, "unsupported_media_type");
            assert!(exchange.calls.is_empty(), "{operation:?}");
        }
        if !operation.is_public() {
            let request = compressed(app.anonymous(method, &url), "gzip");
            problem(request, 401, "unauthenticated").await;
        }
    }
    let request = compressed(app.anonymous("POST", "/nope"), "gzip");
    problem(request, 404, "route_not_found").await;
}
