//! The audit log: what is recorded, who reads it, and that nothing changes it.

use platform::{error::Code, pg};
use proto::{
    audit::v1::{AuditEntry, ListAuditLogRequest, ListAuditLogResponse},
    catalog::v1 as wire,
    common::v1::{ListRequest, Operator},
};
use sqlx::{PgPool, error::DatabaseError};
use tonic::Status;

use crate::harness::{
    Clients, TestApp, UNKNOWN, filter, mask, new_product, new_question, rejection,
};

async fn read(clients: &Clients, list: ListRequest) -> Result<ListAuditLogResponse, Status> {
    let request = ListAuditLogRequest { list: Some(list) };
    let response = clients.audit_log().list_audit_log(request).await?;
    Ok(response.into_inner())
}

/// Returns the entries of a resource, oldest first.
async fn entries(app: &TestApp, resource_id: &str) -> Vec<AuditEntry> {
    let list = filter("resourceId", Operator::Eq, &[resource_id]);
    let mut entries = read(&app.admin, list).await.unwrap().entries;
    entries.reverse();
    entries
}

async fn actions(app: &TestApp, resource_id: &str) -> Vec<String> {
    let entries = entries(app, resource_id).await;
    entries.into_iter().map(|entry| entry.action).collect()
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_change_is_recorded_with_its_actor(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let category = app.category("Drinks").await;
    let update = wire::UpdateCategoryRequest {
        id: category.id.clone(),
        title: Some("Food".into()),
        update_mask: Some(mask(&["title"])),
        ..wire::UpdateCategoryRequest::default()
    };
    let mut categories = app.admin.categories();
    categories.update_category(update).await.unwrap();
    let unchanged = wire::UpdateCategoryRequest {
        id: category.id.clone(),
        update_mask: Some(mask(&[])),
        ..wire::UpdateCategoryRequest::default()
    };
    categories.update_category(unchanged).await.unwrap();
    let id = category.id.clone();
    categories
        .delete_category(wire::DeleteCategoryRequest { id })
        .await
        .unwrap();

    let entries = entries(&app, &category.id).await;
    let actions: Vec<_> = entries.iter().map(|entry| &*entry.action).collect();
    assert_eq!(
        actions,
        ["category.created", "category.updated", "category.deleted"]
    );
    for entry in &entries {
        assert_eq!(entry.actor, format!("key:{UNKNOWN}"));
        assert_eq!(entry.service, "catalog-svc");
        assert_eq!(entry.resource_type, "category");
        assert_eq!(entry.details_json, "{}");
        assert_eq!(entry.id.as_bytes()[14], b'7', "a UUID of version 7");
        assert!(!entry.details_json.contains("Food"));
    }
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn every_kind_of_resource_has_entries(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let category = app.category("Drinks").await;
    let tax_rate = app.tax_rate("20").await;
    let product = app.product(new_product(&category)).await;
    let question = app.question(new_question("Engraving")).await;
    app.link(&product.id, &question.id).await.unwrap();
    assert_eq!(actions(&app, &tax_rate.id).await, ["tax_rate.created"]);
    assert_eq!(actions(&app, &question.id).await, ["question.created"]);
    assert_eq!(
        actions(&app, &product.id).await,
        ["product.created", "product.updated"]
    );
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_refused_change_leaves_no_entry(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let category = app.category("Drinks").await;
    app.product(new_product(&category)).await;
    let id = category.id.clone();
    let in_use = app
        .admin
        .categories()
        .delete_category(wire::DeleteCategoryRequest { id })
        .await;
    assert_eq!(rejection(in_use).code, Code::CategoryInUse);
    assert_eq!(actions(&app, &category.id).await, ["category.created"]);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn every_row_has_a_cursor_that_continues_the_list(pool: PgPool) {
    let app = TestApp::new(pool).await;
    for title in ["a", "b", "c"] {
        app.category(title).await;
    }
    let all = read(&app.admin, ListRequest::default()).await.unwrap();
    assert!(all.entries.is_sorted_by(|a, b| a.id > b.id), "newest first");
    let page = all.page.unwrap();
    assert_eq!((page.total, page.row_cursors.len()), (3, 3));
    for (row, cursor) in page.row_cursors.iter().enumerate() {
        let next = ListRequest {
            page_after: Some(cursor.clone()),
            ..ListRequest::default()
        };
        let rest = read(&app.admin, next).await.unwrap();
        assert_eq!(rest.entries, all.entries[row + 1..]);
    }
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn filters_select_entries(pool: PgPool) {
    let app = TestApp::new(pool).await;
    app.category("Drinks").await;
    app.tax_rate("20").await;
    let actor = format!("key:{UNKNOWN}");
    for (field, value, count) in [
        ("action", "tax_rate.created", 1),
        ("resourceType", "category", 1),
        ("actor", &actor, 2),
        ("actor", "key:other", 0),
        ("service", "catalog-svc", 2),
        ("service", "wallet-svc", 0),
    ] {
        let list = filter(field, Operator::Eq, &[value]);
        let found = read(&app.admin, list).await.unwrap().entries;
        assert_eq!(found.len(), count, "{field}={value}");
    }
    let since = filter("createdAt", Operator::Gte, &["2020-01-01"]);
    assert_eq!(read(&app.admin, since).await.unwrap().entries.len(), 2);
    let unknown = filter("service", Operator::Eq, &["gateway"]);
    let refused = read(&app.admin, unknown).await.unwrap_err();
    assert_eq!(refused.code(), tonic::Code::InvalidArgument);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn only_admins_read_it(pool: PgPool) {
    let app = TestApp::new(pool).await;
    for clients in [&app.user, &app.service] {
        let refused = read(clients, ListRequest::default()).await.unwrap_err();
        assert_eq!(refused.code(), tonic::Code::PermissionDenied);
    }
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn the_service_can_only_append(pool: PgPool) {
    let app = TestApp::new(pool).await;
    app.category("Drinks").await;
    for change in [
        "update catalog.audit_log set actor = 'key:other'",
        "delete from catalog.audit_log",
        "truncate catalog.audit_log",
    ] {
        let mut tx = pg::tx(&app.pool).await.unwrap();
        sqlx::query("set local role guerdon_catalog_app")
            .execute(&mut *tx)
            .await
            .unwrap();
        let refused = sqlx::query(change).execute(&mut *tx).await.unwrap_err();
        let code = refused.as_database_error().and_then(DatabaseError::code);
        assert_eq!(code.as_deref(), Some("42501"), "{change}");
    }
}
