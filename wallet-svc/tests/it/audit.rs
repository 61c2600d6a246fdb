//! The audit log, which shows the history of transactions as well.

use proto::{
    audit::v1::{AuditEntry, ListAuditLogRequest},
    common::v1::{Filter, ListRequest, Operator},
};
use sqlx::PgPool;

use crate::harness::{TestApp, result};

fn list(field: &str, value: &str) -> ListRequest {
    ListRequest {
        filters: vec![Filter {
            field: field.to_owned(),
            operator: Operator::Eq.into(),
            values: vec![value.to_owned()],
        }],
        ..ListRequest::default()
    }
}

/// Returns the entries that the request asks for, oldest first.
async fn entries(app: &TestApp, list: ListRequest) -> Vec<AuditEntry> {
    let request = ListAuditLogRequest { list: Some(list) };
    let response = app.admin.audit_log().list_audit_log(request).await;
    let mut entries = result(response).unwrap().entries;
    entries.reverse();
    entries
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn changes_of_transactions_are_entries(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.funded_wallet("5").await;
    let id = app.withdraw(&wallet, "1").await.unwrap().id;
    app.approve(&id).await.unwrap();
    app.fail(&id).await.unwrap();
    let entries = entries(&app, list("resourceId", &id)).await;
    let shown: Vec<_> = entries
        .iter()
        .map(|entry| (&*entry.action, &*entry.details_json))
        .collect();
    assert_eq!(
        shown,
        [
            ("transaction.created", r#"{"to": "pending", "from": null}"#),
            (
                "transaction.approved",
                r#"{"to": "processing", "from": "pending"}"#
            ),
            (
                "transaction.failed",
                r#"{"to": "failed", "from": "processing"}"#
            ),
        ]
    );
    for entry in &entries {
        assert_eq!(entry.actor, "key:admin");
        assert_eq!(entry.service, "wallet-svc");
        assert_eq!(entry.resource_type, "transaction");
    }
    assert!(entries.is_sorted_by(|a, b| a.id < b.id), "ids are in order");
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn wallets_assets_and_rates_have_entries(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.new_wallet().await;
    app.lock(&wallet, true).await;
    app.enable("points", false).await;
    app.set_rate("usd", "eur", "0.9").await;
    let shown = async |field: &str, value: &str| {
        let entries = entries(&app, list(field, value)).await;
        let shown = entries
            .into_iter()
            .map(|entry| (entry.action, entry.details_json));
        shown.collect::<Vec<_>>()
    };
    let entry = |action: &str, details: &str| (action.to_owned(), details.to_owned());
    assert_eq!(
        shown("resourceId", &wallet).await,
        [
            entry("wallet.created", "{}"),
            entry("wallet.updated", r#"{"locked": true}"#)
        ]
    );
    assert_eq!(
        shown("resourceId", "points").await,
        [entry("asset.updated", "{}")]
    );
    assert_eq!(
        shown("resourceId", "usd/eur").await,
        [entry("rate.created", "{}")]
    );
    // The default wallet is made by the service.
    let own = entries(&app, list("actor", "service:wallet-svc")).await;
    assert_eq!(own.len(), 1);
    assert_eq!(own[0].action, "wallet.created");
    app.finish().await;
}
