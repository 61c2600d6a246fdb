//! Creating, changing and deleting webhooks.

use platform::error::Code;
use prost_types::FieldMask;
use proto::{
    common::v1::ListRequest,
    identity::v1::{
        CreateWebhookRequest, DeleteWebhookRequest, GetWebhookRequest, ListWebhooksRequest,
        RotateWebhookSecretRequest, UpdateWebhookRequest, WebhookDisabledReason,
    },
};
use sqlx::PgPool;

use super::{create, deliveries, get, id, new_webhook, publish, received, start, subscribe};
use crate::harness::{TestApp, code, error, keyed, user};

const URL: &str = "https://shop.example/hook";

/// Starts a service with the rules of production.
async fn start_strict(pool: PgPool) -> TestApp {
    TestApp::start(pool).await
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn the_secret_is_returned_once_and_stored_sealed(pool: PgPool) {
    let app = start_strict(pool).await;
    let request = || keyed(new_webhook(URL, &["*"]), "k", "00");
    let first = app.webhooks().create_webhook(request()).await.unwrap();
    let first = first.into_inner();
    let again = app.webhooks().create_webhook(request()).await.unwrap();
    let again = again.into_inner();
    assert_eq!((&first.webhook, &*again.secret), (&again.webhook, ""));
    // 32 bytes in base64
    assert!(first.secret.starts_with("whsec_") && first.secret.len() == 50);
    let rotate = || keyed(RotateWebhookSecretRequest { id: id(&first) }, "r", "00");
    let rotated = app
        .webhooks()
        .rotate_webhook_secret(rotate())
        .await
        .unwrap();
    let rotated = rotated.into_inner().secret;
    assert!(rotated.starts_with("whsec_") && rotated != first.secret);
    let again = app
        .webhooks()
        .rotate_webhook_secret(rotate())
        .await
        .unwrap();
    assert_eq!(again.into_inner().secret, "");
    for table in ["webhooks", "idempotency_keys", "audit_log"] {
        let sql = format!(
            "select count(*) from identity.{table} row where row::text like '%' || $1 || '%'
                 or row::text like '%' || encode(decode($1, 'base64'), 'hex') || '%'"
        );
        let found: i64 = sqlx::query_scalar(sqlx::AssertSqlSafe(sql))
            .bind(first.secret.trim_start_matches("whsec_"))
            .fetch_one(&app.pool)
            .await
            .unwrap();
        assert_eq!(found, 0, "{table}");
    }
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn invalid_fields_are_named_and_store_nothing(pool: PgPool) {
    let app = start_strict(pool).await;
    for (url, events, field) in [
        ("", &["*"][..], "url"),
        ("http://shop.example/", &["*"], "url"),
        ("https://10.0.0.1/", &["*"], "url"),
        ("https://[::1]/", &["*"], "url"),
        ("https://a:b@shop.example/", &["*"], "url"),
        (URL, &[], "events"),
        (URL, &["order.paid"], "events"),
    ] {
        let refused = error(
            app.webhooks()
                .create_webhook(new_webhook(url, events))
                .await,
        );
        assert_eq!(refused.code, Code::ValidationFailed);
        assert_eq!(refused.fields[0].field, field, "{url}");
    }
    let both = error(app.webhooks().create_webhook(new_webhook("", &[])).await);
    assert_eq!(both.fields.len(), 2);
    let long = CreateWebhookRequest {
        description: Some("x".repeat(2_049)),
        ..new_webhook(URL, &["*"])
    };
    let refused = error(app.webhooks().create_webhook(long).await);
    assert_eq!(refused.fields[0].field, "description");
    let webhooks = app.count("select count(*) from identity.webhooks").await;
    assert_eq!(webhooks, 0);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_patch_changes_what_it_names(pool: PgPool) {
    let app = start_strict(pool).await;
    let id = id(&create(&app, URL, &["*"]).await);
    let patch = |paths: &[&str]| UpdateWebhookRequest {
        id: id.clone(),
        url: Some("https://shop.example/new".to_owned()),
        events: vec!["user.*".to_owned()],
        description: Some("New".to_owned()),
        enabled: Some(false),
        update_mask: Some(FieldMask {
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        }),
    };
    let update = async |paths: &[&str]| {
        let updated = app.webhooks().update_webhook(patch(paths)).await;
        updated.unwrap().into_inner().webhook.unwrap()
    };
    assert_eq!(update(&[]).await.url, URL);
    let updated = update(&["url", "enabled"]).await;
    assert_eq!(
        (&*updated.url, &*updated.events),
        ("https://shop.example/new", &["*".to_owned()][..])
    );
    assert!(!updated.enabled && updated.disabled_at.is_some());
    assert_eq!(updated.disabled_reason(), WebhookDisabledReason::Admin);
    let updated = update(&["events", "description"]).await;
    assert_eq!(
        (&*updated.events[0], &*updated.description),
        ("user.*", "New")
    );
    let mut bad = patch(&["url", "events"]);
    bad.url = Some("ftp://shop.example".to_owned());
    bad.events.clear();
    assert_eq!(
        error(app.webhooks().update_webhook(bad).await).fields.len(),
        2
    );
    assert_eq!(get(&app, &id).await, updated);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn webhooks_are_for_admins_and_at_most_fifty(pool: PgPool) {
    let app = start_strict(pool).await;
    let mut webhooks = app.webhooks_as(&user("u"));
    let refused = webhooks.create_webhook(new_webhook(URL, &["*"])).await;
    assert_eq!(code(refused), Code::Forbidden);
    for _ in 0..50 {
        create(&app, URL, &["*"]).await;
    }
    let refused = app
        .webhooks()
        .create_webhook(new_webhook(URL, &["*"]))
        .await;
    assert_eq!(code(refused), Code::InvalidState);
    let list = Some(ListRequest::default());
    let listed = app
        .webhooks()
        .list_webhooks(ListWebhooksRequest { list })
        .await;
    let listed = listed.unwrap().into_inner();
    assert_eq!(listed.page.unwrap().total, 50);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_deleted_webhook_takes_its_deliveries_along(pool: PgPool) {
    let app = start(pool).await;
    let (receiver, created) = subscribe(&app).await;
    publish(&app, 1).await;
    received(&receiver, 1).await;
    assert_eq!(deliveries(&app, &id(&created)).await.len(), 1);
    let delete = || DeleteWebhookRequest { id: id(&created) };
    app.webhooks().delete_webhook(delete()).await.unwrap();
    let again = app.webhooks().delete_webhook(delete()).await;
    assert_eq!(code(again), Code::WebhookNotFound);
    for unknown in [&*id(&created), "x"] {
        let id = unknown.to_owned();
        let read = app.webhooks().get_webhook(GetWebhookRequest { id }).await;
        assert_eq!(code(read), Code::WebhookNotFound);
    }
    let left = app
        .count("select count(*) from identity.webhook_deliveries")
        .await;
    assert_eq!(left, 0);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn changes_are_audited(pool: PgPool) {
    let app = start_strict(pool).await;
    let id = id(&create(&app, URL, &["*"]).await);
    let rotate = RotateWebhookSecretRequest { id: id.clone() };
    app.webhooks().rotate_webhook_secret(rotate).await.unwrap();
    app.webhooks()
        .delete_webhook(DeleteWebhookRequest { id })
        .await
        .unwrap();
    let actions: Vec<String> = sqlx::query_scalar(
        "select action || ' by ' || actor from identity.audit_log
         where resource_type = 'webhook' order by id",
    )
    .fetch_all(&app.pool)
    .await
    .unwrap();
    let expected = ["created", "secret_rotated", "deleted"];
    assert_eq!(
        actions,
        expected.map(|done| format!("webhook.{done} by key:admin"))
    );
    app.finish().await;
}
