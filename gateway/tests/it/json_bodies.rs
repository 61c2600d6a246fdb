//! JSON bodies: content types, syntax, depth, duplicate keys, NUL, numbers.

use reqwest::RequestBuilder;
use serde_json::json;

use crate::{
    harness::{ID, TestApp, problem},
    operations,
};

const CONTENT_TYPE: &str = "content-type";

fn post(app: &TestApp, body: impl Into<reqwest::Body>) -> RequestBuilder {
    let request = app.admin("POST", "/categories");
    request.header(CONTENT_TYPE, "application/json").body(body)
}

/// `{"title":"x","customData":{"a":[[…]]}}` with this many levels in all.
fn nested(depth: usize) -> String {
    let (open, close) = ("[".repeat(depth - 2), "]".repeat(depth - 2));
    format!(r#"{{"title":"x","customData":{{"a":{open}{close}}}}}"#)
}

#[tokio::test]
async fn json_in_utf8_is_accepted() {
    let app = TestApp::start().await;
    for content_type in [
        "application/json",
        "Application/JSON",
        "application/json;charset=utf-8",
        "application/json; charset=\"UTF-8\"",
        "application/json; version=2",
    ] {
        let request = app
            .admin("POST", "/categories")
            .header(CONTENT_TYPE, content_type);
        let request = request.header("content-encoding", "identity");
        let exchange = app.exchange(request.body(r#"{"title":"é"}"#)).await;
        assert_eq!(exchange.status, 201, "{content_type}");
        assert_eq!(exchange.call().message, json!({"title": "é"}));
    }
}

#[tokio::test]
async fn other_media_types_are_refused() {
    let app = TestApp::start().await;
    for content_type in [
        "",
        "text/plain",
        "application/jsonx",
        "application/vnd.api+json",
        "application/x-ndjson",
        "application/json; charset=utf-16",
        "application/json; charset=\"latin1\"",
        "application/x-www-form-urlencoded",
    ] {
        let request = app
            .admin("POST", "/categories")
            .header(CONTENT_TYPE, content_type);
        problem(request.body("{}"), 415, "unsupported_media_type").await;
    }
    for encoding in ["gzip", "br", "deflate", "gzip, identity"] {
        let request = post(&app, "{}").header("content-encoding", encoding);
        problem(request, 415, "unsupported_media_type").await;
    }
    let request = app.admin("POST", "/categories").body("{}");
    problem(request, 415, "unsupported_media_type").await;
}

#[tokio::test]
async fn texts_arrive_unescaped_and_objects_as_written() {
    let app = TestApp::start().await;
    for (body, title, custom_data) in [
        (
            r#" {"title" : "a\u00e9\n\\u0000\"" } "#,
            "aé\n\\u0000\"",
            None,
        ),
        (r#"{"title":"\ud83d\ude00"}"#, "😀", None),
        (
            r#"{"title":"x","customData":{ "n" : 1.50, "big":1e400,"long":12345678901234567890.123 }}"#,
            "x",
            Some(r#"{ "n" : 1.50, "big":1e400,"long":12345678901234567890.123 }"#),
        ),
        (
            r#"{"title":"x","customData":{"pair":"\ud83d\ude00","a\u0062":"\\u0000\\ud83d"}}"#,
            "x",
            Some(r#"{"pair":"\ud83d\ude00","a\u0062":"\\u0000\\ud83d"}"#),
        ),
        (
            r#"{"title":"x","customData":{"a":{"k":1},"b":{"k":1},"title":2}}"#,
            "x",
            Some(r#"{"a":{"k":1},"b":{"k":1},"title":2}"#),
        ),
        (r#"{"title":"x","customData":null}"#, "x", None),
    ] {
        let exchange = app.exchange(post(&app, body)).await;
        assert_eq!(exchange.status, 201, "{body}: {}", exchange.body);
        let message = &exchange.call().message;
        assert_eq!(message["title"], title, "{body}");
        assert_eq!(message["custom_data"].as_str(), custom_data, "{body}");
    }
}

#[tokio::test]
async fn text_that_is_not_json_is_malformed() {
    let app = TestApp::start().await;
    for body in [
        "",
        " ",
        "x",
        "{",
        "}",
        "{}x",
        "{}{}",
        "{,}",
        r#"{"title"}"#,
        r#"{"title":}"#,
        r#"{"title":"x",}"#,
        r#"{'title':"x"}"#,
        r#"{title:"x"}"#,
        r#"{"title":NaN}"#,
        r#"{"title":01}"#,
        r#"{"title":+1}"#,
        r#"{"title":.5}"#,
        r#"{"title":1.}"#,
        r#"{"title":0x1}"#,
        r#"{"title":tru}"#,
        r#"{"title":"\x"}"#,
        r#"{"title":"\u12"}"#,
        "{\"title\":\"a\nb\"}",
        "{\"title\":\"a\0b\"}",
        "{\"title\":\"x}",
        "\u{feff}{}",
        "[1,2",
        "// x\n{}",
    ] {
        problem(post(&app, body), 400, "malformed_json").await;
    }
    problem(
        post(&app, &b"{\"title\":\"\xff\"}"[..]),
        400,
        "malformed_json",
    )
    .await;
    assert!(
        app.services.take_calls().is_empty(),
        "no service was called"
    );
}

#[tokio::test]
async fn a_body_that_is_not_an_object_is_refused() {
    let app = TestApp::start().await;
    for body in [
        "[]",
        "null",
        "5",
        "true",
        r#""title""#,
        r#"[{"title":"x"}]"#,
    ] {
        let document = problem(post(&app, body), 422, "validation_failed").await;
        let expected =
            json!([{"field": "", "code": "type", "message": "the body must be a JSON object"}]);
        assert_eq!(document["errors"], expected, "{body}");
    }
}

#[tokio::test]
async fn duplicate_keys_and_nul_are_refused_anywhere() {
    let app = TestApp::start().await;
    for (body, field, code) in [
        (r#"{"title":"x","title":"x"}"#, "title", "duplicate"),
        (r#"{"title":"x","\u0074itle":"y"}"#, "title", "duplicate"),
        (r#"{"x":1,"title":"x","x":2}"#, "x", "duplicate"),
        (
            r#"{"title":"x","customData":{"a":1,"a":1}}"#,
            "customData.a",
            "duplicate",
        ),
        (
            r#"{"title":"x","customData":{"a":[{"b":{"c":1,"c":2}}]}}"#,
            "customData.a.b.c",
            "duplicate",
        ),
        (
            r#"{"title":"x","customData":{"":1,"":2}}"#,
            "customData",
            "duplicate",
        ),
        (r#"{"title":"a\u0000b"}"#, "title", "format"),
        (r#"{"title":"\\\u0000"}"#, "title", "format"),
        (
            r#"{"title":"x","customData":{"a":["\u0000"]}}"#,
            "customData.a",
            "format",
        ),
        (
            r#"{"title":"x","customData":{"\u0000":1}}"#,
            "customData",
            "format",
        ),
        // The path stops at the key before: a key with NUL is not repeated.
        (r#"{"title":"x","a\u0000":1}"#, "title", "format"),
        // These come before anything that the fields are refused for.
        (
            r#"{"title":5,"x":1,"customData":{"a":1,"a":2}}"#,
            "customData.a",
            "duplicate",
        ),
    ] {
        let document = problem(post(&app, body), 422, "validation_failed").await;
        assert_eq!(document["errors"][0]["field"], field, "{body}");
        assert_eq!(document["errors"][0]["code"], code, "{body}");
        assert_eq!(document["errors"].as_array().map(Vec::len), Some(1));
    }
}

#[tokio::test]
async fn half_surrogates_are_refused_anywhere() {
    let app = TestApp::start().await;
    for (body, field) in [
        (r#"{"title":"\ud800"}"#, "title"),
        (r#"{"title":"\udc00x"}"#, "title"),
        (r#"{"title":"\ude00\ud83d"}"#, "title"),
        // The path stops at the key before.
        (r#"{"title":"x","\ud800":1}"#, "title"),
        (r#"{"customData":{"a":["\ud83d"]}}"#, "customData.a"),
        (r#"{"customData":{"\ud83d":1}}"#, "customData"),
    ] {
        let document = problem(post(&app, body), 422, "validation_failed").await;
        let message = "must hold whole characters, not half a surrogate pair";
        let expected = json!([{"field": field, "code": "format", "message": message}]);
        assert_eq!(document["errors"], expected, "{body}");
    }
}

#[tokio::test]
async fn numbers_that_fit_nowhere_are_of_a_wrong_type() {
    let app = TestApp::start().await;
    let asset = r#"{"code":"g","name":"g","decimalPlaces":1e400}"#;
    let product = format!(r#"{{"categoryId":"{ID}","price":1e400}}"#);
    for (path, body, field) in [
        ("/assets", asset, "decimalPlaces"),
        ("/products", product.as_str(), "price"),
    ] {
        let exchange = app.post_raw(path, body.to_owned()).await;
        let document = exchange.problem(422, "validation_failed");
        let expected = json!([{"field": field, "code": "type", "message": "number out of range"}]);
        assert_eq!(document["errors"], expected, "{body}");
    }
}

#[tokio::test]
async fn a_body_may_have_32_levels() {
    let app = TestApp::start().await;
    let exchange = app.exchange(post(&app, nested(32))).await;
    assert_eq!(exchange.status, 201, "{}", exchange.body);
    let many = "{\"title\":\"x\",\"customData\":{\"a\":[[],[[]],{},[{}]]}}";
    assert_eq!(app.exchange(post(&app, many)).await.status, 201);
    for depth in [33, 34, 1_000, 200_000] {
        let document = problem(post(&app, nested(depth)), 422, "validation_failed").await;
        let expected = json!([{"field": "customData.a", "code": "range",
            "message": "nested deeper than 32 levels"}]);
        assert_eq!(document["errors"], expected, "{depth}");
    }
    // Brackets in texts are no levels.
    let text = format!(
        r#"{{"title":"x","customData":{{"a":"{}"}}}}"#,
        "[{".repeat(100)
    );
    assert_eq!(app.exchange(post(&app, text)).await.status, 201);
}

#[tokio::test]
async fn custom_data_may_have_16_kibibytes() {
    let app = TestApp::start().await;
    let body = |bytes: usize| {
        let text = "x".repeat(bytes - r#"{"a":""}"#.len());
        format!(r#"{{"title":"x","customData":{{"a":"{text}"}}}}"#)
    };
    assert_eq!(app.exchange(post(&app, body(16 * 1024))).await.status, 201);
    let document = problem(post(&app, body(16 * 1024 + 1)), 422, "validation_failed").await;
    let expected =
        json!([{"field": "customData", "code": "length", "message": "at most 16384 bytes"}]);
    assert_eq!(document["errors"], expected);
}

#[tokio::test]
async fn actions_without_fields_take_no_body_an_empty_one_or_an_object() {
    let app = TestApp::start().await;
    let path = format!("/transactions/{ID}/approve");
    let approve = || app.admin("POST", &path);
    let json = || approve().header(CONTENT_TYPE, "application/json");
    for request in [
        approve(),
        json(),
        json().body(""),
        json().body("{}"),
        json().body(" { } "),
        approve().body("{}"),
        approve().body("\n{ }\n"),
    ] {
        assert_eq!(app.exchange(request).await.status, 200);
    }
    let text = approve().header(CONTENT_TYPE, "text/plain");
    assert_eq!(app.exchange(text.body("")).await.status, 200);
    let field = problem(json().body(r#"{"x":1}"#), 422, "validation_failed").await;
    assert_eq!(field["errors"][0]["code"], "unknown_field");
    let other = || approve().header(CONTENT_TYPE, "text/plain");
    problem(other().body("{}"), 415, "unsupported_media_type").await;
    problem(approve().body(r#"{"x":1}"#), 415, "unsupported_media_type").await;
    problem(json().body(" "), 400, "malformed_json").await;
    problem(json().body("null"), 422, "validation_failed").await;
}

#[tokio::test]
async fn a_body_whose_fields_are_all_optional_may_be_left_out() {
    let app = TestApp::start().await;
    let all = operations::all();
    let optional = all
        .iter()
        .filter(|operation| operation.method == "POST" && !operation.needs_body);
    let mut paths = Vec::new();
    for operation in optional {
        paths.push(operation.path.as_str());
        let post = || app.admin("POST", &operation.url());
        let json = || post().header(CONTENT_TYPE, "application/json");
        for request in [
            post(),
            json().body(""),
            post().body("{}"),
            json().body("{}"),
        ] {
            let exchange = app.exchange(request).await;
            assert_eq!(
                exchange.status, operation.success,
                "{}: {}",
                operation.path, exchange.body
            );
        }
    }
    for path in [
        "/wallets",
        "/orders/{id}/pay",
        "/users/{id}/block",
        "/products/{id}/reorder",
    ] {
        assert!(paths.contains(&path), "{path}: {paths:?}");
    }
}

#[tokio::test]
async fn a_body_with_required_fields_is_needed() {
    let app = TestApp::start().await;
    let all = operations::all();
    let required = all.iter().filter(|operation| operation.needs_body);
    for operation in required {
        let request = || app.admin(&operation.method, &operation.url());
        let empty = request().header(CONTENT_TYPE, operation.media_type);
        let exchange = app.exchange(empty).await;
        if operation.is_bulk() {
            // No lines are no products.
            assert_eq!(exchange.status, operation.success, "{}", operation.path);
        } else {
            exchange.problem(400, "malformed_json");
        }
    }
}
