//! The provisioning saga: failing steps, and recovery by a worker.

use platform::{
    error::{Code, FieldCode},
    idempotency, testing,
};
use proto::identity::v1::{CreateUserRequest, GetUserRequest, ListUsersRequest, User};
use sqlx::PgPool;

use crate::{
    fake_wallet::{DEFAULT_WALLET, Fault},
    harness::{TIMEOUT, TestApp, code, error, keyed, new_user},
};

const WALLET: &str = "b0000000-0000-7000-8000-000000000001";
const OTHER_USER: &str = "c0000000-0000-7000-8000-000000000001";

fn adopting(email: &str, wallet_id: &str) -> CreateUserRequest {
    CreateUserRequest {
        primary_wallet_id: Some(wallet_id.to_owned()),
        ..new_user(email)
    }
}

async fn list(app: &TestApp) -> Vec<User> {
    let page = app.users().list_users(ListUsersRequest::default()).await;
    page.unwrap().into_inner().users
}

/// Waits for the only user.
async fn created_user(app: &TestApp) -> User {
    let mut users = Vec::new();
    testing::eventually("the user is created", TIMEOUT, async || {
        users = list(app).await;
        !users.is_empty()
    })
    .await;
    assert_eq!(users.len(), 1);
    users.remove(0)
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn an_unfinished_creation_is_hidden_and_keeps_its_email_and_key(pool: PgPool) {
    let app = TestApp::start(pool).await;
    app.wallet.set_fault(Some(Fault::Unavailable));
    let create = || keyed(new_user("ann@x.com"), "k", "00");
    let unfinished = app.users().create_user(create()).await;
    assert_eq!(code(unfinished), Code::Unavailable);

    assert_eq!(list(&app).await, []);
    let id: String = sqlx::query_scalar("select id::text from identity.users")
        .fetch_one(&app.pool)
        .await
        .unwrap();
    let hidden = app.users().get_user(GetUserRequest { id }).await;
    assert_eq!(code(hidden), Code::UserNotFound);
    let same_email = app.users().create_user(new_user("Ann@x.com")).await;
    assert_eq!(code(same_email), Code::EmailTaken);
    let same_key = app.users().create_user(create()).await;
    assert_eq!(code(same_key), Code::IdempotencyKeyInUse);

    app.wallet.set_fault(None);
    created_user(&app).await;
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_creation_without_wallet_is_finished_by_the_next_process(pool: PgPool) {
    assert_finished_by_the_next_process(TestApp::start(pool).await, Fault::Unavailable).await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_wallet_whose_response_was_lost_is_not_created_twice(pool: PgPool) {
    assert_finished_by_the_next_process(TestApp::start(pool).await, Fault::ResponseLost).await;
}

async fn assert_finished_by_the_next_process(mut app: TestApp, fault: Fault) {
    app.wallet.set_fault(Some(fault));
    let create = || keyed(new_user("ann@x.com"), "k", "00");
    let unfinished = app.users().create_user(create()).await;
    assert_eq!(code(unfinished), Code::Unavailable);

    app.stop().await;
    app.wallet.set_fault(None);
    app.execute("update identity.user_provisionings set due_at = now()")
        .await;
    app.start_process(&[]).await;
    let ann = created_user(&app).await;
    let wallet = app.wallet.wallet(&ann.primary_wallet_id);
    assert_eq!(wallet.owner_id.as_ref(), Some(&ann.id));
    assert_eq!(app.wallet.count(), 1);
    let events = app.events(&ann.id).await;
    let names: Vec<_> = events.iter().map(|event| &*event.name).collect();
    assert_eq!(names, ["UserCreated"]);

    let replayed = app.users().create_user(create()).await.unwrap();
    assert!(idempotency::is_replay(replayed.metadata()));
    assert_eq!(replayed.into_inner().user, Some(ann));
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_creation_of_unknown_outcome_is_due_immediately(pool: PgPool) {
    let mut app = TestApp::start(pool).await;
    app.wallet.set_fault(Some(Fault::ResponseLost));
    let unfinished = app.users().create_user(new_user("ann@x.com")).await;
    assert_eq!(code(unfinished), Code::Unavailable);
    app.stop().await;
    let given_back = "select count(*) from identity.user_provisionings
                      where attempts > 0 or due_at <= now()";
    assert_eq!(app.count(given_back).await, 1);

    app.wallet.set_fault(None);
    app.start_process(&[]).await;
    created_user(&app).await;
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_refused_creation_leaves_nothing(pool: PgPool) {
    let app = TestApp::start(pool).await;
    app.wallet.set_fault(Some(Fault::Refused));
    let create = || keyed(new_user("ann@x.com"), "k", "00");
    let refused = app.users().create_user(create()).await;
    assert_eq!(code(refused), Code::InvalidState);
    for rows in [
        "select count(*) from identity.users",
        "select count(*) from identity.credentials",
        "select count(*) from identity.outbox",
    ] {
        assert_eq!(app.count(rows).await, 0, "{rows}");
    }
    app.wallet.set_fault(None);
    let created = app.users().create_user(create()).await;
    assert!(created.is_ok(), "email and key are free again");
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_wallet_without_owner_becomes_the_users(pool: PgPool) {
    let app = TestApp::start(pool).await;
    app.wallet.add_wallet(WALLET, None);
    let created = app.users().create_user(adopting("ann@x.com", WALLET)).await;
    let ann = created.unwrap().into_inner().user.unwrap();
    assert_eq!(ann.primary_wallet_id, WALLET);
    assert_eq!(app.wallet.wallet(WALLET).owner_id, Some(ann.id));
    assert_eq!(app.wallet.count(), 1);
    let taken = app.users().create_user(adopting("bob@x.com", WALLET)).await;
    assert_eq!(code(taken), Code::PrimaryWalletIdTaken);
    app.create_user("bob@x.com").await;
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn an_unknown_wallet_is_refused(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let unknown = error(app.users().create_user(adopting("ann@x.com", WALLET)).await);
    assert_eq!(unknown.code, Code::ValidationFailed);
    assert_eq!(unknown.fields[0].field, "primaryWalletId");
    assert_eq!(unknown.fields[0].code, FieldCode::UnknownReference);
    assert_eq!(app.count("select count(*) from identity.users").await, 0);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn wallets_of_others_and_the_default_wallet_are_refused(pool: PgPool) {
    let app = TestApp::start(pool).await;
    app.wallet.add_wallet(WALLET, Some(OTHER_USER));
    app.wallet.add_wallet(DEFAULT_WALLET, None);
    for wallet in [WALLET, DEFAULT_WALLET] {
        let refused = app.users().create_user(adopting("ann@x.com", wallet)).await;
        assert_eq!(code(refused), Code::PrimaryWalletIdTaken, "{wallet}");
    }
    assert_eq!(app.wallet.wallet(DEFAULT_WALLET).owner_id, None);
    assert_eq!(app.count("select count(*) from identity.users").await, 0);
    app.finish().await;
}
