//! Methods, media types, limits and malformed requests.

use crate::support::{ID, problem, start};

const JSON: (&str, &str) = ("content-type", "application/json");

#[tokio::test]
async fn unknown_paths_are_problems() {
    let gateway = start(&[]).await;
    for path in ["/nope", "//products", "/Products", "/products;x=1"] {
        problem(
            gateway.admin("GET", path).send().await.unwrap(),
            404,
            "route_not_found",
        )
        .await;
    }
}

#[tokio::test]
async fn ids_that_are_none_name_nothing() {
    let gateway = start(&[]).await;
    let braced = format!("{{{ID}}}");
    for id in ["abc", "123", &ID.replace('-', ""), &braced, "%00"] {
        let answer = gateway
            .admin("GET", &format!("/products/{id}"))
            .send()
            .await
            .unwrap();
        problem(answer, 404, "product_not_found").await;
    }
    let line = gateway
        .admin("GET", &format!("/orders/{ID}/lines/x"))
        .send()
        .await
        .unwrap();
    problem(line, 404, "order_line_not_found").await;
}

#[tokio::test]
async fn methods() {
    let gateway = start(&[]).await;
    let answer = gateway.admin("PUT", "/products").send().await.unwrap();
    assert_eq!(answer.headers()["allow"], "GET,HEAD,POST");
    problem(answer, 405, "method_not_allowed").await;
    let options = gateway
        .anonymous("OPTIONS", "/products")
        .send()
        .await
        .unwrap();
    assert_eq!(options.status(), 204);
    assert_eq!(options.headers()["allow"], "GET,HEAD,POST");
    let head = gateway.admin("HEAD", "/orders/").send().await.unwrap();
    assert_eq!(head.status(), 503);
}

#[tokio::test]
async fn bodies_must_be_plain_json() {
    let gateway = start(&[]).await;
    let post = || gateway.admin("POST", "/categories");
    problem(post().send().await.unwrap(), 400, "malformed_json").await;
    problem(
        post().body("{}").send().await.unwrap(),
        415,
        "unsupported_media_type",
    )
    .await;
    for content_type in ["text/plain", "application/json; charset=utf-16"] {
        let request = post().header("content-type", content_type).body("{}");
        problem(request.send().await.unwrap(), 415, "unsupported_media_type").await;
    }
    let request = post()
        .header(JSON.0, JSON.1)
        .header("content-encoding", "gzip")
        .body("{}");
    problem(request.send().await.unwrap(), 415, "unsupported_media_type").await;
    for body in ["{", "{}x", "{\"title\":NaN}"] {
        let request = post().header(JSON.0, JSON.1).body(body);
        problem(request.send().await.unwrap(), 400, "malformed_json").await;
    }
    for body in ["[]", "null", "5"] {
        let request = post().header(JSON.0, JSON.1).body(body);
        problem(request.send().await.unwrap(), 422, "validation_failed").await;
    }
}

#[tokio::test]
async fn refusals_name_the_field() {
    let gateway = start(&[]).await;
    let post = |body: &str| {
        let body = body.to_owned();
        gateway
            .admin("POST", "/categories")
            .header(JSON.0, JSON.1)
            .body(body)
            .send()
    };
    let huge = format!(
        r#"{{"title":"x","customData":{{"a":"{}"}}}}"#,
        "x".repeat(17_000)
    );
    for (body, field, code) in [
        ("{}", "title", "required"),
        (r#"{"title":1}"#, "title", "type"),
        (r#"{"title":"x","titel":"x"}"#, "titel", "unknown_field"),
        (r#"{"title":"x","title":"y"}"#, "title", "duplicate"),
        (r#"{"title":"\u0000"}"#, "title", "format"),
        (r#"{"title":"x","customData":[]}"#, "customData", "type"),
        (huge.as_str(), "customData", "length"),
    ] {
        let document = problem(post(body).await.unwrap(), 422, "validation_failed").await;
        assert_eq!(document["errors"][0]["field"], field, "{body}");
        assert_eq!(document["errors"][0]["code"], code, "{body}");
    }
}

#[tokio::test]
async fn null_clears_only_what_may_be_empty() {
    let gateway = start(&[]).await;
    let patch = |body: &'static str| {
        let path = format!("/products/{ID}");
        gateway
            .admin("PATCH", &path)
            .header(JSON.0, JSON.1)
            .body(body)
            .send()
    };
    let document = problem(
        patch(r#"{"name":null}"#).await.unwrap(),
        422,
        "validation_failed",
    )
    .await;
    assert_eq!(document["errors"][0]["field"], "name");
    problem(
        patch(r#"{"description":null}"#).await.unwrap(),
        503,
        "unavailable",
    )
    .await;
}

#[tokio::test]
async fn actions_without_fields_take_no_body_an_empty_one_or_an_object() {
    let gateway = start(&[]).await;
    let post = || gateway.admin("POST", &format!("/transactions/{ID}/approve"));
    problem(post().send().await.unwrap(), 503, "unavailable").await;
    let empty = post().header(JSON.0, JSON.1).body("");
    problem(empty.send().await.unwrap(), 503, "unavailable").await;
    let object = post().header(JSON.0, JSON.1).body("{}");
    problem(object.send().await.unwrap(), 503, "unavailable").await;
    let field = post().header(JSON.0, JSON.1).body(r#"{"x":1}"#);
    problem(field.send().await.unwrap(), 422, "validation_failed").await;
}

#[tokio::test]
async fn limits() {
    let gateway = start(&[]).await;
    let post = || gateway.admin("POST", "/categories").header(JSON.0, JSON.1);
    let large = post().body(format!("{{\"title\":\"{}\"}}", "x".repeat(1024 * 1024)));
    problem(large.send().await.unwrap(), 413, "payload_too_large").await;
    let deep = format!(
        "{{\"customData\":{}1{}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    problem(
        post().body(deep).send().await.unwrap(),
        422,
        "validation_failed",
    )
    .await;
    let url = format!("/products?x={}", "y".repeat(33 * 1024));
    problem(
        gateway.admin("GET", &url).send().await.unwrap(),
        414,
        "uri_too_long",
    )
    .await;
    let headers = gateway
        .admin("GET", "/products")
        .header("x-large", "y".repeat(33 * 1024));
    problem(headers.send().await.unwrap(), 431, "headers_too_large").await;
}

#[tokio::test]
async fn queries_and_idempotency_keys_must_parse() {
    let gateway = start(&[]).await;
    let list = gateway
        .admin("GET", "/products?page[size]=5&page[size]=6")
        .send()
        .await
        .unwrap();
    problem(list, 400, "invalid_query").await;
    for key in ["", &"k".repeat(256)] {
        let request = gateway
            .admin("POST", "/orders")
            .header("idempotency-key", key);
        problem(
            request.send().await.unwrap(),
            400,
            "invalid_idempotency_key",
        )
        .await;
    }
}

#[tokio::test]
async fn request_ids_are_kept_or_made() {
    let gateway = start(&[]).await;
    let given = gateway
        .anonymous("GET", "/livez")
        .header("x-request-id", "abc");
    assert_eq!(given.send().await.unwrap().headers()["x-request-id"], "abc");
    let made = gateway.anonymous("GET", "/livez").send().await.unwrap();
    assert_eq!(made.headers()["x-request-id"].len(), 36);
}
