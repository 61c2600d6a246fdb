//! Imports and exports of products.

use platform::error::{Code, Failure};
use proto::catalog::v1::{
    ExportProductsResponse, ImportError, ImportProductsResponse, ImportedProduct, Product,
};
use serde_json::{Value, json};
use tonic::Status;

use crate::harness::{Exchange, ID, TestApp, problem};

pub const NDJSON: &str = "application/x-ndjson";
pub const JSON: &str = "application/json";

pub async fn import(
    app: &TestApp,
    query: &str,
    content_type: &str,
    body: impl Into<reqwest::Body>,
) -> Exchange {
    let request = app.admin("POST", &format!("/products/import{query}"));
    let request = request.header("content-type", content_type);
    app.exchange(request.body(body)).await
}

/// The names of the products that the service was sent, by line.
pub fn lines(exchange: &Exchange) -> Vec<(u64, &str)> {
    let lines = exchange.call().message["lines"].as_array();
    let lines = lines.map(Vec::as_slice).unwrap_or_default();
    let line = |line: &'_ Value| line["line"].as_u64().unwrap_or_default();
    let named = lines.iter().map(|item| {
        (
            line(item),
            item["product"]["name"].as_str().expect("a name"),
        )
    });
    named.collect()
}

pub fn product(name: &str) -> String {
    json!({"name": name, "categoryId": ID, "price": "1"}).to_string()
}

#[tokio::test]
async fn an_import_responds_with_what_was_created() {
    let app = TestApp::start().await;
    let exchange = import(&app, "?mode=partial", NDJSON, product("a")).await;
    insta::assert_json_snapshot!(exchange, @r#"
    {
      "calls": [
        {
          "rpc": "ProductService/ImportProducts",
          "message": {
            "lines": [
              {
                "product": {
                  "category_id": "01920000-0000-7000-8000-000000000001",
                  "name": "a",
                  "price": "1"
                }
              }
            ],
            "partial": true
          }
        }
      ],
      "status": 200,
      "body": {
        "data": {
          "created": 1,
          "errors": [],
          "products": [
            {
              "id": "01920000-0000-7000-8000-000000000001",
              "line": 0
            }
          ],
          "refused": 0
        }
      }
    }
    "#);
}

#[tokio::test]
async fn one_invalid_item_refuses_all_and_every_error_is_listed() {
    let app = TestApp::start().await;
    let refused = ImportProductsResponse {
        products: Vec::new(),
        errors: vec![ImportError {
            line: 1,
            field: "price".to_owned(),
            code: "precision".to_owned(),
            message: "at most 2 decimal places".to_owned(),
        }],
    };
    app.services
        .reply("ProductService/ImportProducts", &refused);
    let body = format!(
        "{}\n{}\n{{\n5\n{{\"name\":1}}\n",
        product("a"),
        product("b")
    );
    let exchange = import(&app, "", NDJSON, body).await;
    assert_eq!(exchange.call().message["incomplete"], true);
    assert_eq!(
        lines(&exchange),
        [(0, "a"), (1, "b")],
        "the service checks the others"
    );
    let document = exchange.problem(422, "validation_failed");
    assert_eq!(
        document["detail"],
        "6 fields are invalid; nothing was created"
    );
    insta::assert_json_snapshot!(document["errors"], @r#"
    [
      {
        "code": "precision",
        "field": "lines[1].price",
        "message": "at most 2 decimal places"
      },
      {
        "code": "format",
        "field": "lines[2]",
        "message": "the body is not JSON: EOF while parsing an object at line 1 column 1"
      },
      {
        "code": "type",
        "field": "lines[3]",
        "message": "the body must be a JSON object"
      },
      {
        "code": "type",
        "field": "lines[4].name",
        "message": "invalid type: integer `1`, expected a string"
      },
      {
        "code": "required",
        "field": "lines[4].categoryId",
        "message": "is required"
      },
      {
        "code": "required",
        "field": "lines[4].price",
        "message": "is required"
      }
    ]
    "#);
}

#[tokio::test]
async fn a_partial_import_lists_what_was_refused() {
    let app = TestApp::start().await;
    let response = ImportProductsResponse {
        products: vec![ImportedProduct {
            line: 0,
            id: "p-0".to_owned(),
        }],
        errors: Vec::new(),
    };
    app.services
        .reply("ProductService/ImportProducts", &response);
    let body = format!(
        "[{}, {{\"price\": 5}}, {{\"x\": 1, \"x\": 2}}]",
        product("a")
    );
    let exchange = import(&app, "?mode=partial", JSON, body).await;
    assert_eq!(exchange.status, 200, "{}", exchange.body);
    assert_eq!(exchange.call().message["partial"], true);
    insta::assert_json_snapshot!(exchange.body, @r#"
    {
      "data": {
        "created": 1,
        "errors": [
          {
            "code": "required",
            "field": "categoryId",
            "line": 1,
            "message": "is required"
          },
          {
            "code": "type",
            "field": "price",
            "line": 1,
            "message": "invalid type: integer `5`, expected a string"
          },
          {
            "code": "duplicate",
            "field": "x",
            "line": 2,
            "message": "is given twice"
          }
        ],
        "products": [
          {
            "id": "p-0",
            "line": 0
          }
        ],
        "refused": 2
      }
    }
    "#);
}

#[tokio::test]
async fn an_import_that_a_service_refuses_is_a_problem() {
    let app = TestApp::start().await;
    let refusal = Failure::new(Code::IdempotencyKeyReused, "another body");
    app.services.fail("ProductService/ImportProducts", refusal);
    let exchange = import(&app, "", JSON, "[]").await;
    exchange.problem(422, "idempotency_key_reused");
}

#[tokio::test]
async fn an_export_has_a_line_for_each_product() {
    let app = TestApp::start().await;
    let page = |names: &[&str]| {
        let product = |name: &&str| Product {
            name: (*name).to_owned(),
            ..Product::default()
        };
        ExportProductsResponse {
            products: names.iter().map(product).collect(),
        }
    };
    app.services.reply_stream(
        "ProductService/ExportProducts",
        &[page(&["a", "b"]), page(&[]), page(&["c"])],
    );
    let response = app.admin("GET", "/products/export").send().await.unwrap();
    assert_eq!(response.headers()["content-type"], NDJSON);
    let text = response.text().await.unwrap();
    let names = text.lines().map(|line| {
        let product: Value = serde_json::from_str(line).expect("JSON");
        product["name"].as_str().expect("a name").to_owned()
    });
    assert_eq!(names.collect::<Vec<_>>(), ["a", "b", "c"]);
    assert!(text.ends_with("}\n"));
    // Nothing to export, and a refusal before the first page.
    app.services.reply_stream(
        "ProductService/ExportProducts",
        &[] as &[ExportProductsResponse],
    );
    assert!(app.get("/products/export").await.body.is_null());
    app.services
        .fail_with_status("ProductService/ExportProducts", Status::unavailable("away"));
    problem(app.admin("GET", "/products/export"), 503, "unavailable").await;
}
