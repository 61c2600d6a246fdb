//! Logins, refresh tokens and their families.

use platform::{
    auth::{Kind, TokenVerifier},
    clock::Clock,
    error::Code,
};
use proto::identity::v1::{
    ApproveUserRequest, BlockUserRequest, GetJwksRequest, LogInRequest, LogInResponse,
    RefreshTokenRequest, RefreshTokenResponse, RevokeRefreshTokenRequest, UnblockUserRequest, User,
    UserTokens, ValidateTokenRequest, ValidateTokenResponse,
};
use sqlx::PgPool;
use tonic::{Response, Status};

use crate::{
    harness::{TestApp, admin, code, error, gateway, issue_token, new_user, user},
    races::{ROUNDS, one_of_many},
};

const EMAIL: &str = "Ann@example.com";
const PASSWORD: &str = "Abcdefg1";

/// Starts a service with the system's clock, by which tokens are verified.
async fn start(pool: PgPool) -> TestApp {
    TestApp::start_with(pool, Clock::system(), &[]).await
}

/// Starts a service with a user who may log in.
async fn start_with_user(pool: PgPool) -> (TestApp, User) {
    let app = start(pool).await;
    let user = app.create_user(EMAIL).await;
    approve(&app, &user).await;
    (app, user)
}

async fn approve(app: &TestApp, user: &User) {
    let request = ApproveUserRequest {
        id: user.id.clone(),
    };
    app.users().approve_user(request).await.unwrap();
}

async fn block(app: &TestApp, user: &User) {
    let request = BlockUserRequest {
        id: user.id.clone(),
    };
    app.users().block_user(request).await.unwrap();
}

async fn log_in_from(
    app: &TestApp,
    address: &str,
    email: &str,
    password: &str,
) -> Result<Response<LogInResponse>, Status> {
    let request = LogInRequest {
        email: email.to_owned(),
        password: password.to_owned(),
        client_address: address.to_owned(),
    };
    app.auth(Some(&gateway())).log_in(request).await
}

async fn log_in(
    app: &TestApp,
    email: &str,
    password: &str,
) -> Result<Response<LogInResponse>, Status> {
    log_in_from(app, "203.0.113.7", email, password).await
}

async fn tokens(app: &TestApp) -> UserTokens {
    let response = log_in(app, EMAIL, PASSWORD).await.unwrap();
    response.into_inner().tokens.unwrap()
}

async fn refresh(app: &TestApp, token: &str) -> Result<Response<RefreshTokenResponse>, Status> {
    let request = RefreshTokenRequest {
        refresh_token: token.to_owned(),
    };
    app.auth(Some(&gateway())).refresh_token(request).await
}

async fn refreshed(app: &TestApp, token: &str) -> UserTokens {
    let response = refresh(app, token).await.unwrap();
    response.into_inner().tokens.unwrap()
}

async fn revoke(app: &TestApp, token: &str) {
    let request = RevokeRefreshTokenRequest {
        refresh_token: token.to_owned(),
    };
    let mut auth = app.auth(Some(&gateway()));
    auth.revoke_refresh_token(request).await.unwrap();
}

async fn validate(app: &TestApp, token: &str) -> Result<Response<ValidateTokenResponse>, Status> {
    let request = ValidateTokenRequest {
        access_token: token.to_owned(),
    };
    app.auth(Some(&gateway())).validate_token(request).await
}

async fn families(app: &TestApp) -> i64 {
    app.count("select count(*) from identity.refresh_tokens")
        .await
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_login_issues_tokens_of_the_user(pool: PgPool) {
    let (app, user) = start_with_user(pool).await;
    for email in [EMAIL, " ann@EXAMPLE.com "] {
        let tokens = log_in(&app, email, PASSWORD).await.unwrap();
        let tokens = tokens.into_inner().tokens.unwrap();
        assert_eq!(tokens.roles, ["user"]);
        assert_eq!(tokens.expires_in_seconds, 600);
        assert!(tokens.refresh_token.starts_with("grt_"));
        let jwks = app.auth(None).get_jwks(GetJwksRequest {}).await.unwrap();
        let verifier = TokenVerifier::fixed(&jwks.into_inner().jwks_json).unwrap();
        let caller = verifier.verify(&tokens.access_token).await.unwrap();
        assert_eq!((caller.kind, &caller.subject), (Kind::User, &user.id));
        let valid = validate(&app, &tokens.access_token).await.unwrap();
        assert_eq!(valid.into_inner().user.unwrap().id, user.id);
    }
    assert_eq!(families(&app).await, 2);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn whoever_may_not_log_in_gets_the_same_error(pool: PgPool) {
    let (app, _) = start_with_user(pool).await;
    app.create_user("unapproved@example.com").await;
    let blocked = app.create_user("blocked@example.com").await;
    approve(&app, &blocked).await;
    block(&app, &blocked).await;
    for (email, password) in [
        (EMAIL, "Abcdefg2"),
        (EMAIL, ""),
        (EMAIL, &*"Aa1".repeat(100)),
        (EMAIL, "Abcdefg1 "),
        ("unknown@example.com", PASSWORD),
        ("unapproved@example.com", PASSWORD),
        ("blocked@example.com", PASSWORD),
        ("no email", PASSWORD),
        ("", PASSWORD),
        ("a\0@example.com", PASSWORD),
    ] {
        // From an address each: what is limited is another test's.
        let address = format!("2001:db8:{:x}::1", email.len() * 300 + password.len());
        let refused = error(log_in_from(&app, &address, email, password).await);
        assert_eq!(
            refused.to_string(),
            "unauthenticated: the credentials are not valid",
            "{email} {password}"
        );
    }
    assert_eq!(families(&app).await, 0);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn only_the_gateway_may_log_users_in(pool: PgPool) {
    let app = start(pool).await;
    for caller in [admin(), user("u")] {
        let mut auth = app.auth(Some(&caller));
        let refused = auth.log_in(LogInRequest::default()).await;
        assert_eq!(code(refused), Code::Forbidden);
        let refused = auth.refresh_token(RefreshTokenRequest::default()).await;
        assert_eq!(code(refused), Code::Forbidden);
    }
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn wrong_passwords_are_limited_for_their_address_only(pool: PgPool) {
    let (app, _) = start_with_user(pool).await;
    let mut codes = Vec::new();
    for _ in 0..8 {
        codes.push(code(log_in(&app, EMAIL, "Wrong1word").await));
    }
    let limited = [&[Code::Unauthenticated; 5][..], &[Code::RateLimited; 3]].concat();
    assert_eq!(codes, limited);
    let right = error(log_in(&app, EMAIL, PASSWORD).await);
    assert_eq!(right.code, Code::RateLimited);
    assert!(right.retry_after.is_some());
    log_in_from(&app, "203.0.113.8", EMAIL, PASSWORD)
        .await
        .expect("the owner logs in from another address");
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_refresh_token_works_once_and_leads_to_the_next(pool: PgPool) {
    let (app, _) = start_with_user(pool).await;
    let first = tokens(&app).await;
    let second = refreshed(&app, &first.refresh_token).await;
    let third = refreshed(&app, &second.refresh_token).await;
    assert_ne!(second.refresh_token, third.refresh_token);
    assert_eq!(families(&app).await, 1);
    validate(&app, &third.access_token).await.unwrap();
    // The first one again: it was copied, so the newest works no more either.
    let reused = refresh(&app, &first.refresh_token).await;
    assert_eq!(code(reused), Code::Unauthenticated);
    let newest = refresh(&app, &third.refresh_token).await;
    assert_eq!(code(newest), Code::Unauthenticated);
    assert_eq!(families(&app).await, 0);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn the_reuse_of_a_token_ends_its_own_family_only(pool: PgPool) {
    let (app, _) = start_with_user(pool).await;
    let (phone, desktop) = (tokens(&app).await, tokens(&app).await);
    refreshed(&app, &phone.refresh_token).await;
    let reused = refresh(&app, &phone.refresh_token).await;
    assert_eq!(code(reused), Code::Unauthenticated);
    refreshed(&app, &desktop.refresh_token).await;
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn of_50_parallel_uses_of_a_token_one_succeeds_and_the_family_ends(pool: PgPool) {
    let (app, _) = start_with_user(pool).await;
    for _ in 0..ROUNDS {
        let token = tokens(&app).await.refresh_token;
        let won = one_of_many(|_| refresh(&app, &token), Code::Unauthenticated).await;
        let newest = won.tokens.unwrap().refresh_token;
        assert_eq!(code(refresh(&app, &newest).await), Code::Unauthenticated);
        assert_eq!(families(&app).await, 0);
    }
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn unknown_and_expired_refresh_tokens_are_refused(pool: PgPool) {
    let (app, _) = start_with_user(pool).await;
    for unknown in ["", "grt_", "grt_AAAA", &format!("grt_{}", "A".repeat(64))] {
        assert_eq!(code(refresh(&app, unknown).await), Code::Unauthenticated);
        revoke(&app, unknown).await;
    }
    let token = tokens(&app).await.refresh_token;
    app.execute("update identity.refresh_tokens set expires_at = now() - interval '1 second'")
        .await;
    assert_eq!(code(refresh(&app, &token).await), Code::Unauthenticated);
    assert_eq!(families(&app).await, 0);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_user_who_logs_out_or_is_blocked_gets_no_new_tokens(pool: PgPool) {
    let (app, user) = start_with_user(pool).await;
    let first = tokens(&app).await;
    let second = refreshed(&app, &first.refresh_token).await;
    revoke(&app, &first.refresh_token).await;
    let ended = refresh(&app, &second.refresh_token).await;
    assert_eq!(code(ended), Code::Unauthenticated);

    let tokens = tokens(&app).await;
    block(&app, &user).await;
    let blocked = refresh(&app, &tokens.refresh_token).await;
    assert_eq!(code(blocked), Code::Unauthenticated);
    let blocked = validate(&app, &tokens.access_token).await;
    assert_eq!(code(blocked), Code::Unauthenticated);
    let request = UnblockUserRequest { id: user.id };
    app.users().unblock_user(request).await.unwrap();
    log_in(&app, EMAIL, PASSWORD).await.unwrap();
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn only_tokens_of_users_are_validated(pool: PgPool) {
    let (app, _) = start_with_user(pool).await;
    let tokens = tokens(&app).await;
    let keyless = tokens.access_token.rsplit_once('.').unwrap().0;
    let strangers = issue_token(&user("01920000-0000-7000-8000-0000000000ff"));
    for token in [
        "",
        "a.b.c",
        keyless,
        &tokens.refresh_token,
        &issue_token(&admin()),
        &issue_token(&gateway()),
        &strangers,
    ] {
        let refused = validate(&app, token).await;
        assert_eq!(code(refused), Code::Unauthenticated, "{token}");
    }
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_hash_is_made_again_when_its_cost_has_grown(pool: PgPool) {
    let (mut app, _) = start_with_user(pool).await;
    let parameters = "select count(*) from identity.credentials
                      where password_hash like '$argon2id$v=19$m=19456,t=3,p=1$%'";
    assert_eq!(app.count(parameters).await, 0);
    app.stop().await;
    app.start_process(&["--password-hash-passes=3"]).await;
    for _ in 0..2 {
        log_in(&app, EMAIL, PASSWORD).await.unwrap();
        assert_eq!(app.count(parameters).await, 1);
    }
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_megabyte_of_password_is_refused(pool: PgPool) {
    let (app, _) = start_with_user(pool).await;
    let megabyte = "Aa1".repeat(1 << 18);
    let mut request = new_user("big@example.com");
    request.password.clone_from(&megabyte);
    let mut users = app.users();
    let refused = error(users.create_user(request).await);
    assert_eq!(refused.fields[0].field, "password");
    let refused = log_in(&app, EMAIL, &megabyte).await;
    assert_eq!(code(refused), Code::Unauthenticated);
    app.finish().await;
}
