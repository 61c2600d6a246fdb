//! Bodies of imports: lines and arrays, their items and sizes.

use serde_json::json;

use crate::{
    bulk::{JSON, NDJSON, import, lines, product},
    harness::TestApp,
};

const MIB: usize = 1024 * 1024;

#[tokio::test]
async fn lines_and_arrays_are_the_same_items() {
    let app = TestApp::start().await;
    let (a, b) = (product("a"), product("b,]}[{\\\"é"));
    let expected = [(0, "a"), (1, "b,]}[{\\\"é")];
    for (content_type, body) in [
        (NDJSON, format!("{a}\n{b}")),
        (NDJSON, format!("{a}\r\n\r\n  \n {b} \n\n")),
        ("application/X-NDJSON; charset=UTF-8", format!("{a}\n{b}\n")),
        (JSON, format!("[{a},{b}]")),
        (JSON, format!(" \n[ {a} ,\n{b}\n] \r\n")),
    ] {
        let exchange = import(&app, "", content_type, body.clone()).await;
        assert_eq!(exchange.status, 200, "{body}: {}", exchange.body);
        assert_eq!(lines(&exchange), expected, "{body}");
    }
    for (content_type, body) in [
        (NDJSON, ""),
        (NDJSON, "\n \r\n"),
        (JSON, "[]"),
        (JSON, " [ ] "),
    ] {
        let exchange = import(&app, "", content_type, body).await;
        assert_eq!(lines(&exchange), [], "{body}");
    }
}

#[tokio::test]
async fn bodies_that_are_neither_are_refused() {
    let app = TestApp::start().await;
    for content_type in ["text/plain", "", "application/x-ndjson; charset=latin1"] {
        let exchange = import(&app, "", content_type, "").await;
        exchange.problem(415, "unsupported_media_type");
    }
    for body in [
        "", "{}", "5", "[", "[{}", "[{},]", "[,{}]", "[{},,{}]", "[{} {}]", "[x]", "[\"]", "[}]",
        "[{}]]", "[{}] {}", "[{}] x", "[1 2]", "[tru]", "[01]", "x[]", "[{}", "[\"a",
    ] {
        let exchange = import(&app, "", JSON, body).await;
        exchange.problem(400, "malformed_json");
        assert!(exchange.calls.is_empty(), "{body}");
    }
    for query in ["?mode=all", "?mode=", "?mode=partial&mode=partial"] {
        let exchange = import(&app, query, JSON, "[]").await;
        let document = exchange.problem(400, "invalid_query");
        assert_eq!(document["errors"][0]["field"], "mode", "{query}");
    }
    assert_eq!(
        import(&app, "?mode=partial&x=1", JSON, "[]").await.status,
        200
    );
}

#[tokio::test]
async fn items_are_checked_like_bodies() {
    let app = TestApp::start().await;
    for (item, field, code) in [
        ("{", "", "format"),
        ("[]", "", "type"),
        (r#"{"price":"1"}"#, "categoryId", "required"),
        (
            r#"{"categoryId":"01920000-0000-7000-8000-000000000001","price":"1","prise":1}"#,
            "prise",
            "unknown_field",
        ),
        (
            r#"{"categoryId":"01920000-0000-7000-8000-000000000001","categoryId":"01920000-0000-7000-8000-000000000001","price":"1"}"#,
            "categoryId",
            "duplicate",
        ),
        (
            r#"{"categoryId":"\u0000","price":"1"}"#,
            "categoryId",
            "format",
        ),
        (
            r#"{"categoryId":"01920000-0000-7000-8000-000000000001","price":1}"#,
            "price",
            "type",
        ),
    ] {
        let exchange = import(&app, "?mode=partial", NDJSON, item).await;
        let errors = exchange.body["data"]["errors"].as_array().expect("errors");
        // The sample of the service has an error of its own.
        let error = errors
            .iter()
            .find(|error| error["line"] == 0)
            .expect("ours");
        assert_eq!(
            (&error["field"], &error["code"]),
            (&json!(field), &json!(code)),
            "{item}"
        );
    }
    // In an array, text that is not UTF-8 is an item's fault too.
    let exchange = import(&app, "?mode=partial", JSON, &b"[{\"name\":\"\xff\"}]"[..]).await;
    assert_eq!(exchange.status, 200);
}

#[tokio::test]
async fn sizes_of_imports_are_bounded() {
    let app = TestApp::start().await;
    let line = |bytes: usize| {
        let shortest = product("").len();
        product(&"x".repeat(bytes - shortest))
    };
    // Two items of a size that no other body may have.
    let two = format!("{0}\n{0}\n", line(MIB));
    let exchange = import(&app, "", NDJSON, two).await;
    exchange.problem(422, "validation_failed");
    let two = format!("[{0},{0}]", line(MIB));
    let exchange = import(&app, "", JSON, two).await;
    exchange.problem(422, "validation_failed");
    for (content_type, body) in [
        (NDJSON, line(MIB + 1)),
        (JSON, format!("[{}]", line(MIB + 1))),
        (JSON, format!("[{}", " ".repeat(MIB + 1))),
        (NDJSON, "\n".repeat(32 * MIB + 1)),
    ] {
        let exchange = import(&app, "", content_type, body).await;
        exchange.problem(413, "payload_too_large");
    }
    let exchange = import(&app, "?mode=partial", NDJSON, "{}\n".repeat(10_000)).await;
    assert_eq!(exchange.status, 200);
    let exchange = import(&app, "", NDJSON, "{}\n".repeat(10_001)).await;
    let document = exchange.problem(422, "validation_failed");
    assert_eq!(document["errors"][0]["code"], "length");
}
