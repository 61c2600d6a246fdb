//! The stream of revocations: snapshot, changes, heartbeats, replicas, and a database that is away.

use std::time::Duration;

use platform::{error::Code, pg, testing::eventually};
use proto::identity::v1::{
    BlockUserRequest, GetUserRequest, Revocation, WatchRequest, WatchResponse, revocation::Subject,
};
use sqlx::PgPool;
use tokio::time::{Instant, timeout};
use tonic::{Request, Streaming};

use crate::harness::{TIMEOUT, TestApp, admin, code, gateway, issue_token, user};

/// Longer than a process waits between two messages.
const SILENCE: Duration = Duration::from_millis(2_500);

async fn watch(app: &TestApp) -> Streaming<WatchResponse> {
    let opened = app.revocations_as(&gateway()).watch(WatchRequest {}).await;
    opened.unwrap().into_inner()
}

async fn next(stream: &mut Streaming<WatchResponse>) -> Vec<Revocation> {
    let message = timeout(TIMEOUT, stream.message()).await.unwrap();
    message.unwrap().unwrap().revocations
}

/// Reads messages until one has revocations.
async fn next_change(stream: &mut Streaming<WatchResponse>) -> Vec<Revocation> {
    loop {
        let revocations = next(stream).await;
        if !revocations.is_empty() {
            return revocations;
        }
    }
}

async fn block(app: &TestApp, id: &str) {
    let request = BlockUserRequest { id: id.to_owned() };
    app.users().block_user(request).await.unwrap();
}

fn of_user(id: &str, min_version: i32) -> Revocation {
    Revocation {
        subject: Some(Subject::UserId(id.to_owned())),
        min_version,
    }
}

/// Reads a user with its own token, and returns the code.
async fn read_itself(app: &TestApp, id: &str) -> tonic::Code {
    let mut request = Request::new(GetUserRequest { id: id.to_owned() });
    let token = format!("Bearer {}", issue_token(&user(id)));
    let metadata = request.metadata_mut();
    metadata.insert("authorization", token.parse().unwrap());
    let response = app.users().get_user(request).await;
    response.map_or_else(|status| status.code(), |_| tonic::Code::Ok)
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_stream_begins_with_a_snapshot_and_goes_on_with_changes(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@example.com").await.id;
    let bob = app.create_user("bob@example.com").await.id;
    block(&app, &ann).await;
    let mut stream = watch(&app).await;
    assert_eq!(next(&mut stream).await, [of_user(&ann, 1)]);

    block(&app, &bob).await;
    assert_eq!(next_change(&mut stream).await, [of_user(&bob, 1)]);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_message_is_sent_every_second(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let mut stream = watch(&app).await;
    assert_eq!(next(&mut stream).await, []);
    let started = Instant::now();
    for _ in 0..3 {
        assert_eq!(next(&mut stream).await, []);
    }
    let elapsed = started.elapsed();
    assert!(elapsed < Duration::from_secs(5), "{elapsed:?}");
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn replicas_learn_of_each_others_changes(pool: PgPool) {
    let one = TestApp::start(pool.clone()).await;
    let other = TestApp::start(pool).await;
    let id = one.create_user("ann@example.com").await.id;
    let mut stream = watch(&other).await;
    assert_eq!(next(&mut stream).await, []);
    for app in [&one, &other] {
        assert_eq!(read_itself(app, &id).await, tonic::Code::Ok);
    }

    block(&one, &id).await;
    assert_eq!(next_change(&mut stream).await, [of_user(&id, 1)]);
    for app in [&one, &other] {
        eventually("the token is refused", TIMEOUT, async || {
            read_itself(app, &id).await == tonic::Code::Unauthenticated
        })
        .await;
    }
    one.finish().await;
    other.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn nothing_is_sent_while_the_database_cannot_be_read(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.create_user("ann@example.com").await.id;
    let mut stream = watch(&app).await;
    next(&mut stream).await;
    let mut lock = pg::tx(&app.pool).await.unwrap();
    sqlx::query("lock table identity.revocations in access exclusive mode")
        .execute(&mut *lock)
        .await
        .unwrap();
    // Messages of reads before the lock may be on their way.
    let silent = async { while timeout(SILENCE, stream.message()).await.is_ok() {} };
    timeout(TIMEOUT, silent).await.unwrap();

    lock.rollback().await.unwrap();
    block(&app, &id).await;
    assert_eq!(next_change(&mut stream).await, [of_user(&id, 1)]);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_lost_connection_is_opened_again(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.create_user("ann@example.com").await.id;
    let mut stream = watch(&app).await;
    next(&mut stream).await;
    let sql = "select count(pg_terminate_backend(pid)) from pg_stat_activity
               where datname = current_database() and pid <> pg_backend_pid()
                   and application_name = 'identity-svc'";
    assert!(app.count(sql).await > 0);
    eventually("the user is blocked", TIMEOUT, async || {
        let request = BlockUserRequest { id: id.clone() };
        app.users().block_user(request).await.is_ok()
    })
    .await;
    assert_eq!(next_change(&mut stream).await, [of_user(&id, 1)]);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn expired_revocations_are_deleted(pool: PgPool) {
    let insert =
        "insert into identity.revocations (subject_kind, subject_id, min_version, created_at)
                  values ('user', gen_random_uuid(), 1, now() - interval '1 day')";
    sqlx::query(insert).execute(&pool).await.unwrap();
    let app = TestApp::start(pool).await;
    let mut stream = watch(&app).await;
    assert_eq!(next(&mut stream).await, []);
    let count = "select count(*) from identity.revocations";
    eventually("deleted", TIMEOUT, async || app.count(count).await == 0).await;
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn only_services_watch(pool: PgPool) {
    let app = TestApp::start(pool).await;
    for client in [admin(), user("u")] {
        let refused = app.revocations_as(&client).watch(WatchRequest {}).await;
        assert_eq!(code(refused), Code::Forbidden, "{client:?}");
    }
    app.finish().await;
}
