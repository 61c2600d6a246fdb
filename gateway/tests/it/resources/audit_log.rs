//! `/audit-log`

use proto::{
    audit::v1::{AuditEntry, ListAuditLogResponse},
    common::v1::PageInfo,
};
use serde_json::json;

use crate::harness::{TestApp, problem};

fn page() -> ListAuditLogResponse {
    ListAuditLogResponse {
        entries: vec![AuditEntry {
            id: "entry.id".to_owned(),
            service: "catalog-svc".to_owned(),
            actor: "key:admin".to_owned(),
            action: "product.deleted".to_owned(),
            resource_type: "product".to_owned(),
            resource_id: "product.id".to_owned(),
            trace_id: None,
            details_json: r#"{"count":1}"#.to_owned(),
            created_at: None,
        }],
        page: Some(PageInfo {
            total: 5,
            next_cursor: "older".to_owned(),
            row_cursors: vec!["after the entry".to_owned()],
        }),
    }
}

#[tokio::test]
async fn the_lists_of_all_services_are_one() {
    let app = TestApp::start().await;
    app.services.reply("AuditService/ListAuditLog", &page());
    let exchange = app.get("/audit-log?page[size]=1").await;
    assert_eq!(exchange.calls.len(), 4);
    insta::assert_json_snapshot!(exchange.body, @r#"
    {
      "data": [
        {
          "action": "product.deleted",
          "actor": "key:admin",
          "createdAt": null,
          "details": {
            "count": 1
          },
          "id": "entry.id",
          "resourceId": "product.id",
          "resourceType": "product",
          "service": "catalog-svc",
          "traceId": null
        }
      ],
      "nextCursor": "after the entry",
      "total": 20
    }
    "#);
}

#[tokio::test]
async fn page_n_asks_for_the_first_n_pages() {
    let app = TestApp::start().await;
    let exchange = app.get("/audit-log?page[size]=20&page[number]=3").await;
    for call in &exchange.calls {
        assert_eq!(call.message["list"], json!({"page_size": 60}));
    }
    let deep = app.admin("GET", "/audit-log?page[size]=300&page[number]=4");
    problem(deep, 400, "invalid_query").await;
}
