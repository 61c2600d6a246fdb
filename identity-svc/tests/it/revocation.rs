//! Token versions, and the revocations that raise them.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use proto::identity::v1::{BlockUserRequest, ExchangeApiKeyRequest, UnblockUserRequest};
use serde_json::Value;
use sqlx::PgPool;

use crate::harness::{API_KEY, TestApp, gateway};

const OTHER_KEY: &str = "gk_another_0123456789abcdef";

/// Returns kind and lowest accepted version of each revoked subject.
async fn revocations(app: &TestApp) -> Vec<(String, i32)> {
    let sql = "select subject_kind, min_version from identity.revocations order by 1, 2";
    sqlx::query_as(sql).fetch_all(&app.pool).await.unwrap()
}

async fn version_of_key(app: &TestApp, key: &str) -> Value {
    let request = ExchangeApiKeyRequest {
        key: key.to_owned(),
    };
    let issued = app.auth(Some(&gateway())).exchange_api_key(request).await;
    let token = issued.unwrap().into_inner().token;
    let claims = BASE64.decode(token.split('.').nth(1).unwrap()).unwrap();
    let claims: Value = serde_json::from_slice(&claims).unwrap();
    claims["ver"].clone()
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn each_block_of_a_user_revokes_its_tokens_once(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.create_user("ann@example.com").await.id;
    app.create_user("bob@example.com").await;
    let block = || BlockUserRequest { id: id.clone() };
    app.users().block_user(block()).await.unwrap();
    app.users().block_user(block()).await.unwrap();
    assert_eq!(revocations(&app).await, [("user".to_owned(), 1)]);

    let unblock = UnblockUserRequest { id: id.clone() };
    app.users().unblock_user(unblock).await.unwrap();
    assert_eq!(revocations(&app).await, [("user".to_owned(), 1)]);
    app.users().block_user(block()).await.unwrap();
    assert_eq!(revocations(&app).await, [("user".to_owned(), 2)]);
    let versions: Vec<(String, i32)> =
        sqlx::query_as("select email, token_version from identity.users order by 1")
            .fetch_all(&app.pool)
            .await
            .unwrap();
    let expected = [("ann@example.com", 2), ("bob@example.com", 0)];
    assert_eq!(versions, expected.map(|(email, v)| (email.to_owned(), v)));
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn the_tokens_of_a_replaced_or_removed_bootstrap_key_are_revoked(pool: PgPool) {
    let mut app = TestApp::start(pool).await;
    assert_eq!(version_of_key(&app, API_KEY).await, 0);
    for (configured, version) in [
        (Some(API_KEY), 0),
        (Some(OTHER_KEY), 1),
        (None, 2),
        (None, 2),
        (Some(OTHER_KEY), 3),
        (Some(OTHER_KEY), 3),
    ] {
        app.stop().await;
        let flags = configured.map(|key| format!("--bootstrap-api-key={key}"));
        let flags: Vec<_> = flags.iter().map(String::as_str).collect();
        app.start_process(&flags).await;
        let revoked = (version > 0).then(|| ("key".to_owned(), version));
        let expected: Vec<_> = revoked.into_iter().collect();
        assert_eq!(revocations(&app).await, expected, "{configured:?}");
        if let Some(key) = configured {
            assert_eq!(version_of_key(&app, key).await, version);
        }
    }
    app.finish().await;
}
