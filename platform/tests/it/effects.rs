//! A consumer that counts the effects of events in a table.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use platform::{
    error::{Code, Failure},
    messaging::{
        dead_letters::{self, DeadLetter},
        inbox::{self, Consumer, Envelope, Handler},
    },
    testing::eventually,
};
use prost_types::Timestamp;
use sqlx::{PgConnection, postgres::PgConnectOptions};

use crate::harness::{Harness, TIMEOUT};

/// Inserts a row for each event, after a number of failures.
#[derive(Clone)]
pub(crate) struct CountEffects {
    schema: &'static str,
    pub(crate) failures_left: Arc<AtomicU32>,
    code: Code,
}

impl Handler for CountEffects {
    type Body = Timestamp;

    async fn apply_in_tx(
        &self,
        conn: &mut PgConnection,
        envelope: &Envelope,
        body: Timestamp,
    ) -> Result<(), Failure> {
        assert_eq!(body.seconds, envelope.version);
        let sql = format!("insert into {}.effects values ($1)", self.schema);
        sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(envelope.id)
            .execute(conn)
            .await?;
        let fails = |left: u32| left.checked_sub(1);
        match self
            .failures_left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, fails)
        {
            Ok(_) => Err(Failure::new(self.code, "as told")),
            Err(_) => Ok(()),
        }
    }
}

/// A harness with a relay and the table of effects.
pub(crate) struct Effects {
    pub(crate) harness: Harness,
}

impl Effects {
    pub(crate) async fn new(options: PgConnectOptions) -> Self {
        let harness = Harness::new(options).await;
        harness
            .execute("create table :schema.effects (event_id uuid)")
            .await;
        harness.start_relay();
        Self { harness }
    }

    pub(crate) fn consumer(&self) -> Consumer {
        let schema = self.harness.schema;
        let mut consumer = Consumer::new("counting-svc", schema, schema, "ThingDone");
        consumer.first_delay = Duration::from_millis(2);
        consumer.max_delay = Duration::from_millis(20);
        consumer
    }

    /// Starts a consumer whose first effects fail.
    pub(crate) fn start_failing(&self, failures: u32, code: Code) -> CountEffects {
        let handler = CountEffects {
            schema: self.harness.schema.name(),
            failures_left: Arc::new(AtomicU32::new(failures)),
            code,
        };
        tokio::spawn(inbox::run(
            self.consumer(),
            self.harness.js.clone(),
            self.harness.pool.clone(),
            handler.clone(),
            self.harness.token.clone(),
        ));
        handler
    }

    pub(crate) fn start(&self) {
        self.start_failing(0, Code::Internal);
    }

    pub(crate) async fn count(&self) -> i64 {
        self.harness
            .count("select count(*) from :schema.effects")
            .await
    }

    /// Waits until there are this many effects.
    pub(crate) async fn wait_for(&self, effects: i64) {
        let what = format!("{effects} effects");
        eventually(&what, TIMEOUT, async || self.count().await == effects).await;
    }

    pub(crate) async fn parked(&self) -> Vec<DeadLetter> {
        let parked = dead_letters::list(&self.harness.pool, self.harness.schema).await;
        parked.unwrap()
    }

    /// Waits until this many events are parked.
    pub(crate) async fn wait_for_parked(&self, events: usize) -> Vec<DeadLetter> {
        let what = format!("{events} parked events");
        eventually(&what, TIMEOUT, async || self.parked().await.len() == events).await;
        self.parked().await
    }
}
