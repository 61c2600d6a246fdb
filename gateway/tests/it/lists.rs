//! Lists: queries as services receive them, and the envelope of pages.

use proto::{
    catalog::v1::{ListProductsResponse, Product},
    common::v1::PageInfo,
    wallet::v1::{BalanceEntry, GetTotalBalanceResponse},
};
use serde_json::json;

use crate::{
    harness::{ID, TestApp, problem},
    operations,
};

const QUERY: &str = "filter[name]=ilike:%tea%&filter[createdAt]=gte:2026-01-01&lte:2026-02-01\
    &filter%5Bid%5D=in:a,b&filter[order][0]=1&filter[order][1]=2&sort=-createdAt,name\
    &page[size]=7&page[number]=3&include=lines,user&utm_source=x";

#[tokio::test]
async fn a_query_is_forwarded_in_order() {
    let app = TestApp::start().await;
    let exchange = app.get(&format!("/products?{QUERY}")).await;
    insta::assert_json_snapshot!(exchange.call(), @r#"
    {
      "rpc": "ProductService/ListProducts",
      "message": {
        "list": {
          "filters": [
            {
              "field": "name",
              "operator": "OPERATOR_ILIKE",
              "values": [
                "%tea%"
              ]
            },
            {
              "field": "createdAt",
              "operator": "OPERATOR_GTE",
              "values": [
                "2026-01-01"
              ]
            },
            {
              "field": "createdAt",
              "operator": "OPERATOR_LTE",
              "values": [
                "2026-02-01"
              ]
            },
            {
              "field": "id",
              "operator": "OPERATOR_IN",
              "values": [
                "a",
                "b"
              ]
            },
            {
              "field": "order",
              "operator": "OPERATOR_IN",
              "values": [
                "1",
                "2"
              ]
            }
          ],
          "include": [
            "lines",
            "user"
          ],
          "page_number": "3",
          "page_size": 7,
          "sort": [
            {
              "descending": true,
              "field": "createdAt"
            },
            {
              "field": "name"
            }
          ]
        }
      }
    }
    "#);
}

#[tokio::test]
async fn every_paged_list_passes_its_query_on() {
    let app = TestApp::start().await;
    for operation in operations::all()
        .iter()
        .filter(|operation| operation.is_list)
    {
        let query = "page[size]=7&page[after]=cursor&sort=-createdAt&filter[id]=nin:a";
        let exchange = app.get(&format!("{}?{query}", operation.url())).await;
        assert_eq!(
            exchange.status, 200,
            "{}: {}",
            operation.path, exchange.body
        );
        if operation.path == "/audit-log" {
            assert_eq!(exchange.calls.len(), 4);
            continue;
        }
        if operation.path == "/transactions/{id}/history" {
            assert_eq!(exchange.call().message, json!({"id": ID}));
            continue;
        }
        let list = json!({
            "filters": [{"field": "id", "operator": "OPERATOR_NIN", "values": ["a"]}],
            "sort": [{"field": "createdAt", "descending": true}],
            "page_size": 7,
            "page_after": "cursor",
        });
        assert_eq!(
            exchange.calls[0].message["list"], list,
            "{}",
            operation.path
        );
    }
}

#[tokio::test]
async fn malformed_queries_are_refused_on_every_list() {
    let app = TestApp::start().await;
    for operation in operations::all()
        .iter()
        .filter(|operation| operation.is_list)
    {
        if operation.path == "/transactions/{id}/history" {
            continue;
        }
        let url = format!("{}?page[size]=0", operation.url());
        let document = problem(app.admin("GET", &url), 400, "invalid_query").await;
        assert_eq!(document["errors"][0]["field"], "page[size]", "{url}");
    }
    assert!(
        app.services.take_calls().is_empty(),
        "no service was called"
    );
}

#[tokio::test]
async fn malformed_parameters_are_named() {
    let app = TestApp::start().await;
    for (query, field, code) in [
        ("page[size]=5&page[size]=6", "page[size]", "duplicate"),
        ("page[size]=1001", "page[size]", "range"),
        ("page[number]=x", "page[number]", "format"),
        ("page[number]=0", "page[number]", "range"),
        ("page[after]=x&page[number]=1", "page[after]", "duplicate"),
        ("page[limit]=1", "page[limit]", "unknown_field"),
        ("sort=a&sort=b", "sort", "duplicate"),
        ("sort[0]=a", "sort[0]", "unknown_field"),
        ("filter[id]=x&filter[id]=y", "filter[id]", "duplicate"),
        ("filter[a][b]=c", "filter[a][b]", "unknown_field"),
        ("filter[name]=%00", "filter[name]", "format"),
        ("filter[name]=%ff", "filter[name]", "format"),
        ("lte:2026-01-01", "lte:2026-01-01", "unknown_field"),
        ("include[a]=maybe", "include[a]", "enum"),
    ] {
        let document = problem(
            app.admin("GET", &format!("/products?{query}")),
            400,
            "invalid_query",
        )
        .await;
        assert_eq!(document["errors"][0]["field"], field, "{query}");
        assert_eq!(document["errors"][0]["code"], code, "{query}: {document}");
    }
}

#[tokio::test]
async fn a_page_says_how_to_get_the_next_one_but_for_the_last() {
    let app = TestApp::start().await;
    let page = |total: u64, next_cursor: &str| ListProductsResponse {
        products: vec![Product::default(), Product::default()],
        page: Some(PageInfo {
            total,
            next_cursor: next_cursor.to_owned(),
            ..PageInfo::default()
        }),
    };
    app.services
        .reply("ProductService/ListProducts", &page(5, "abc"));
    let first = app.get("/products?page[size]=2").await;
    assert_eq!(first.body["data"].as_array().map(Vec::len), Some(2));
    assert_eq!(first.body["total"], 5);
    assert_eq!(first.body["nextCursor"], "abc");
    app.services
        .reply("ProductService/ListProducts", &page(2, ""));
    let last = app.get("/products").await;
    assert_eq!(
        last.body
            .as_object()
            .map(|body| body.contains_key("nextCursor")),
        Some(false)
    );
}

#[tokio::test]
async fn an_empty_page_is_an_empty_list() {
    let app = TestApp::start().await;
    app.services.reply(
        "ProductService/ListProducts",
        &ListProductsResponse::default(),
    );
    let exchange = app.get("/products?page[number]=1000").await;
    assert_eq!(exchange.body, json!({"data": [], "total": 0}));
}

#[tokio::test]
async fn a_list_without_pages_counts_its_rows() {
    let app = TestApp::start().await;
    let response = GetTotalBalanceResponse {
        balances: vec![BalanceEntry::default(); 3],
    };
    app.services
        .reply("WalletService/GetTotalBalance", &response);
    let exchange = app.get("/wallets/balance").await;
    assert_eq!(exchange.body["total"], 3);
    assert!(exchange.body.get("nextCursor").is_none());
}

#[tokio::test]
async fn reads_of_one_resource_pass_their_includes_on() {
    let app = TestApp::start().await;
    for (path, names) in [
        (format!("/products/{ID}"), &["category", "taxRate"][..]),
        (format!("/movements/{ID}"), &["transaction"]),
    ] {
        let each = |form: &dyn Fn(usize, &str) -> String| {
            let forms = names.iter().enumerate().map(|(at, name)| form(at, name));
            forms.collect::<Vec<_>>().join("&")
        };
        for query in [
            format!("include={}", names.join(",")),
            each(&|at, name| format!("include[{at}]={name}")),
            each(&|_, name| format!("include[{name}]=true")),
        ] {
            let exchange = app.get(&format!("{path}?{query}&page[size]=1")).await;
            assert_eq!(
                exchange.call().message,
                json!({"id": ID, "include": names}),
                "{query}"
            );
        }
        problem(
            app.admin("GET", &format!("{path}?include[a]=x")),
            400,
            "invalid_query",
        )
        .await;
    }
}

#[tokio::test]
async fn a_balance_is_read_at_a_moment() {
    let app = TestApp::start().await;
    let path = format!("/wallets/{ID}/balance");
    for (at, sent) in [
        ("2026-01-31T10:00:00Z", "2026-01-31T10:00:00Z"),
        (
            "2026-01-31T10:00:00.123%2B02:00",
            "2026-01-31T08:00:00.123Z",
        ),
        ("2026-01-31", "2026-01-31T00:00:00Z"),
    ] {
        let exchange = app.get(&format!("{path}?at={at}")).await;
        assert_eq!(exchange.call().message["at"], sent, "{at}");
    }
    assert!(app.get(&path).await.call().message.get("at").is_none());
    for query in [
        "at=",
        "at=soon",
        "at=2026-01-31&at=2026-01-31",
        "at=2026-13-01",
    ] {
        let request = app.admin("GET", &format!("{path}?{query}"));
        let document = problem(request, 400, "invalid_query").await;
        assert_eq!(document["errors"][0]["field"], "at", "{query}");
    }
}

#[tokio::test]
async fn single_reads_refuse_unknown_includes() {
    let app = TestApp::start().await;
    let all = operations::all();
    let reads = all
        .iter()
        .filter(|operation| operation.method == "GET" && !operation.is_list);
    for operation in reads {
        let url = operation.url();
        let request = app.admin("GET", &format!("{url}?include=nope"));
        let document = problem(request, 400, "invalid_query").await;
        assert_eq!(document["errors"][0]["field"], "include", "{url}");
        assert_eq!(
            app.get(&format!("{url}?x=1&include=")).await.status,
            200,
            "{url}"
        );
    }
    for path in [
        format!("/products/{ID}?include=category,taxRate"),
        format!("/orders/{ID}?include=lines"),
        format!("/orders/{ID}/lines/{ID}?include=product"),
        format!("/movements/{ID}?include=transaction"),
    ] {
        assert_eq!(app.get(&path).await.status, 200, "{path}");
    }
}
