//! The saga between user and wallet: what happens when a step fails, or nobody takes the next.

use platform::{
    error::{Code, FieldCode},
    idempotency, testing,
};
use proto::identity::v1::{CreateUserRequest, GetUserRequest, ListUsersRequest, User};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::{
    bed::{Bed, SOON, code, keyed, new_user, refusal},
    wallet::{DEFAULT_WALLET, Mood},
};

const WALLET: &str = "b0000000-0000-7000-8000-000000000001";

fn adopting(email: &str, wallet_id: &str) -> CreateUserRequest {
    CreateUserRequest {
        primary_wallet_id: Some(wallet_id.to_owned()),
        ..new_user(email)
    }
}

/// All users, once there are this many.
async fn users(bed: &Bed, count: usize) -> Vec<User> {
    let mut found = Vec::new();
    testing::eventually("users are there", SOON, async || {
        let page = bed.users().list_users(ListUsersRequest::default()).await;
        found = page.unwrap().into_inner().users;
        found.len() == count
    })
    .await;
    found
}

/// Recovery need not wait for the request any more.
async fn give_up_waiting(bed: &Bed) {
    bed.execute("update identity.user_provisionings set due_at = now()")
        .await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_creation_without_wallet_is_finished_by_the_next_process(
    _: PgPoolOptions,
    server: PgConnectOptions,
) {
    finished_by_the_next_process(Bed::new(server).await, Mood::Away).await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_wallet_whose_answer_was_lost_is_not_made_twice(
    _: PgPoolOptions,
    server: PgConnectOptions,
) {
    finished_by_the_next_process(Bed::new(server).await, Mood::Forgetful).await;
}

async fn finished_by_the_next_process(mut bed: Bed, mood: Mood) {
    bed.wallet.is(mood);
    let create = || keyed(new_user("ann@x.com"), "k", "00");
    assert_eq!(
        code(bed.users().create_user(create()).await),
        Code::Unavailable
    );

    // Hidden, and yet its email is taken and its key in use.
    assert_eq!(users(&bed, 0).await, []);
    let hidden: String = sqlx::query_scalar("select id::text from identity.users")
        .fetch_one(&bed.pool)
        .await
        .unwrap();
    let read = bed.users().get_user(GetUserRequest { id: hidden }).await;
    assert_eq!(code(read), Code::UserNotFound);
    assert_eq!(
        code(bed.users().create_user(new_user("Ann@x.com")).await),
        Code::EmailTaken
    );
    assert_eq!(
        code(bed.users().create_user(create()).await),
        Code::IdempotencyKeyInUse
    );

    bed.stop().await;
    bed.wallet.is(Mood::Good);
    give_up_waiting(&bed).await;
    bed.start(&[]).await;
    let ann = users(&bed, 1).await.remove(0);
    assert_eq!(
        bed.wallet.wallet(&ann.primary_wallet_id).owner_id,
        Some(ann.id.clone())
    );
    assert_eq!(
        bed.wallet.count(),
        1,
        "one wallet, however often it was asked for"
    );
    let events = bed.events(&ann.id).await;
    assert_eq!((events.len(), &*events[0].0), (1, "UserCreated"));
    let replayed = bed.users().create_user(create()).await.unwrap();
    assert!(idempotency::is_replay(replayed.metadata()));
    assert_eq!(replayed.into_inner().user, Some(ann));
    bed.end().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_refusal_leaves_nothing(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    bed.wallet.is(Mood::Refusing);
    let create = || keyed(new_user("ann@x.com"), "k", "00");
    assert_eq!(
        code(bed.users().create_user(create()).await),
        Code::InvalidState
    );
    assert_eq!(bed.count("select count(*) from identity.users").await, 0);
    assert_eq!(
        bed.count("select count(*) from identity.credentials").await,
        0
    );
    assert_eq!(bed.count("select count(*) from identity.outbox").await, 0);
    bed.wallet.is(Mood::Good);
    assert!(
        bed.users().create_user(create()).await.is_ok(),
        "email and key are free again"
    );
    bed.end().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_wallet_without_owner_becomes_the_users(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    bed.wallet.has(WALLET, None);
    let ann = bed
        .users()
        .create_user(adopting("ann@x.com", WALLET))
        .await
        .unwrap();
    let ann = ann.into_inner().user.unwrap();
    assert_eq!(ann.primary_wallet_id, WALLET);
    assert_eq!(bed.wallet.wallet(WALLET).owner_id, Some(ann.id));
    assert_eq!(bed.wallet.count(), 1);
    let taken = bed.users().create_user(adopting("bob@x.com", WALLET)).await;
    assert_eq!(code(taken), Code::PrimaryWalletIdTaken);
    bed.user("bob@x.com").await;
    bed.end().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_wallet_that_is_not_to_be_had_is_refused(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let unknown = refusal(bed.users().create_user(adopting("ann@x.com", WALLET)).await);
    assert_eq!(unknown.code, Code::ValidationFailed);
    assert_eq!(&*unknown.fields[0].field, "primaryWalletId");
    assert_eq!(unknown.fields[0].code, FieldCode::UnknownReference);

    bed.wallet
        .has(WALLET, Some("c0000000-0000-7000-8000-000000000001"));
    bed.wallet.has(DEFAULT_WALLET, None);
    for taken in [WALLET, DEFAULT_WALLET] {
        let refused = bed.users().create_user(adopting("ann@x.com", taken)).await;
        assert_eq!(code(refused), Code::PrimaryWalletIdTaken);
    }
    assert_eq!(bed.wallet.wallet(DEFAULT_WALLET).owner_id, None);
    assert_eq!(bed.count("select count(*) from identity.users").await, 0);
    bed.end().await;
}
