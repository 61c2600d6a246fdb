//! The keys that sign tokens: made once, replaced without logging anybody out.

use std::{process::Command, time::Duration};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use platform::{clock::Clock, testing::eventually};
use proto::identity::v1::{GetJwksRequest, IssueServiceTokenRequest, ListUsersRequest};
use serde_json::Value;
use sqlx::PgPool;

use crate::harness::{KEY_ENCRYPTION_KEY, SECRET, TestApp, admin};

const ROTATION_TIMEOUT: Duration = Duration::from_secs(20);

async fn start(pool: PgPool) -> TestApp {
    TestApp::start_with(pool, Clock::system(), &[]).await
}

/// Returns the ids of the published keys.
async fn published(app: &TestApp) -> Vec<String> {
    let jwks = app.auth(None).get_jwks(GetJwksRequest {}).await.unwrap();
    let jwks: Value = serde_json::from_str(&jwks.into_inner().jwks_json).unwrap();
    let keys = jwks["keys"].as_array().unwrap().iter();
    keys.map(|key| key["kid"].as_str().unwrap().to_owned())
        .collect()
}

/// Returns the id of the key that signs a token now.
async fn signing(app: &TestApp) -> String {
    let request = IssueServiceTokenRequest {
        service: "orders-svc".to_owned(),
        secret: SECRET.to_owned(),
    };
    let issued = app.auth(None).issue_service_token(request).await.unwrap();
    let token = issued.into_inner().token;
    let header = BASE64.decode(token.split('.').next().unwrap()).unwrap();
    let header: Value = serde_json::from_slice(&header).unwrap();
    header["kid"].as_str().unwrap().to_owned()
}

/// Runs `identity-svc rotate-keys`.
fn rotate(app: &TestApp, key_encryption_key: &str) -> bool {
    let status = Command::new(env!("CARGO_BIN_EXE_identity-svc"))
        .args(["rotate-keys", &app.database_flag()])
        .arg(format!("--key-encryption-key={key_encryption_key}"))
        .status();
    status.unwrap().success()
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn the_first_start_makes_a_key_that_later_starts_use(pool: PgPool) {
    let mut app = start(pool).await;
    app.stop().await;
    app.execute("delete from identity.signing_keys").await;
    app.start_process(&[]).await;
    let first = published(&app).await;
    assert_eq!(first, [signing(&app).await]);
    app.stop().await;
    app.start_process(&[]).await;
    assert_eq!(published(&app).await, first);
    let keys = app
        .count("select count(*) from identity.signing_keys")
        .await;
    assert_eq!(keys, 1);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_rotation_logs_nobody_out_and_ends_the_old_key_later(pool: PgPool) {
    let app = start(pool).await;
    let old = signing(&app).await;
    assert!(!rotate(&app, "short"), "a malformed key is refused");
    assert!(rotate(&app, KEY_ENCRYPTION_KEY));
    eventually("both keys are published", ROTATION_TIMEOUT, async || {
        published(&app).await.len() == 2
    })
    .await;
    eventually("the new key signs", ROTATION_TIMEOUT, async || {
        signing(&app).await != old
    })
    .await;
    // The token of a test is signed with the old key.
    let list = || ListUsersRequest::default();
    app.users_as(&admin()).list_users(list()).await.unwrap();
    assert!(published(&app).await.contains(&old));

    app.execute("update identity.signing_keys set signs_from = signs_from - interval '31 minutes'")
        .await;
    eventually("the old key is withdrawn", ROTATION_TIMEOUT, async || {
        !published(&app).await.contains(&old)
    })
    .await;
    let keys = app
        .count("select count(*) from identity.signing_keys")
        .await;
    assert_eq!(keys, 1);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn seeds_are_not_stored_in_the_clear(pool: PgPool) {
    let app = start(pool).await;
    let seed = "select count(*) from identity.signing_keys
                where position(decode(repeat('07', 32), 'hex') in sealed_seed) > 0";
    assert_eq!(app.count(seed).await, 0);
    app.finish().await;
}
