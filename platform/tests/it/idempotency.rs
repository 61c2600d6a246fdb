//! Idempotency keys: one effect per key, also for concurrent requests.

use std::time::Duration;

use futures::future::join_all;
use platform::{
    auth::{Caller, Kind},
    error::{Code, Failure},
    idempotency::{
        self, Begin, Columns, HASH, KEY, Key, PATH, Reply, Started, begin_all_in_tx, begin_in_tx,
        complete_all_in_tx, complete_in_tx, find_in_tx, forget_in_tx,
    },
    pg,
};
use prost_types::Timestamp;
use sqlx::{
    PgConnection,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use tonic::metadata::MetadataMap;

use crate::harness::Harness;

fn key(text: &str, hash: &str) -> Key {
    let mut metadata = MetadataMap::new();
    for (name, value) in [(KEY, text), (PATH, "POST /things"), (HASH, hash)] {
        metadata.insert(name, value.parse().unwrap());
    }
    let caller = Caller {
        kind: Kind::User,
        subject: "somebody".to_owned(),
        roles: Vec::new(),
    };
    Key::read(&metadata, &caller).unwrap().unwrap()
}

fn resource(seconds: i64) -> Timestamp {
    Timestamp { seconds, nanos: 0 }
}

async fn harness(options: PgConnectOptions) -> Harness {
    let harness = Harness::new(options).await;
    harness
        .execute("create table :schema.effects (n bigint)")
        .await;
    harness
}

async fn effect_in_tx(
    harness: &Harness,
    conn: &mut PgConnection,
    n: i64,
) -> Result<Timestamp, Failure> {
    let sql = format!("insert into {}.effects values ($1)", harness.schema.name());
    sqlx::query(sqlx::AssertSqlSafe(sql))
        .bind(n)
        .execute(conn)
        .await?;
    if n < 0 {
        Err(Failure::new(Code::InsufficientFunds, "refused by the test"))
    } else {
        Ok(resource(n))
    }
}

async fn call(harness: &Harness, key: Option<&Key>, n: i64) -> Result<Reply<Timestamp>, Failure> {
    let mut work = match idempotency::start(&harness.pool, harness.schema, key).await? {
        Started::Replay(reply) => return Ok(reply),
        Started::Fresh(work) => work,
    };
    let resource = effect_in_tx(harness, &mut work, n).await?;
    Ok(work.commit(resource).await?)
}

async fn effects(harness: &Harness) -> i64 {
    harness.count("select count(*) from :schema.effects").await
}

/// Checks that a future is `Send`, as a handler's must be.
fn assert_send<T: Send>(value: T) -> T {
    value
}

#[sqlx::test(migrations = false)]
async fn concurrent_requests_with_one_key_have_one_effect(
    _: PgPoolOptions,
    options: PgConnectOptions,
) {
    let harness = harness(options).await;
    let key = key("same", "00");
    let (harness, key) = (&harness, &key);
    let calls = (1..=100)
        .map(|n| assert_send(pg::retry_serialization(move || call(harness, Some(key), n))));
    let results = join_all(calls).await;
    assert_eq!(effects(harness).await, 1);
    let effect = harness.count("select n from :schema.effects").await;
    let fresh = results
        .iter()
        .flatten()
        .filter(|reply| !reply.replayed)
        .count();
    assert_eq!(fresh, 1);
    for result in results {
        match result {
            Ok(reply) => assert_eq!(reply.message, resource(effect)),
            Err(failure) => assert!(
                matches!(failure.code, Code::IdempotencyKeyInUse | Code::Unavailable),
                "{failure}"
            ),
        }
    }
}

#[sqlx::test(migrations = false)]
async fn a_key_with_another_body_is_refused(_: PgPoolOptions, options: PgConnectOptions) {
    let harness = harness(options).await;
    for round in 0..100 {
        let (one, other) = (key(&round.to_string(), "00"), key(&round.to_string(), "01"));
        let (one, other) = tokio::join!(
            call(&harness, Some(&one), 1),
            call(&harness, Some(&other), 2)
        );
        let refused = match (one, other) {
            (Ok(_), Err(refused)) | (Err(refused), Ok(_)) => refused,
            both => panic!("{both:?}"),
        };
        assert_eq!(refused.code, Code::IdempotencyKeyReused);
        assert_eq!(effects(&harness).await, round + 1);
    }
}

/// The last step of a request before its process dies.
#[derive(Debug, Clone, Copy)]
enum Last {
    KeyStored,
    EffectMade,
    ReplyRecorded,
    Committed,
}

/// Makes a request up to a step. The database sees what a process that dies leaves: its connection ends.
async fn call_until(harness: &Harness, key: &Key, n: i64, last: Last) {
    let mut tx = pg::tx(&harness.pool).await.unwrap();
    let begun = begin_in_tx(&mut tx, harness.schema, key).await.unwrap();
    assert_eq!(begun, Begin::Fresh);
    if matches!(last, Last::KeyStored) {
        return end_connection(&mut tx).await;
    }
    let reply = effect_in_tx(harness, &mut tx, n).await.unwrap();
    if matches!(last, Last::EffectMade) {
        return end_connection(&mut tx).await;
    }
    complete_in_tx(&mut tx, harness.schema, key.scope(), &reply)
        .await
        .unwrap();
    if matches!(last, Last::ReplyRecorded) {
        return end_connection(&mut tx).await;
    }
    // The reply is lost on its way.
    tx.commit().await.unwrap();
}

async fn end_connection(conn: &mut PgConnection) {
    let ended = sqlx::query("select pg_terminate_backend(pg_backend_pid())");
    assert!(ended.execute(conn).await.is_err());
}

#[sqlx::test(migrations = false)]
async fn a_crash_at_any_step_leaves_one_effect_for_whoever_repeats(
    _: PgPoolOptions,
    options: PgConnectOptions,
) {
    let harness = harness(options).await;
    let mut requests = 0;
    for last in [
        Last::KeyStored,
        Last::EffectMade,
        Last::ReplyRecorded,
        Last::Committed,
    ] {
        for _ in 0..50 {
            requests += 1;
            let key = key(&requests.to_string(), "00");
            call_until(&harness, &key, requests, last).await;
            let is_made = matches!(last, Last::Committed);
            assert_eq!(effects(&harness).await, requests - i64::from(!is_made));
            for replayed in [is_made, true] {
                let message = resource(requests);
                let reply = call(&harness, Some(&key), requests).await.unwrap();
                assert_eq!(reply, Reply { message, replayed }, "{last:?}");
            }
            assert_eq!(effects(&harness).await, requests);
        }
    }
}

#[sqlx::test(migrations = false)]
async fn a_refused_request_may_be_sent_again(_: PgPoolOptions, options: PgConnectOptions) {
    let harness = harness(options).await;
    let key = key("k", "00");
    let refused = call(&harness, Some(&key), -1).await.unwrap_err();
    assert_eq!(refused.code, Code::InsufficientFunds);
    assert_eq!(effects(&harness).await, 0);
    assert!(!call(&harness, Some(&key), 1).await.unwrap().replayed);
    let replayed = call(&harness, Some(&key), 2).await.unwrap();
    assert_eq!(
        replayed,
        Reply {
            message: resource(1),
            replayed: true
        }
    );
    let response = replayed.into_response();
    assert!(idempotency::is_replay(response.metadata()));
    call(&harness, None, 3).await.unwrap();
    assert!(!idempotency::is_replay(
        call(&harness, None, 3)
            .await
            .unwrap()
            .into_response()
            .metadata()
    ));
    assert_eq!(effects(&harness).await, 3);
}

#[sqlx::test(migrations = false)]
async fn a_key_expires_after_a_day(_: PgPoolOptions, options: PgConnectOptions) {
    let harness = harness(options).await;
    let key = key("k", "00");
    call(&harness, Some(&key), 1).await.unwrap();
    harness
        .execute("update :schema.idempotency_keys set created_at = now() - interval '25 hours'")
        .await;
    let again = call(&harness, Some(&key), 2).await.unwrap();
    assert_eq!(again, Reply::fresh(resource(2)));
    assert!(call(&harness, Some(&key), 3).await.unwrap().replayed);
}

#[sqlx::test(migrations = false)]
async fn a_replay_is_found_before_the_work_begins(_: PgPoolOptions, options: PgConnectOptions) {
    let harness = harness(options).await;
    let find = async |key: Option<&Key>| {
        idempotency::find_replay::<Timestamp>(&harness.pool, harness.schema, key).await
    };
    let first = key("k", "00");
    assert_eq!(find(None).await.unwrap(), None);
    assert_eq!(find(Some(&first)).await.unwrap(), None);

    call(&harness, Some(&first), 1).await.unwrap();
    let replay = Reply {
        message: resource(1),
        replayed: true,
    };
    assert_eq!(find(Some(&first)).await.unwrap(), Some(replay));
    let reused = Failure::from(find(Some(&key("k", "01"))).await.unwrap_err());
    assert_eq!(reused.code, Code::IdempotencyKeyReused);

    harness
        .execute("update :schema.idempotency_keys set created_at = now() - interval '25 hours'")
        .await;
    assert_eq!(find(Some(&first)).await.unwrap(), None);
    harness
        .execute("update :schema.idempotency_keys set response = null")
        .await;
    let in_use = Failure::from(find(Some(&first)).await.unwrap_err());
    assert_eq!(in_use.code, Code::IdempotencyKeyInUse);
}

#[sqlx::test(migrations = false)]
async fn a_key_is_in_use_until_its_saga_ends(_: PgPoolOptions, options: PgConnectOptions) {
    let harness = harness(options).await;
    let key = key("k", "00");
    let begin = async || {
        let mut tx = pg::tx(&harness.pool).await.unwrap();
        let begun = begin_in_tx(&mut tx, harness.schema, &key).await;
        tx.commit().await.unwrap();
        begun
    };
    assert_eq!(begin().await.unwrap(), Begin::Fresh);
    let in_use = Failure::from(begin().await.unwrap_err());
    assert_eq!(in_use.code, Code::IdempotencyKeyInUse);
    assert_eq!(in_use.retry_after, Some(Duration::from_secs(1)));

    let mut tx = pg::tx(&harness.pool).await.unwrap();
    forget_in_tx(&mut tx, harness.schema, key.scope())
        .await
        .unwrap();
    tx.commit().await.unwrap();
    assert_eq!(begin().await.unwrap(), Begin::Fresh);

    let mut tx = pg::tx(&harness.pool).await.unwrap();
    complete_in_tx(&mut tx, harness.schema, key.scope(), &resource(7))
        .await
        .unwrap();
    tx.commit().await.unwrap();
    let Begin::Replay(recorded) = begin().await.unwrap() else {
        panic!("not recorded")
    };
    assert_eq!(
        Reply::<Timestamp>::replay(&recorded).unwrap().message,
        resource(7)
    );
}

#[sqlx::test(migrations = false)]
async fn a_batch_inserts_its_records_in_one_statement(_: PgPoolOptions, options: PgConnectOptions) {
    let harness = harness(options).await;
    let keys = ["a", "b", "c"].map(|text| key(text, "00"));
    let scopes = keys.clone().map(|key| *key.scope());
    let mut tx = pg::tx(&harness.pool).await.unwrap();
    assert!(
        find_in_tx(&mut tx, harness.schema, &scopes)
            .await
            .unwrap()
            .is_empty()
    );
    let mut columns = Columns::default();
    for (n, key) in (0..).zip(&keys[..2]) {
        columns.push(key, &resource(n));
    }
    let sql = format!(
        "insert into {}.idempotency_keys (scope, request_hash, response)
         select * from unnest($1::bytea[], $2::bytea[], $3::bytea[])",
        harness.schema.name()
    );
    let insert = sqlx::query(sqlx::AssertSqlSafe(sql))
        .bind(columns.scopes)
        .bind(columns.request_hashes)
        .bind(columns.responses);
    insert.execute(&mut *tx).await.unwrap();
    let mut found = find_in_tx(&mut tx, harness.schema, &scopes).await.unwrap();
    assert_eq!(found.len(), 2);
    let recorded = found.remove(&scopes[1]).unwrap();
    assert!(recorded.clone().response_for(&key("b", "01")).is_err());
    let recorded = recorded.response_for(&keys[1]).unwrap();
    assert_eq!(
        Reply::<Timestamp>::replay(&recorded).unwrap().message,
        resource(1)
    );
}

#[sqlx::test(migrations = false)]
async fn keys_of_a_group_are_claimed_each_once(_: PgPoolOptions, options: PgConnectOptions) {
    let harness = harness(options).await;
    let schema = harness.schema;
    let (done, open) = (key("done", "01"), key("open", "01"));
    let mut tx = pg::tx(&harness.pool).await.unwrap();
    let begun = begin_all_in_tx(&mut tx, schema, &[&open, &done]).await;
    for begun in begun.unwrap() {
        assert_eq!(begun.unwrap(), Begin::Fresh);
    }
    let response = b"a response".as_slice();
    complete_all_in_tx(&mut tx, schema, &[(done.scope(), response)])
        .await
        .unwrap();
    tx.commit().await.unwrap();

    let (new, other) = (key("new", "01"), key("done", "02"));
    let mut tx = pg::tx(&harness.pool).await.unwrap();
    let keys = [&new, &done, &new, &open, &other];
    let begun = begin_all_in_tx(&mut tx, schema, &keys).await.unwrap();
    assert!(
        matches!(
            &*begun,
            [
                Ok(Begin::Fresh),
                Ok(Begin::Replay(recorded)),
                Err(idempotency::Error::InUse),
                Err(idempotency::Error::InUse),
                Err(idempotency::Error::Reused),
            ] if recorded == response
        ),
        "{begun:?}"
    );
}
