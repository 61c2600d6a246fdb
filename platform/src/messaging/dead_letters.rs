//! Events a consumer failed on, with the reason: those being tried again and those put aside.

use std::collections::BTreeMap;

use anyhow::Context as _;
use async_nats::{HeaderMap, header::NATS_MESSAGE_ID, jetstream::Context};
use chrono::{DateTime, Utc};
use sqlx::{PgPool, types::Json};
use tokio::time::timeout;
use uuid::Uuid;

use crate::pg::Schema;

/// Longer reasons are cut.
const LONGEST_REASON: usize = 2_000;
const ACK_WITHIN: std::time::Duration = std::time::Duration::from_secs(4);

/// A parked event, as an operator sees it.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct DeadLetter {
    /// `<service>-<event>`
    pub consumer: String,
    /// Of the event.
    pub event_id: Uuid,
    /// `guerdon.<context>.v1.<Event>`
    pub subject: String,
    /// What the last failure said.
    pub reason: String,
    /// Tries used up; fewer than the limit while it is being retried.
    pub failures: i32,
    /// When it was put aside.
    pub parked_at: DateTime<Utc>,
}

/// A failed delivery.
pub(super) struct Letter<'m> {
    pub(super) consumer: &'m str,
    pub(super) event_id: Uuid,
    pub(super) message: &'m async_nats::Message,
    pub(super) reason: &'m str,
}

/// Counts a failure, parks the event when it was one too many, and says how many there are.
pub(super) async fn record_failure(
    pool: &PgPool,
    schema: Schema,
    letter: Letter<'_>,
    max_failures: i32,
) -> Result<i32, sqlx::Error> {
    let sql = schema.sql(
        "insert into :schema.dead_letters as letter
             (consumer, event_id, subject, headers, body, reason, failures, parked_at)
         values ($1, $2, $3, $4, $5, $6, 1, case when $7 <= 1 then now() end)
         on conflict (consumer, event_id) do update
         set reason = excluded.reason, last_failed_at = now(), failures = letter.failures + 1,
             parked_at = coalesce
                 (letter.parked_at, case when letter.failures + 1 >= $7 then now() end)
         returning failures",
    );
    let reason: String = letter.reason.chars().take(LONGEST_REASON).collect();
    sqlx::query_scalar(sql)
        .bind(letter.consumer)
        .bind(letter.event_id)
        .bind(letter.message.subject.as_str())
        .bind(Json(storable(letter.message.headers.as_ref())))
        .bind(&letter.message.payload[..])
        // Postgres holds no NUL in text.
        .bind(reason.replace('\0', ""))
        .bind(max_failures)
        .fetch_one(pool)
        .await
}

fn storable(headers: Option<&HeaderMap>) -> BTreeMap<String, String> {
    let mut stored = BTreeMap::new();
    for (name, values) in headers.into_iter().flat_map(HeaderMap::iter) {
        if let Some(value) = values.first() {
            stored.insert(name.to_string(), value.as_str().replace('\0', ""));
        }
    }
    stored
}

/// What is parked, oldest first.
pub async fn list(pool: &PgPool, schema: Schema) -> Result<Vec<DeadLetter>, sqlx::Error> {
    let sql = schema.sql(
        "select consumer, event_id, subject, reason, failures, parked_at
         from :schema.dead_letters where parked_at is not null order by parked_at, event_id",
    );
    sqlx::query_as(sql).fetch_all(pool).await
}

/// What it takes to publish a parked event again.
type Parked = (Uuid, String, Json<BTreeMap<String, String>>, Vec<u8>);

/// Puts parked events (all of them, or the one) back on their subject with all their tries, and says
/// how many. A letter goes away when its event succeeds; other consumers skip it by their inbox.
pub async fn retry(
    pool: &PgPool,
    schema: Schema,
    js: &Context,
    event_id: Option<Uuid>,
) -> anyhow::Result<u64> {
    // Tries are given back first: a failure that comes right after the publish has to count.
    let sql = schema.sql(
        "update :schema.dead_letters set failures = 0
         where parked_at is not null and ($1::uuid is null or event_id = $1)
         returning event_id, subject, headers, body",
    );
    let letters: Vec<Parked> = sqlx::query_as(sql).bind(event_id).fetch_all(pool).await?;
    let mut retried = 0;
    for (event_id, subject, Json(stored), body) in letters {
        let mut headers = HeaderMap::new();
        // JetStream's own told of the message that was stored, such as its place in a batch.
        for (name, value) in stored
            .into_iter()
            .filter(|(name, _)| !name.starts_with("Nats-"))
        {
            headers.insert(name, value);
        }
        headers.insert(NATS_MESSAGE_ID, format!("{event_id}:retry:{}", attempt()));
        let publish = async {
            let ack = js
                .publish_with_headers(subject, headers, body.into())
                .await?;
            ack.await
        };
        timeout(ACK_WITHIN, publish)
            .await
            .context("JetStream does not answer")?
            .with_context(|| format!("stopped after {retried} events; run it again"))?;
        retried += 1;
    }
    Ok(retried)
}

/// Sets this attempt apart from what JetStream remembers as published.
fn attempt() -> Uuid {
    #[expect(
        clippy::disallowed_methods,
        reason = "serves JetStream's deduplication and appears in no data"
    )]
    Uuid::new_v4()
}
