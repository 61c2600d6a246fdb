//! Tokens, and the credentials that are exchanged for them.

use platform::{
    auth::{Caller, Kind, Role, TokenVerifier},
    clock::Clock,
    error::Code,
};
use proto::identity::v1::{
    ExchangeApiKeyRequest, ExchangeApiKeyResponse, GetJwksRequest, IssueAnonymousTokenRequest,
    IssueServiceTokenRequest, ListUsersRequest,
};
use sqlx::PgPool;

use crate::harness::{
    API_KEY, SECRET, TestApp, admin, caller, code, error, gateway, new_user, user,
};

/// Starts a service with the system's clock, by which tokens are verified.
async fn start(pool: PgPool) -> TestApp {
    TestApp::start_with(pool, Clock::system(), &["--bootstrap-api-key", API_KEY]).await
}

async fn verifier(app: &TestApp) -> TokenVerifier {
    let jwks = app.auth(None).get_jwks(GetJwksRequest {}).await.unwrap();
    TokenVerifier::fixed(&jwks.into_inner().jwks_json).unwrap()
}

fn service_token(secret: &str) -> IssueServiceTokenRequest {
    IssueServiceTokenRequest {
        service: "orders-svc".to_owned(),
        secret: secret.to_owned(),
    }
}

fn exchange(key: &str) -> ExchangeApiKeyRequest {
    ExchangeApiKeyRequest {
        key: key.to_owned(),
    }
}

/// Exchanges a key as the gateway does.
async fn token_of_key(app: &TestApp, key: &str) -> ExchangeApiKeyResponse {
    let mut auth = app.auth(Some(&gateway()));
    let issued = auth.exchange_api_key(exchange(key)).await;
    issued.unwrap().into_inner()
}

fn seconds_left(app: &TestApp, token: &ExchangeApiKeyResponse) -> i64 {
    token.expires_at.unwrap().seconds - app.clock.now().timestamp()
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_service_token_carries_the_name_of_its_service(pool: PgPool) {
    let app = start(pool).await;
    let request = service_token(SECRET);
    let issued = app.auth(None).issue_service_token(request).await.unwrap();
    let token = issued.into_inner().token;
    let caller = verifier(&app).await.verify(&token).await.unwrap();
    assert_eq!(
        *caller,
        Caller {
            kind: Kind::Service,
            subject: "orders-svc".to_owned(),
            roles: vec![Role::Admin],
        }
    );
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn the_token_of_a_key_carries_its_roles_for_20_minutes(pool: PgPool) {
    let app = start(pool).await;
    let issued = token_of_key(&app, API_KEY).await;
    let caller = verifier(&app).await.verify(&issued.token).await.unwrap();
    assert_eq!(caller.kind, Kind::Key);
    assert_eq!(caller.roles, [Role::Admin]);
    let left = seconds_left(&app, &issued);
    assert!((1190..=1200).contains(&left), "{left} s");
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_wrong_secret_is_refused(pool: PgPool) {
    let app = start(pool).await;
    let mut auth = app.auth(None);
    for wrong in ["", "a", &format!("{SECRET} "), &SECRET.to_uppercase()] {
        let refused = auth.issue_service_token(service_token(wrong)).await;
        assert_eq!(code(refused), Code::Unauthenticated, "{wrong:?}");
    }
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_service_cannot_get_the_token_of_another(pool: PgPool) {
    let app = start(pool).await;
    for service in ["gateway", "wallet-svc", "identity-svc", "load", ""] {
        let request = IssueServiceTokenRequest {
            service: service.to_owned(),
            ..service_token(SECRET)
        };
        let refused = app.auth(None).issue_service_token(request).await;
        assert_eq!(code(refused), Code::Unauthenticated, "{service}");
    }
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn many_wrong_secrets_are_limited(pool: PgPool) {
    let app = start(pool).await;
    let mut auth = app.auth(None);
    let mut codes = Vec::new();
    for number in 0..20 {
        let guess = service_token(&format!("guess {number}"));
        codes.push(code(auth.issue_service_token(guess).await));
    }
    let limited = [[Code::Unauthenticated; 10], [Code::RateLimited; 10]].concat();
    assert_eq!(codes, limited);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn anonymous_callers_are_admins_in_open_mode_only(pool: PgPool) {
    let mut app = start(pool).await;
    let anonymous = || IssueAnonymousTokenRequest {};
    let mut auth = app.auth(Some(&gateway()));
    let refused = auth.issue_anonymous_token(anonymous()).await;
    assert_eq!(code(refused), Code::Forbidden);
    app.stop().await;
    app.start_process(&["--auth=open"]).await;
    let mut auth = app.auth(Some(&gateway()));
    let issued = auth.issue_anonymous_token(anonymous()).await.unwrap();
    let token = issued.into_inner().token;
    let caller = verifier(&app)
        .await
        .for_clients()
        .verify(&token)
        .await
        .unwrap();
    assert_eq!((caller.kind, caller.is_admin()), (Kind::Anonymous, true));
    for outsider in [admin(), user("u"), caller_of_orders()] {
        let mut auth = app.auth(Some(&outsider));
        let refused = auth.issue_anonymous_token(anonymous()).await;
        assert_eq!(code(refused), Code::Forbidden, "{outsider:?}");
    }
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn every_unusable_key_gets_the_same_error(pool: PgPool) {
    let app = start(pool).await;
    insert_key(
        &app.pool,
        "gk_expired",
        "now() - interval '1 second'",
        "null",
    )
    .await;
    insert_key(&app.pool, "gk_revoked", "null", "now()").await;
    insert_key(
        &app.pool,
        "gk_usable",
        "now() + interval '1 minute'",
        "null",
    )
    .await;
    let mut auth = app.auth(Some(&gateway()));
    for key in ["gk_expired", "gk_revoked", "gk_unknown", "", "gk_USABLE"] {
        let refused = error(auth.exchange_api_key(exchange(key)).await);
        assert_eq!(refused.fields, [], "{key}");
        assert_eq!(
            refused.to_string(),
            "unauthenticated: the credentials are not valid",
            "{key}"
        );
    }
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_token_does_not_outlive_its_key(pool: PgPool) {
    let app = start(pool).await;
    let in_half_a_minute = "now() + interval '30 seconds'";
    insert_key(&app.pool, "gk_usable", in_half_a_minute, "null").await;
    let left = seconds_left(&app, &token_of_key(&app, "gk_usable").await);
    assert!(left <= 30, "{left} s");
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_tool_calls_rpcs_with_its_api_key(pool: PgPool) {
    let app = start(pool).await;
    insert_key(&app.pool, "gk_of_a_user", "null", "null").await;
    let mut codes = Vec::new();
    for key in [API_KEY, "gk_of_a_user"] {
        let issued = app.auth(None).exchange_api_key(exchange(key)).await;
        let mut users = app.users_with(issued.unwrap().into_inner().token);
        codes.push((
            users
                .create_user(new_user(&format!("{key}@example.com")))
                .await
                .map_err(|s| s.code())
                .err(),
            users
                .list_users(ListUsersRequest::default())
                .await
                .map_err(|s| s.code())
                .err(),
        ));
    }
    let refused = Some(tonic::Code::PermissionDenied);
    assert_eq!(codes, [(None, None), (refused, refused)]);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn an_address_that_tries_keys_is_refused_and_the_gateway_is_not(pool: PgPool) {
    let app = start(pool).await;
    let mut codes = Vec::new();
    for number in 0..12 {
        let guess = exchange(&format!("gk_guess_{number}"));
        codes.push(code(app.auth(None).exchange_api_key(guess).await));
    }
    let limited = [&[Code::Unauthenticated; 10][..], &[Code::RateLimited; 2]].concat();
    assert_eq!(codes, limited);
    let right = app.auth(None).exchange_api_key(exchange(API_KEY)).await;
    assert_eq!(code(right), Code::RateLimited);
    // The gateway calls for many clients, and limits each of them itself.
    for number in 0..12 {
        let guess = exchange(&format!("gk_guess_{number}"));
        let refused = app.auth(Some(&gateway())).exchange_api_key(guess).await;
        assert_eq!(code(refused), Code::Unauthenticated);
    }
    token_of_key(&app, API_KEY).await;
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn the_bootstrap_key_follows_the_configuration(pool: PgPool) {
    let mut app = start(pool).await;
    let other = "gk_another_0123456789abcdef";
    for (configured, refused) in [
        (Some(other), API_KEY),
        (Some(API_KEY), other),
        (None, API_KEY),
        (Some(API_KEY), other),
    ] {
        app.stop().await;
        let flags = configured.map(|key| format!("--bootstrap-api-key={key}"));
        let flags: Vec<_> = flags.iter().map(String::as_str).collect();
        app.start_process(&flags).await;
        let mut auth = app.auth(Some(&gateway()));
        let unusable = auth.exchange_api_key(exchange(refused)).await;
        assert_eq!(code(unusable), Code::Unauthenticated, "{configured:?}");
        if let Some(key) = configured {
            token_of_key(&app, key).await;
        }
    }
    let keys = app.count("select count(*) from identity.api_keys").await;
    assert_eq!(keys, 1);
    app.finish().await;
}

fn caller_of_orders() -> Caller {
    caller(Kind::Service, "orders-svc", Role::Admin)
}

async fn insert_key(pool: &PgPool, key: &str, expires_at: &str, revoked_at: &str) {
    let sql = format!(
        "insert into identity.api_keys (id, name, key_hash, roles, expires_at, revoked_at, created_at)
         values (gen_random_uuid(), $1, sha256(convert_to($1, 'UTF8')), '{{user}}', {expires_at}, {revoked_at}, now())"
    );
    sqlx::query(sqlx::AssertSqlSafe(sql))
        .bind(key)
        .execute(pool)
        .await
        .unwrap();
}
