//! The saga worker on a table of items: [`worker`] is about what it takes and leaves behind, [`retries`]
//! about when an item is due again.

mod retries;
mod worker;

use std::future::Future;

use platform::{
    pg::Schema,
    saga::{self, Outcome, Saga, Table},
    testing::{eventually, messaging_tables},
};
use sqlx::{AssertSqlSafe, PgPool};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::harness::TIMEOUT;

const SCHEMA: Schema = Schema::new("things");
const TABLE: Table = Table {
    schema: SCHEMA,
    name: "items",
    key: "item_id",
};

/// A saga whose attempts are a function of the test.
struct Scripted<F>(F);

impl<F, Fut> Saga for Scripted<F>
where
    F: Fn(Uuid) -> Fut + Send + Sync,
    Fut: Future<Output = Outcome> + Send,
{
    const NAME: &'static str = "test-items";
    const TABLE: Table = TABLE;

    async fn resume(&self, id: Uuid) -> Outcome {
        (self.0)(id).await
    }
}

/// A worker that runs until it is stopped.
struct Worker {
    stop: CancellationToken,
    ended: JoinHandle<Result<(), sqlx::Error>>,
}

impl Worker {
    fn start<F, Fut>(pool: &PgPool, attempt: F) -> Self
    where
        F: Fn(Uuid) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Outcome> + Send + 'static,
    {
        let stop = CancellationToken::new();
        let ended = tokio::spawn(saga::run(Scripted(attempt), pool.clone(), stop.clone()));
        Self { stop, ended }
    }

    async fn stop(self) {
        self.stop.cancel();
        self.ended.await.unwrap().unwrap();
    }
}

#[derive(Debug, sqlx::FromRow)]
struct Item {
    attempts: i32,
    last_error: Option<String>,
    /// Seconds until it is due; negative if it is.
    due_in: f64,
}

async fn execute(pool: &PgPool, sql: impl Into<String>) {
    sqlx::raw_sql(AssertSqlSafe(sql.into()))
        .execute(pool)
        .await
        .unwrap();
}

/// Creates the tables with so many items that are due.
async fn create_items(pool: &PgPool, count: usize) {
    create_tables(pool).await;
    insert(pool, count).await;
}

async fn create_tables(pool: &PgPool) {
    let messaging = messaging_tables(SCHEMA);
    let items = "create table things.items (
                     item_id uuid primary key,
                     due_at timestamptz(3) not null default now(),
                     attempts integer not null default 0,
                     last_error text,
                     created_at timestamptz(3) not null default now())";
    execute(pool, format!("create schema things; {messaging} {items}")).await;
}

/// Inserts so many items that are due.
async fn insert(pool: &PgPool, count: usize) {
    let sql = format!(
        "insert into things.items (item_id) select gen_random_uuid() from generate_series(1, {count})"
    );
    execute(pool, sql).await;
}

/// The only item.
async fn item(pool: &PgPool) -> Item {
    let sql = "select attempts, last_error, extract(epoch from due_at - now())::float8 as due_in
               from things.items";
    sqlx::query_as(sql).fetch_one(pool).await.unwrap()
}

async fn count(pool: &PgPool, condition: &str) -> usize {
    let sql = format!("select count(*) from things.items where {condition}");
    let count: i64 = sqlx::query_scalar(AssertSqlSafe(sql))
        .fetch_one(pool)
        .await
        .unwrap();
    count.try_into().unwrap()
}

async fn until_left(pool: &PgPool, items: usize) {
    let what = format!("{items} items are left");
    eventually(&what, TIMEOUT, async || count(pool, "true").await == items).await;
}

/// Ends an item as a service does.
async fn complete(pool: &PgPool, id: Uuid) -> Outcome {
    sqlx::query("delete from things.items where item_id = $1")
        .bind(id)
        .execute(pool)
        .await
        .unwrap();
    Outcome::Completed
}

/// Runs a worker for one attempt with this outcome: the attempt itself stops the worker.
async fn attempt_once(pool: &PgPool, outcome: fn() -> Outcome) {
    let stop = CancellationToken::new();
    let stopping = stop.clone();
    let attempt = move |_| {
        stopping.cancel();
        async move { outcome() }
    };
    saga::run(Scripted(attempt), pool.clone(), stop)
        .await
        .unwrap();
}
