//! Tokens, and the credentials that buy them.

use platform::{
    auth::{Kind, Role, TokenVerifier},
    clock::Clock,
    error::Code,
};
use proto::identity::v1::{ExchangeApiKeyRequest, GetJwksRequest, IssueServiceTokenRequest};
use sqlx::{
    PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};

use crate::bed::{API_KEY, Bed, SECRET, admin, caller, code, refusal, user};

/// Tokens are checked by the machine's clock.
async fn bed(server: PgConnectOptions) -> Bed {
    Bed::with(server, Clock::system(), &["--bootstrap-api-key", API_KEY]).await
}

fn service(secret: &str) -> IssueServiceTokenRequest {
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

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn tokens_verify_against_the_served_keys(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = bed(server).await;
    let mut open = bed.auth(None);
    let jwks = open
        .get_jwks(GetJwksRequest {})
        .await
        .unwrap()
        .into_inner()
        .jwks_json;
    let verifier = TokenVerifier::fixed(&jwks).unwrap();

    let issued = open
        .issue_service_token(service(SECRET))
        .await
        .unwrap()
        .into_inner();
    let caller = verifier.verify(&issued.token).await.unwrap();
    assert_eq!(
        (caller.kind, &*caller.subject),
        (Kind::Service, "orders-svc")
    );

    let mut gateway = bed.auth(Some(&admin()));
    let issued = gateway
        .exchange_api_key(exchange(API_KEY))
        .await
        .unwrap()
        .into_inner();
    let caller = verifier.verify(&issued.token).await.unwrap();
    assert_eq!(
        (caller.kind, &*caller.roles),
        (Kind::Key, &[Role::Admin][..])
    );
    let left = issued.expires_at.unwrap().seconds - bed.clock.now().timestamp();
    assert!((50..=60).contains(&left), "{left} s");
    bed.end().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_wrong_secret_buys_nothing(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = bed(server).await;
    let mut open = bed.auth(None);
    for wrong in ["", "a", &format!("{SECRET} "), &SECRET.to_uppercase()] {
        let refused = open.issue_service_token(service(wrong)).await;
        assert_eq!(code(refused), Code::Unauthenticated);
    }
    let mut nameless = service(SECRET);
    nameless.service = "Orders\n".to_owned();
    assert_eq!(
        code(open.issue_service_token(nameless).await),
        Code::ValidationFailed
    );
    bed.end().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn every_key_that_cannot_be_used_gets_the_same_answer(
    _: PgPoolOptions,
    server: PgConnectOptions,
) {
    let bed = bed(server).await;
    insert_key(
        &bed.pool,
        "gk_expired",
        "now() - interval '1 second'",
        "null",
    )
    .await;
    insert_key(&bed.pool, "gk_revoked", "null", "now()").await;
    insert_key(
        &bed.pool,
        "gk_usable",
        "now() + interval '30 seconds'",
        "null",
    )
    .await;
    let mut gateway = bed.auth(Some(&admin()));
    let mut answers = Vec::new();
    for key in ["gk_expired", "gk_revoked", "gk_unknown", "", "gk_USABLE"] {
        let refused = refusal(gateway.exchange_api_key(exchange(key)).await);
        answers.push(format!("{refused} {:?}", refused.fields));
    }
    answers.dedup();
    assert_eq!(
        answers,
        ["unauthenticated: the credentials are not valid []"]
    );

    let issued = gateway
        .exchange_api_key(exchange("gk_usable"))
        .await
        .unwrap()
        .into_inner();
    let left = issued.expires_at.unwrap().seconds - bed.clock.now().timestamp();
    assert!(left <= 30, "a token outlives its key by {} s", left - 30);
    bed.end().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn only_processes_exchange_keys(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = bed(server).await;
    for outsider in [user("u"), caller(Kind::Key, "k", Role::Admin)] {
        let refused = bed
            .auth(Some(&outsider))
            .exchange_api_key(exchange(API_KEY))
            .await;
        assert_eq!(code(refused), Code::Forbidden);
    }
    let refused = bed.auth(None).exchange_api_key(exchange(API_KEY)).await;
    assert_eq!(code(refused), Code::Unauthenticated);
    bed.end().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn the_bootstrap_key_follows_the_configuration(_: PgPoolOptions, server: PgConnectOptions) {
    let mut bed = bed(server).await;
    let next = "gk_another_0123456789abcdef";
    for (flags, good, bad) in [
        (&["--bootstrap-api-key", next][..], Some(next), API_KEY),
        (&["--bootstrap-api-key", API_KEY], Some(API_KEY), next),
        (&[], None, API_KEY),
        (&["--bootstrap-api-key", API_KEY], Some(API_KEY), next),
    ] {
        bed.stop().await;
        bed.start(flags).await;
        let mut gateway = bed.auth(Some(&admin()));
        assert_eq!(
            code(gateway.exchange_api_key(exchange(bad)).await),
            Code::Unauthenticated
        );
        if let Some(good) = good {
            assert!(gateway.exchange_api_key(exchange(good)).await.is_ok());
        }
    }
    assert_eq!(bed.count("select count(*) from identity.api_keys").await, 1);
    bed.end().await;
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
