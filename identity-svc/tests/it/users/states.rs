//! Approving, blocking and unblocking users.

use platform::{error::Code, idempotency};
use prost::Message as _;
use proto::{
    events::v1::UserBlocked,
    identity::v1::{ApproveUserRequest, BlockUserRequest, UnblockUserRequest},
};
use sqlx::PgPool;

use super::{UNKNOWN, approve, block, get, unblock};
use crate::harness::{TestApp, code, error, keyed, new_user, published, user};

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn each_change_of_state_is_one_event_and_a_repeat_is_none(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.create_user("a@x.com").await.id;
    app.clock.advance(chrono::TimeDelta::seconds(1));
    let request = || ApproveUserRequest { id: id.clone() };
    let approved = approve(&app, request()).await;
    assert!(approved.approved);
    assert_ne!(approved.updated_at, approved.created_at);
    assert_eq!(approve(&app, request()).await, approved);
    for _ in 0..2 {
        assert!(block(&app, &id).await.blocked);
    }
    for _ in 0..2 {
        assert!(!unblock(&app, &id).await.blocked);
    }

    let events = app.events(&id).await;
    assert_eq!(
        published(&events),
        [
            "1 UserCreated",
            "2 UserApproved",
            "3 UserBlocked",
            "4 UserUnblocked",
        ]
    );
    let body = UserBlocked::decode(&*events[2].body).unwrap();
    assert_eq!(
        body,
        UserBlocked {
            user_id: id,
            version: 3,
        }
    );
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_replay_returns_the_user_as_it_was(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.create_user("a@x.com").await.id;
    let request = || keyed(ApproveUserRequest { id: id.clone() }, "k", "00");
    let approved = approve(&app, request()).await;
    block(&app, &id).await;
    let replayed = app.users().approve_user(request()).await.unwrap();
    assert!(idempotency::is_replay(replayed.metadata()));
    assert_eq!(replayed.into_inner().user, Some(approved));
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn only_admins_create_and_change_users(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let mut as_ann = app.users_as(&user(&ann.id));
    let id = || ann.id.clone();
    let refusals = [
        code(as_ann.create_user(new_user("c@x.com")).await),
        code(as_ann.approve_user(ApproveUserRequest { id: id() }).await),
        code(as_ann.block_user(BlockUserRequest { id: id() }).await),
        code(as_ann.unblock_user(UnblockUserRequest { id: id() }).await),
    ];
    assert_eq!(refusals, [Code::Forbidden; 4]);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn unknown_and_malformed_ids_are_not_found(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let mut users = app.users();
    for id in ["", "1", UNKNOWN] {
        let read = error(users.get_user(get(id)).await);
        assert_eq!(read.to_string(), "user_not_found: user not found", "{id}");
        let request = ApproveUserRequest { id: id.to_owned() };
        let approved = users.approve_user(request).await;
        assert_eq!(code(approved), Code::UserNotFound, "{id}");
    }
    app.finish().await;
}
