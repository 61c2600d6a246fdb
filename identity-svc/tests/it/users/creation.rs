//! Creating users: the response, the event, refusals, idempotency and races.

use futures::future::join_all;
use platform::{error::Code, idempotency};
use prost::Message as _;
use proto::{
    events::v1::UserCreated,
    identity::v1::{CreateUserRequest, CreateUserResponse},
};
use sqlx::PgPool;
use tokio::task::JoinSet;
use tonic::{Request, Response, Status};

use super::{create, get};
use crate::harness::{TIMEOUT, TestApp, code, error, keyed, new_user};

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_created_user_has_a_wallet(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let new = CreateUserRequest {
        email: " Ann.B+x@Bücher.example ".to_owned(),
        name: Some("Ann".to_owned()),
        locale: Some("de".to_owned()),
        approved: true,
        custom_data: Some(r#"{"n":1.10}"#.to_owned()),
        ..new_user("")
    };
    let created = create(&app, new).await;
    insta::assert_debug_snapshot!(created, @r#"
    User {
        id: "018bcfe5-6800-710a-adec-89025cc10000",
        email: "Ann.B+x@xn--bcher-kva.example",
        name: Some(
            "Ann",
        ),
        phone: None,
        locale: Some(
            "de",
        ),
        roles: [
            "user",
        ],
        approved: true,
        blocked: false,
        verified: false,
        primary_wallet_id: "a0000000-0000-7000-8000-000000000000",
        referral_code: "R73VXRJ5MD",
        referral_user_id: None,
        custom_data: "{\"n\":1.10}",
        metadata: "{}",
        created_at: Some(
            Timestamp {
                seconds: 1769860800,
                nanos: 0,
            },
        ),
        updated_at: Some(
            Timestamp {
                seconds: 1769860800,
                nanos: 0,
            },
        ),
        version: 1,
    }
    "#);
    let wallet = app.wallet.wallet(&created.primary_wallet_id);
    assert_eq!(wallet.name.as_deref(), Some("Ann wallet"));
    assert_eq!(wallet.owner_id.as_ref(), Some(&created.id));

    let read = app.users().get_user(get(&created.id.to_uppercase())).await;
    assert_eq!(read.unwrap().into_inner().user, Some(created));
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_creation_is_published_with_its_flags(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let new = CreateUserRequest {
        approved: true,
        ..new_user("ann@x.com")
    };
    let created = create(&app, new).await;
    let events = app.events(&created.id).await;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].name, "UserCreated");
    assert_eq!(events[0].version, 1);
    insta::assert_debug_snapshot!(UserCreated::decode(&*events[0].body).unwrap(), @r#"
    UserCreated {
        user_id: "018bcfe5-6800-710a-adec-89025cc10000",
        version: 1,
        primary_wallet_id: "a0000000-0000-7000-8000-000000000000",
        referral_user_id: "",
        approved: true,
        blocked: false,
        verified: false,
    }
    "#);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn an_invalid_user_is_not_created_and_every_invalid_field_is_named(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let invalid = CreateUserRequest {
        email: "a@x.com\u{200b}".to_owned(),
        password: "abcdefg1".to_owned(),
        roles: vec!["emperor".to_owned()],
        primary_wallet_id: Some("w".to_owned()),
        ..CreateUserRequest::default()
    };
    let refused = error(app.users().create_user(invalid).await);
    assert_eq!(refused.code, Code::ValidationFailed);
    insta::assert_debug_snapshot!(refused.fields, @r#"
    [
        FieldError {
            field: "email",
            code: Format,
            message: "must be an email address",
        },
        FieldError {
            field: "password",
            code: Format,
            message: "must contain a capital letter (A-Z), a lower-case letter (a-z) and a digit (0-9)",
        },
        FieldError {
            field: "primaryWalletId",
            code: Format,
            message: "must be a UUID of 36 characters",
        },
        FieldError {
            field: "roles",
            code: Enum,
            message: "must be of: admin, user",
        },
    ]
    "#);
    assert_eq!(app.count("select count(*) from identity.users").await, 0);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn emails_are_unique_in_any_case(pool: PgPool) {
    let app = TestApp::start(pool).await;
    app.create_user("A@Example.com").await;
    for same in ["a@example.com", " A@EXAMPLE.COM\n"] {
        let refused = app.users().create_user(new_user(same)).await;
        assert_eq!(code(refused), Code::EmailTaken, "{same}");
    }
    app.create_user("bob+1@example.com").await;
    app.create_user("bob+2@example.com").await;
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn of_concurrent_creations_with_one_email_exactly_one_succeeds(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let racing = (0..20).map(|_| {
        let mut users = app.users();
        async move { users.create_user(new_user("race@x.com")).await }
    });
    let (created, refused): (Vec<_>, Vec<_>) =
        join_all(racing).await.into_iter().partition(Result::is_ok);
    assert_eq!(created.len(), 1);
    for refused in refused {
        assert_eq!(code(refused), Code::EmailTaken);
    }
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_creation_is_replayed_under_its_key(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let mut users = app.users();
    let request = || keyed(new_user("a@x.com"), "k", "00");
    let created = users.create_user(request()).await.unwrap();
    assert!(!idempotency::is_replay(created.metadata()));
    let replayed = users.create_user(request()).await.unwrap();
    assert!(idempotency::is_replay(replayed.metadata()));
    assert_eq!(replayed.into_inner(), created.into_inner());
    let other_body = keyed(new_user("b@x.com"), "k", "01");
    let refused = users.create_user(other_body).await;
    assert_eq!(code(refused), Code::IdempotencyKeyReused);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_refusal_is_not_recorded_under_its_key(pool: PgPool) {
    let app = TestApp::start(pool).await;
    app.create_user("a@x.com").await;
    let mut users = app.users();
    let taken = keyed(new_user("a@x.com"), "k", "00");
    assert_eq!(code(users.create_user(taken).await), Code::EmailTaken);
    let free = keyed(new_user("b@x.com"), "k", "01");
    assert!(users.create_user(free).await.is_ok());
    app.finish().await;
}

/// The sign-ups that may wait for a hash.
const MAX_WAITING: usize = 32;
/// Those beyond them.
const TOO_MANY: usize = 80;

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_rush_is_refused_early_and_replays_and_taken_emails_cost_no_hash(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let request = || keyed(new_user("a@x.com"), "k", "00");
    let created = app.users().create_user(request()).await.unwrap();
    // Nobody's turn comes, however fast the machine is.
    let held = app.hold_hashes().await;
    let size = held.num_permits() + MAX_WAITING + TOO_MANY;
    let mut rush: JoinSet<_> = (0..size).map(|number| sign_up(&app, number)).collect();
    for _ in 0..TOO_MANY {
        let refused = rush.join_next().await.unwrap().unwrap();
        assert_eq!(code(refused), Code::Unavailable);
    }
    let replayed = app.users().create_user(patient(request())).await.unwrap();
    assert!(idempotency::is_replay(replayed.metadata()));
    assert_eq!(replayed.into_inner(), created.into_inner());
    let taken = patient(Request::new(new_user("A@x.com")));
    let taken = app.users().create_user(taken).await;
    assert_eq!(code(taken), Code::EmailTaken);
    drop(held);
    let (mut made, mut refused) = (0, TOO_MANY);
    while let Some(response) = rush.join_next().await {
        match response.unwrap() {
            Ok(_) => made += 1,
            response => {
                assert_eq!(code(response), Code::Unavailable);
                refused += 1;
            }
        }
    }
    assert_eq!(made + refused, size);
    assert!(made > 0, "those who wait have their turn");
    // Nobody who was refused is a user.
    let users = app.count("select count(*) from identity.users").await;
    assert_eq!(usize::try_from(users).unwrap(), 1 + made);
    app.finish().await;
}

/// Signs up, and waits as long as it takes.
fn sign_up(
    app: &TestApp,
    number: usize,
) -> impl Future<Output = Result<Response<CreateUserResponse>, Status>> + use<> {
    let mut users = app.users();
    let request = patient(Request::new(new_user(&format!("u{number}@x.com"))));
    async move { users.create_user(request).await }
}

/// Gives a request more time than any machine needs.
fn patient<T>(mut request: Request<T>) -> Request<T> {
    request.set_timeout(TIMEOUT);
    request
}
