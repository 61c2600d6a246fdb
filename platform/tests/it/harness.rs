//! A fresh database with the messaging tables, and a context on NATS that no other test uses.

use std::time::Duration;

use async_nats::jetstream::{
    self,
    consumer::{self, AckPolicy, PullConsumer, pull},
};
use futures::StreamExt as _;
use platform::{
    config::Nats,
    messaging::{
        jetstream::{ensure_stream, stream_name},
        outbox::{self, Aggregate, Message},
        relay,
    },
    pg::{self, Schema},
};
use prost_types::Timestamp;
use sqlx::{ConnectOptions as _, PgPool, Postgres, Transaction, postgres::PgConnectOptions};
use tokio_util::sync::{CancellationToken, DropGuard};
use uuid::Uuid;

pub(crate) const TIMEOUT: Duration = Duration::from_mins(1);

pub(crate) struct Harness {
    pub(crate) pool: PgPool,
    pub(crate) schema: Schema,
    pub(crate) js: jetstream::Context,
    /// Stops everything that was started.
    pub(crate) token: CancellationToken,
    _stop: DropGuard,
}

/// An event to append.
pub(crate) struct Event {
    pub(crate) id: Uuid,
    pub(crate) message: Message,
}

pub(crate) fn env(name: &str) -> String {
    #[expect(clippy::disallowed_methods, reason = "addresses of the servers")]
    std::env::var(name).unwrap_or_else(|_unset| panic!("{name} is not set"))
}

pub(crate) fn uuid() -> Uuid {
    #[expect(clippy::disallowed_methods, reason = "any id will do")]
    Uuid::now_v7()
}

impl Harness {
    pub(crate) async fn new(options: PgConnectOptions) -> Self {
        platform::testing::trace_process();
        let url = options.to_url_lossy().to_string();
        let pool = pg::connect(&url, &pg::Options::new("platform-tests")).unwrap();
        let schema = unused_schema();
        let tables = platform::testing::messaging_tables(schema);
        let ddl = format!("create schema {}; {tables}", schema.name());
        sqlx::raw_sql(sqlx::AssertSqlSafe(ddl))
            .execute(&pool)
            .await
            .unwrap();
        let js =
            platform::messaging::jetstream::connect(&Nats::at(&env("NATS_URL")), "platform-tests")
                .await
                .unwrap();
        let token = CancellationToken::new();
        let stop = token.clone().drop_guard();
        Self {
            pool,
            schema,
            js,
            token,
            _stop: stop,
        }
    }

    pub(crate) fn start_relay(&self) {
        self.start_relay_through(self.js.clone());
    }

    pub(crate) fn start_relay_through(&self, js: jetstream::Context) {
        let (pool, token) = (self.pool.clone(), self.token.clone());
        tokio::spawn(relay::run(pool, self.schema, js, 1, token));
    }

    /// Creates an event whose body is its version in seconds.
    pub(crate) fn event(&self, aggregate_id: Uuid, version: i64) -> Event {
        let id = uuid();
        let aggregate = Aggregate {
            kind: "thing",
            id: aggregate_id,
            version,
        };
        let body = Timestamp {
            seconds: version,
            nanos: 0,
        };
        Event {
            id,
            message: Message::new(self.schema, id, "ThingDone", aggregate, &body),
        }
    }

    /// Commits one event of a new aggregate.
    pub(crate) async fn commit_event(&self) -> Uuid {
        let event = self.event(uuid(), 1);
        self.commit([event.message]).await;
        event.id
    }

    /// Commits events of new aggregates in one transaction.
    pub(crate) async fn commit_events(&self, count: usize) {
        self.commit((0..count).map(|_| self.event(uuid(), 1).message))
            .await;
    }

    /// Commits events in one transaction.
    pub(crate) async fn commit(&self, messages: impl IntoIterator<Item = Message>) {
        self.append(messages).await.commit().await.unwrap();
    }

    /// Appends events and returns the open transaction.
    pub(crate) async fn append(
        &self,
        messages: impl IntoIterator<Item = Message>,
    ) -> Transaction<'static, Postgres> {
        let mut tx = pg::tx(&self.pool).await.unwrap();
        outbox::append_in_tx(&mut tx, self.schema, messages)
            .await
            .unwrap();
        tx
    }

    /// Returns the number that a query returns.
    pub(crate) async fn count(&self, sql: &str) -> i64 {
        let sql = sqlx::AssertSqlSafe(sql.replace(":schema", self.schema.name()));
        sqlx::query_scalar(sql).fetch_one(&self.pool).await.unwrap()
    }

    pub(crate) async fn execute(&self, sql: &str) {
        let sql = sqlx::AssertSqlSafe(sql.replace(":schema", self.schema.name()));
        sqlx::raw_sql(sql).execute(&self.pool).await.unwrap();
    }

    pub(crate) async fn unpublished(&self) -> i64 {
        let events = "select coalesce(sum(last_position - first_position + 1), 0)::bigint
             from :schema.outbox_pending";
        self.count(events).await
    }

    /// Reads the first messages of the stream.
    pub(crate) async fn stream(&self, messages: usize) -> Vec<async_nats::Message> {
        ensure_stream(&self.js, self.schema, 1).await.unwrap();
        // A consumer that waits for acks receives no more than 1 000.
        let reader = pull::Config {
            ack_policy: AckPolicy::None,
            ..pull::Config::default()
        };
        let consumer = self
            .js
            .create_consumer_on_stream(reader, stream_name(self.schema))
            .await
            .unwrap();
        let batch = consumer.batch().max_messages(messages).expires(TIMEOUT);
        let received = batch.messages().await.unwrap();
        received
            .map(|message| message.unwrap().message)
            .collect()
            .await
    }

    /// Returns the state of a consumer, if it is created.
    pub(crate) async fn consumer_info(&self, durable: &str) -> Option<consumer::Info> {
        let stream = stream_name(self.schema);
        let consumer: PullConsumer = self
            .js
            .get_consumer_from_stream(durable, stream)
            .await
            .ok()?;
        Some(consumer.cached_info().clone())
    }

    pub(crate) async fn drop_stream(&self) {
        self.js
            .delete_stream(stream_name(self.schema))
            .await
            .unwrap();
    }
}

pub(crate) fn header(message: &async_nats::Message, name: &str) -> String {
    let headers = message.headers.as_ref().unwrap();
    headers.get(name).unwrap().to_string()
}

/// Returns a schema name of letters only, made from the random half of an id.
fn unused_schema() -> Schema {
    let letters: String = uuid().as_bytes()[8..]
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|nibble| char::from(b'a' + nibble))
        .collect();
    Schema::new(String::leak(format!("t_{letters}")))
}
