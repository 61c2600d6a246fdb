//! API keys: created, used, listed and revoked.

use platform::{
    auth::{Caller, Kind, Role},
    clock::Clock,
    error::Code,
};
use prost::Message as _;
use proto::{
    common::v1::{Filter, ListRequest, Operator},
    events::v1::ApiKeyRevoked,
    identity::v1::{
        ApiKey, CreateApiKeyRequest, CreateApiKeyResponse, DeleteApiKeyRequest,
        ExchangeApiKeyRequest, GetApiKeyRequest, ListApiKeysRequest,
    },
};
use sqlx::PgPool;
use tonic::IntoRequest;

use crate::harness::{API_KEY, TestApp, admin, caller, code, error, gateway, keyed, user};

const BOOTSTRAP: &str = "01900000-0000-7000-8000-000000000001";

async fn start(pool: PgPool) -> TestApp {
    TestApp::start_with(pool, Clock::system(), &["--bootstrap-api-key", API_KEY]).await
}

fn new_key(name: &str) -> CreateApiKeyRequest {
    CreateApiKeyRequest {
        name: name.to_owned(),
        roles: vec!["admin".to_owned()],
        expires_at: None,
    }
}

async fn create(
    app: &TestApp,
    request: impl IntoRequest<CreateApiKeyRequest>,
) -> CreateApiKeyResponse {
    let mut keys = app.api_keys_as(&admin());
    let created = keys.create_api_key(request).await;
    created.unwrap().into_inner()
}

async fn get(app: &TestApp, id: &str) -> Result<ApiKey, Code> {
    let id = id.to_owned();
    let mut keys = app.api_keys_as(&admin());
    match keys.get_api_key(GetApiKeyRequest { id }).await {
        Ok(response) => Ok(response.into_inner().api_key.unwrap()),
        error => Err(code(error)),
    }
}

async fn exchange(app: &TestApp, key: &str) -> Result<(), Code> {
    let request = ExchangeApiKeyRequest {
        key: key.to_owned(),
    };
    match app.auth(Some(&gateway())).exchange_api_key(request).await {
        Ok(_) => Ok(()),
        error => Err(code(error)),
    }
}

async fn delete(app: &TestApp, by: &Caller, id: &str) -> Option<Code> {
    let id = id.to_owned();
    let mut keys = app.api_keys_as(by);
    let deleted = keys.delete_api_key(DeleteApiKeyRequest { id }).await;
    deleted.is_err().then(|| code(deleted))
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_key_works_until_it_is_revoked(pool: PgPool) {
    let app = start(pool).await;
    let CreateApiKeyResponse { api_key, key } = create(&app, new_key("Shop")).await;
    let id = api_key.unwrap().id;
    assert!(key.starts_with("gk_") && key.len() == 46, "{}", key.len());
    assert_eq!(exchange(&app, &key).await, Ok(()));
    assert_eq!(delete(&app, &admin(), &id).await, None);
    assert_eq!(exchange(&app, &key).await, Err(Code::Unauthenticated));
    assert_eq!(get(&app, &id).await, Err(Code::ApiKeyNotFound));
    assert_eq!(
        delete(&app, &admin(), &id).await,
        Some(Code::ApiKeyNotFound)
    );
    let [event] = &app.events(&id).await[..] else {
        panic!("one event expected")
    };
    assert_eq!((&*event.name, event.version), ("ApiKeyRevoked", 1));
    let body = ApiKeyRevoked::decode(&*event.body).unwrap();
    assert_eq!((body.api_key_id, body.version), (id, 1));
    let revoked = app.count("select count(*) from identity.revocations").await;
    assert_eq!(revoked, 1, "its tokens are refused");
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn the_secret_is_returned_once_and_stored_as_a_hash(pool: PgPool) {
    let app = start(pool).await;
    let first = create(&app, keyed(new_key("Shop"), "k", "00")).await;
    let again = create(&app, keyed(new_key("Shop"), "k", "00")).await;
    assert_eq!(first.api_key, again.api_key);
    assert_ne!(first.key, "");
    assert_eq!(again.key, "");
    let secret = first.key.trim_start_matches("gk_");
    for table in ["api_keys", "idempotency_keys", "outbox"] {
        let sql = format!(
            "select count(*) from identity.{table} row
             where row::text like '%' || $1 || '%' or row::text like '%' || $2 || '%'"
        );
        let hex = secret.bytes().map(|byte| format!("{byte:02x}"));
        let found: i64 = sqlx::query_scalar(sqlx::AssertSqlSafe(sql))
            .bind(secret)
            .bind(hex.collect::<String>())
            .fetch_one(&app.pool)
            .await
            .unwrap();
        assert_eq!(found, 0, "{table}");
    }
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn invalid_fields_are_named_and_store_nothing(pool: PgPool) {
    let app = start(pool).await;
    for (request, field) in [
        (new_key(""), "name"),
        (
            CreateApiKeyRequest {
                roles: vec!["emperor".to_owned()],
                ..new_key("Shop")
            },
            "roles",
        ),
        (
            CreateApiKeyRequest {
                expires_at: Some("2020-01-01T00:00:00Z".to_owned()),
                ..new_key("Shop")
            },
            "expiresAt",
        ),
    ] {
        let refused = error(app.api_keys_as(&admin()).create_api_key(request).await);
        assert_eq!(refused.code, Code::ValidationFailed);
        assert_eq!(refused.fields[0].field, field);
    }
    let keys = app.count("select count(*) from identity.api_keys").await;
    assert_eq!(keys, 1, "that of the configuration");
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn no_key_is_deleted_by_mistake(pool: PgPool) {
    let app = start(pool).await;
    let own = create(&app, new_key("Shop")).await.api_key.unwrap().id;
    let by_itself = caller(Kind::Key, &own, Role::Admin);
    assert_eq!(
        delete(&app, &by_itself, &own).await,
        Some(Code::InvalidState)
    );
    assert_eq!(
        delete(&app, &admin(), BOOTSTRAP).await,
        Some(Code::InvalidState)
    );
    assert_eq!(get(&app, BOOTSTRAP).await.unwrap().name, "bootstrap");
    assert_eq!(exchange(&app, API_KEY).await, Ok(()));
    for unknown in ["x", "01920000-0000-7000-8000-000000000009"] {
        assert_eq!(
            delete(&app, &admin(), unknown).await,
            Some(Code::ApiKeyNotFound)
        );
    }
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn the_last_use_is_recorded_once_a_minute(pool: PgPool) {
    let app = start(pool).await;
    let CreateApiKeyResponse { api_key, key } = create(&app, new_key("Shop")).await;
    let id = api_key.unwrap().id;
    assert_eq!(get(&app, &id).await.unwrap().last_used_at, None);
    exchange(&app, &key).await.unwrap();
    let first = get(&app, &id).await.unwrap().last_used_at;
    assert!(first.is_some());
    exchange(&app, &key).await.unwrap();
    assert_eq!(get(&app, &id).await.unwrap().last_used_at, first);
    app.execute("update identity.api_keys set last_used_at = now() - interval '61 seconds'")
        .await;
    exchange(&app, &key).await.unwrap();
    let later = get(&app, &id).await.unwrap().last_used_at;
    assert!(later.unwrap().seconds >= first.unwrap().seconds);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn keys_are_listed_without_revoked_ones(pool: PgPool) {
    let app = start(pool).await;
    create(&app, new_key("Shop")).await;
    let revoked = create(&app, new_key("Old shop")).await.api_key.unwrap().id;
    assert_eq!(delete(&app, &admin(), &revoked).await, None);
    let names = async |filters: Vec<Filter>| {
        let list = Some(ListRequest {
            filters,
            ..ListRequest::default()
        });
        let mut keys = app.api_keys_as(&admin());
        let page = keys.list_api_keys(ListApiKeysRequest { list }).await;
        let keys = page.unwrap().into_inner().api_keys;
        keys.into_iter().map(|key| key.name).collect::<Vec<_>>()
    };
    assert_eq!(names(vec![]).await, ["Shop", "bootstrap"]);
    let by = |field: &str, value: &str| {
        vec![Filter {
            field: field.to_owned(),
            operator: Operator::Eq.into(),
            values: vec![value.to_owned()],
        }]
    };
    assert_eq!(names(by("name", "shop")).await, ["Shop"]);
    assert_eq!(names(by("role", "user")).await, <[&str; 0]>::default());
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn only_admins_manage_keys(pool: PgPool) {
    let app = start(pool).await;
    for outsider in [user("u"), caller(Kind::Key, "k", Role::User)] {
        let mut keys = app.api_keys_as(&outsider);
        let refused = code(keys.create_api_key(new_key("x")).await);
        assert_eq!(refused, Code::Forbidden);
        let list = ListApiKeysRequest::default();
        assert_eq!(code(keys.list_api_keys(list).await), Code::Forbidden);
        assert_eq!(
            delete(&app, &outsider, BOOTSTRAP).await,
            Some(Code::Forbidden)
        );
    }
    app.finish().await;
}
