//! The pool and transactions under cancellation, deadlocks and outages.

use std::{
    future::poll_fn,
    pin::pin,
    sync::atomic::{AtomicU32, Ordering},
    task::Poll,
    time::Duration,
};

use platform::{
    error::{Code, Failure},
    pg::{self, ensure_affected, on_constraint, retry_serialization},
    testing::eventually,
};
use sqlx::{
    AssertSqlSafe, ConnectOptions as _, PgPool, Row as _,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use tokio::{sync::Barrier, task::yield_now};

use crate::{
    harness::{TIMEOUT, env},
    proxy::Proxy,
};

fn pool(options: &PgConnectOptions, max_connections: u32) -> PgPool {
    let mut wanted = pg::Options::new("platform-tests");
    wanted.max_connections = max_connections;
    pg::connect(options.to_url_lossy().as_str(), &wanted).unwrap()
}

async fn number(pool: &PgPool, sql: &'static str) -> i64 {
    sqlx::query_scalar(sql).fetch_one(pool).await.unwrap()
}

async fn execute(pool: &PgPool, sql: &'static str) {
    sqlx::raw_sql(sql).execute(pool).await.unwrap();
}

/// A plan is kept, and the table may have a million rows an hour later. With so few rows, Postgres would read all
/// of them, and join them by hashing or merging.
#[sqlx::test(migrations = false)]
async fn plans_made_for_few_rows_find_each_by_its_key(_: PgPoolOptions, options: PgConnectOptions) {
    let one = pool(&options, 1);
    execute(
        &one,
        "create table few (id integer primary key, n integer);
         insert into few select n, n from generate_series(1, 33) as n;
         analyze few;
         prepare find (integer[]) as select n from few where id = any($1);
         prepare change (integer[]) as
             update few set n = given.id from unnest($1) as given (id) where few.id = given.id",
    )
    .await;
    for statement in ["find", "change"] {
        let explain = AssertSqlSafe(format!("explain execute {statement} ('{{1, 2, 3}}')"));
        let plan: Vec<String> = sqlx::raw_sql(explain)
            .fetch_all(&one)
            .await
            .unwrap()
            .iter()
            .map(|line| line.get(0))
            .collect();
        let plan = plan.join("\n");
        assert!(plan.contains("few_pkey"), "{plan}");
        assert!(plan.contains("Index Cond"), "{plan}");
    }
}

#[sqlx::test(migrations = false)]
async fn cancelled_begins_leave_no_open_transaction(_: PgPoolOptions, options: PgConnectOptions) {
    let one = pool(&options, 1);
    execute(&one, "create table acknowledged (n integer)").await;
    for round in 0..1_000_u32 {
        let mut begin = pin!(pg::tx(&one));
        for _ in 0..round % 7 {
            let begun = poll_fn(|cx| Poll::Ready(begin.as_mut().poll(cx).is_ready())).await;
            if begun {
                break;
            }
            yield_now().await;
        }
    }
    // Statements outside a transaction commit by themselves, also on that connection.
    for n in 0..20 {
        let insert = sqlx::query("insert into acknowledged values ($1)").bind(n);
        ensure_affected(insert.execute(&one).await.unwrap(), 1).unwrap();
    }
    let other = pool(&options, 1);
    assert_eq!(
        number(&other, "select count(*) from acknowledged").await,
        20
    );
    eventually("no session idles in a transaction", TIMEOUT, async || {
        let idle = "select count(*) from pg_stat_activity
             where datname = current_database() and state like 'idle in transaction%'";
        number(&other, idle).await == 0
    })
    .await;
}

#[sqlx::test(migrations = false)]
async fn a_connection_left_in_a_transaction_is_discarded(
    _: PgPoolOptions,
    options: PgConnectOptions,
) {
    let one = pool(&options, 1);
    let pid = "select pg_backend_pid()";
    for left_open in ["begin", "begin; select 1/0"] {
        let mut connection = one.acquire().await.unwrap();
        let before: i32 = sqlx::query_scalar(pid)
            .fetch_one(&mut *connection)
            .await
            .unwrap();
        let _error = sqlx::raw_sql(left_open).execute(&mut *connection).await;
        drop(connection);
        let after: i32 = sqlx::query_scalar(pid).fetch_one(&one).await.unwrap();
        assert_ne!(before, after, "{left_open}");
        let again: i32 = sqlx::query_scalar(pid).fetch_one(&one).await.unwrap();
        assert_eq!(after, again, "an idle connection is kept");
    }
}

#[sqlx::test(migrations = false)]
async fn the_victim_of_a_deadlock_runs_again(_: PgPoolOptions, options: PgConnectOptions) {
    let two = pool(&options, 2);
    execute(&two, "create table slots (id integer, n integer default 0)").await;
    execute(&two, "insert into slots values (1), (2)").await;
    let (meet, met) = (Barrier::new(2), AtomicU32::new(0));
    let transfer = async |first: i32, second: i32| {
        let once = || async {
            let mut tx = pg::tx(&two).await?;
            let touch = "update slots set n = n + 1 where id = $1";
            sqlx::query(touch).bind(first).execute(&mut *tx).await?;
            if met.fetch_add(1, Ordering::SeqCst) < 2 {
                meet.wait().await;
            }
            sqlx::query(touch).bind(second).execute(&mut *tx).await?;
            tx.commit().await
        };
        retry_serialization(once).await
    };
    let (one, other) = tokio::join!(transfer(1, 2), transfer(2, 1));
    one.unwrap();
    other.unwrap();
    assert_eq!(number(&two, "select sum(n) from slots").await, 4);
    assert!(met.into_inner() > 2, "one of them ran again");
}

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("the code is taken")]
    Taken,
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

#[sqlx::test(migrations = false)]
async fn constraints_are_mapped_by_name(_: PgPoolOptions, options: PgConnectOptions) {
    let pool = pool(&options, 1);
    execute(
        &pool,
        "create table things (code text constraint things_code_key unique, n integer not null)",
    )
    .await;
    execute(&pool, "insert into things values ('a', 1)").await;
    let insert = async |sql: &'static str| {
        let inserted = sqlx::query(sql).execute(&pool).await;
        inserted.map_err(on_constraint([("things_code_key", Error::Taken)]))
    };
    let taken = insert("insert into things values ('a', 2)").await;
    assert!(matches!(taken, Err(Error::Taken)));
    let fault = insert("insert into things values ('b', null)").await;
    let Err(Error::Database(fault)) = fault else {
        panic!("{fault:?}")
    };
    assert_eq!(Failure::from(fault).code, Code::Internal);
    let updated = sqlx::query("update things set n = 1 where code = 'c'");
    assert!(ensure_affected(updated.execute(&pool).await.unwrap(), 1).is_err());
}

/// Starts a proxy to the server, and returns how to connect through it.
async fn proxy(options: &PgConnectOptions, connected: bool) -> (Proxy, PgConnectOptions) {
    let url = options.to_url_lossy();
    let server = format!("{}:{}", url.host_str().unwrap(), url.port().unwrap_or(5432));
    let proxy = Proxy::to(server, connected).await;
    let through = options.clone().host("127.0.0.1").port(proxy.address.port());
    (proxy, through)
}

#[sqlx::test(migrations = false)]
async fn wait_until_ready_waits_for_the_server(_: PgPoolOptions, options: PgConnectOptions) {
    let (proxy, through) = proxy(&options, false).await;
    let pool = pool(&through, 2);
    assert!(!pg::is_reachable(&pool).await);
    let ready = tokio::spawn({
        let pool = pool.clone();
        async move { pg::wait_until_ready(&pool).await }
    });
    proxy.connect();
    tokio::time::timeout(TIMEOUT, ready)
        .await
        .unwrap()
        .unwrap()
        .unwrap();
    assert!(pg::is_reachable(&pool).await);

    proxy.disconnect();
    eventually("it is unavailable", TIMEOUT, async || {
        !pg::is_reachable(&pool).await
    })
    .await;
    let unavailable = pg::tx(&pool).await.unwrap_err();
    assert_eq!(Failure::from(unavailable).code, Code::Unavailable);
    proxy.connect();
    eventually("it is available again", TIMEOUT, async || {
        pg::is_reachable(&pool).await
    })
    .await;
}

#[sqlx::test(migrations = false)]
async fn a_connection_without_responses_is_closed(_: PgPoolOptions, options: PgConnectOptions) {
    let (proxy, through) = proxy(&options, true).await;
    let one = pool(&through, 1);
    // Before a transaction begins.
    assert_eq!(number(&one, "select 1::bigint").await, 1);
    eventually("it is released", TIMEOUT, async || one.num_idle() == 1).await;
    proxy.silence();
    let unavailable = pg::tx(&one).await.unwrap_err();
    assert_eq!(Failure::from(unavailable).code, Code::Unavailable);
    eventually("another connection is used", TIMEOUT, async || {
        pg::is_reachable(&one).await
    })
    .await;
    // In a transaction, whose caller does not wait any longer.
    proxy.connect();
    let mut tx = pg::tx(&one).await.unwrap();
    proxy.silence();
    let statement = sqlx::query("select 1").execute(&mut *tx);
    let waited = tokio::time::timeout(Duration::from_millis(50), statement).await;
    assert!(waited.is_err(), "{waited:?}");
    drop(tx);
    eventually("another connection is used", TIMEOUT, async || {
        pg::is_reachable(&one).await
    })
    .await;
}

#[sqlx::test(migrations = false)]
async fn a_session_whose_plans_are_outdated_is_closed(_: PgPoolOptions, options: PgConnectOptions) {
    let two = pool(&options, 2);
    execute(&two, "create table things (n integer)").await;
    let read = async || sqlx::query("select n from things").fetch_all(&two).await;
    let connections = tokio::join!(two.acquire(), two.acquire());
    for connection in [connections.0.unwrap(), connections.1.unwrap()] {
        let mut connection = connection;
        let prepared = sqlx::query("select n from things");
        prepared.fetch_all(&mut *connection).await.unwrap();
    }
    execute(&two, "alter table things alter n type bigint").await;
    let outdated = Failure::from(read().await.unwrap_err());
    assert_eq!(outdated.code, Code::Unavailable);
    for _ in 0..4 {
        read().await.unwrap();
    }
}

/// Schema `fake` says whether the server is in recovery.
const FAKE_RECOVERY: &str = "
    create schema fake;
    create table fake.recovery (active boolean);
    insert into fake.recovery values (true);
    create function fake.pg_is_in_recovery() returns boolean language sql as
        'select active from fake.recovery'";

#[sqlx::test(migrations = false)]
async fn a_server_in_recovery_is_waited_for(_: PgPoolOptions, options: PgConnectOptions) {
    let other = pool(&options, 1);
    execute(&other, FAKE_RECOVERY).await;
    let url = options.to_url_lossy();
    let separator = if url.query().is_some() { '&' } else { '?' };
    let url = format!("{url}{separator}options[search_path]=fake,pg_catalog");
    let mut wanted = pg::Options::new("platform-tests");
    wanted.max_connections = 1;
    let pool = pg::connect(&url, &wanted).unwrap();
    let pid = "select pg_backend_pid()::bigint";
    let session = number(&pool, pid).await;
    assert_eq!(number(&pool, pid).await, session);
    assert!(!pg::is_reachable(&pool).await);
    assert_ne!(number(&pool, pid).await, session, "not used again");
    let ready = tokio::spawn({
        let pool = pool.clone();
        async move { pg::wait_until_ready(&pool).await }
    });
    assert!(!ready.is_finished());
    execute(&other, "update fake.recovery set active = false").await;
    tokio::time::timeout(TIMEOUT, ready)
        .await
        .unwrap()
        .unwrap()
        .unwrap();
    assert!(pg::is_reachable(&pool).await);
    assert_eq!(number(&pool, pid).await, number(&pool, pid).await);
}

#[sqlx::test(migrations = false)]
async fn statements_and_locks_have_timeouts(_: PgPoolOptions, options: PgConnectOptions) {
    let mut wanted = pg::Options::new("platform-tests");
    wanted.statement_timeout = Duration::from_millis(20);
    let pool = pg::connect(options.to_url_lossy().as_str(), &wanted).unwrap();
    let slow = sqlx::query("select pg_sleep(10)").execute(&pool).await;
    assert_eq!(Failure::from(slow.unwrap_err()).code, Code::Unavailable);
    for (setting, value) in [
        ("lock_timeout", "2s"),
        ("idle_in_transaction_session_timeout", "10s"),
        ("application_name", "platform-tests"),
    ] {
        let current: String = sqlx::query_scalar("select current_setting($1)")
            .bind(setting)
            .fetch_one(&pool)
            .await
            .unwrap();
        assert_eq!(current, value, "{setting}");
    }
}

#[sqlx::test(migrations = false)]
async fn a_server_without_synchronous_commit_is_unsupported(
    _: PgPoolOptions,
    options: PgConnectOptions,
) {
    let weak = options.options([("synchronous_commit", "off")]);
    let pool = PgPoolOptions::new().connect_lazy_with(weak);
    let refused = pg::wait_until_ready(&pool).await.unwrap_err();
    assert!(
        matches!(refused, pg::UnsupportedServer::SynchronousCommit(_)),
        "{refused}"
    );
    assert!(!env("DATABASE_URL").is_empty());
}
