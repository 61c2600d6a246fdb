//! Dead letters: events that a consumer failed to apply, or that JetStream refuses to store, still
//! retried or parked.

use std::{collections::BTreeMap, time::Duration};

use anyhow::Context as _;
use async_nats::{
    HeaderMap,
    header::NATS_MESSAGE_ID,
    jetstream::{Context, context::PublishError},
};
use chrono::{DateTime, Utc};
use sqlx::{PgConnection, PgPool, types::Json};
use tokio::time::timeout;
use uuid::Uuid;

use super::publish::{Refused, is_refusal};
use crate::pg::Schema;

/// Characters of a stored reason; longer ones are truncated.
const MAX_REASON: usize = 2_000;
const ACK_TIMEOUT: Duration = Duration::from_secs(4);
/// The consumer of an event that JetStream refuses: nobody has received it.
const RELAY: &str = "relay";
/// Refusals after which the relay's event is parked; some seconds, in which an operator may raise a limit.
const MAX_REFUSALS: i32 = 10;
/// The header that names the only consumer of a retried event.
const ADDRESSEE: &str = "guerdon-consumer";

/// A parked event.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct DeadLetter {
    /// Name of the consumer, `<service>-<event>`; `relay` for an event that JetStream refuses.
    pub consumer: String,
    /// Id of the event.
    pub event_id: Uuid,
    /// Subject of the event, `guerdon.<context>.v1.<Event>`.
    pub subject: String,
    /// Error of the last failure.
    pub reason: String,
    /// Number of failures; below the limit while a retry by hand is in progress.
    pub failures: i32,
    /// Time at which retries ended.
    pub parked_at: DateTime<Utc>,
}

/// Whether the message is for this consumer: a retry is for the one that failed.
pub(super) fn is_addressed_to(consumer: &str, message: &async_nats::Message) -> bool {
    let headers = message.headers.as_ref();
    let addressee = headers.and_then(|headers| headers.get(ADDRESSEE));
    addressee.is_none_or(|addressee| addressee.as_str() == consumer)
}

/// A delivery that the consumer failed on.
pub(super) struct FailedDelivery<'m> {
    pub(super) consumer: &'m str,
    pub(super) event_id: Uuid,
    pub(super) subject: &'m str,
    pub(super) headers: Option<&'m HeaderMap>,
    pub(super) payload: &'m [u8],
    pub(super) reason: &'m str,
}

/// Counts a refusal of the relay's event, and returns whether the event is parked.
pub(super) async fn record_refusal(
    pool: &PgPool,
    schema: Schema,
    refused: &Refused,
) -> Result<bool, sqlx::Error> {
    let message = refused.row.message(schema, None);
    let delivery = FailedDelivery {
        consumer: RELAY,
        event_id: refused.row.id,
        subject: &message.subject,
        headers: Some(&message.headers),
        payload: &message.payload,
        reason: &refused.reason,
    };
    let failures = record_failure(pool, schema, delivery, MAX_REFUSALS).await?;
    Ok(failures >= MAX_REFUSALS)
}

/// Counts a failure and returns the number of failures. The event is parked at `max_failures`.
pub(super) async fn record_failure(
    pool: &PgPool,
    schema: Schema,
    delivery: FailedDelivery<'_>,
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
    let reason: String = delivery.reason.chars().take(MAX_REASON).collect();
    sqlx::query_scalar(sql)
        .bind(delivery.consumer)
        .bind(delivery.event_id)
        .bind(delivery.subject)
        .bind(Json(stored_headers(delivery.headers)))
        .bind(delivery.payload)
        // Postgres stores no NUL in text.
        .bind(reason.replace('\0', ""))
        .bind(max_failures)
        .fetch_one(pool)
        .await
}

/// Deletes the dead letters of events that the consumer applies.
pub(super) async fn delete_in_tx(
    conn: &mut PgConnection,
    schema: Schema,
    consumer: &str,
    event_ids: &[Uuid],
) -> Result<(), sqlx::Error> {
    let sql =
        schema.sql("delete from :schema.dead_letters where consumer = $1 and event_id = any($2)");
    let deleted = sqlx::query(sql).bind(consumer).bind(event_ids);
    deleted.execute(conn).await.map(drop)
}

fn stored_headers(headers: Option<&HeaderMap>) -> BTreeMap<String, String> {
    let mut stored = BTreeMap::new();
    for (name, values) in headers.into_iter().flat_map(HeaderMap::iter) {
        if let Some(value) = values.first() {
            stored.insert(name.to_string(), value.as_str().replace('\0', ""));
        }
    }
    stored
}

/// Lists the parked events, oldest first.
pub async fn list(pool: &PgPool, schema: Schema) -> Result<Vec<DeadLetter>, sqlx::Error> {
    let sql = schema.sql(
        "select consumer, event_id, subject, reason, failures, parked_at
         from :schema.dead_letters where parked_at is not null order by parked_at, event_id",
    );
    sqlx::query_as(sql).fetch_all(pool).await
}

/// The stored message of a parked event.
#[derive(sqlx::FromRow)]
struct StoredMessage {
    consumer: String,
    event_id: Uuid,
    subject: String,
    headers: Json<BTreeMap<String, String>>,
    body: Vec<u8>,
}

/// Publishes parked events again, all or the one with this id, and returns their number. Failures
/// are counted from zero. A dead letter is deleted when its event is applied, that of the relay when the
/// event is stored; one that JetStream refuses stays parked. Other consumers of an event skip it, also
/// those that have forgotten that they applied it.
pub async fn retry(
    pool: &PgPool,
    schema: Schema,
    js: &Context,
    event_id: Option<Uuid>,
) -> anyhow::Result<u64> {
    // Before the publish, so that a failure right after it is counted.
    let sql = schema.sql(
        "update :schema.dead_letters
         set failures = case consumer when $2 then failures else 0 end
         where parked_at is not null and ($1::uuid is null or event_id = $1)
         returning consumer, event_id, subject, headers, body",
    );
    let messages = sqlx::query_as(sql).bind(event_id).bind(RELAY);
    let messages: Vec<StoredMessage> = messages.fetch_all(pool).await?;
    let mut retried = 0;
    for message in messages {
        let (event_id, is_relays) = (message.event_id, message.consumer == RELAY);
        match timeout(ACK_TIMEOUT, publish(js, message)).await {
            Ok(Err(error)) if is_refusal(&error) => {
                tracing::warn!(%event_id, %error, "dead letters: event is refused, it stays parked");
                continue;
            }
            published => published
                .context("no response from JetStream")?
                .with_context(|| format!("stopped after {retried} events; run it again"))?,
        }
        if is_relays {
            delete_of_relay(pool, schema, event_id).await?;
        }
        retried += 1;
    }
    Ok(retried)
}

/// Deletes a parked event for all consumers that failed to apply it, and returns what was deleted. They
/// never apply it then.
pub async fn discard(
    pool: &PgPool,
    schema: Schema,
    event_id: Uuid,
) -> Result<Vec<DeadLetter>, sqlx::Error> {
    let sql = schema.sql(
        "delete from :schema.dead_letters where event_id = $1 and parked_at is not null
         returning consumer, event_id, subject, reason, failures, parked_at",
    );
    sqlx::query_as(sql).bind(event_id).fetch_all(pool).await
}

async fn publish(js: &Context, message: StoredMessage) -> Result<(), PublishError> {
    let mut headers = HeaderMap::new();
    for (name, value) in message.headers.0 {
        // JetStream's own headers describe the first publish, such as its batch.
        if !name.starts_with("Nats-") {
            headers.insert(name, value);
        }
    }
    if message.consumer != RELAY {
        headers.insert(ADDRESSEE, message.consumer);
    }
    let message_id = format!("{}:retry:{}", message.event_id, retry_id());
    headers.insert(NATS_MESSAGE_ID, message_id);
    let ack = js.publish_with_headers(message.subject, headers, message.body.into());
    ack.await?.await?;
    Ok(())
}

async fn delete_of_relay(pool: &PgPool, schema: Schema, event_id: Uuid) -> sqlx::Result<()> {
    let sql = schema.sql("delete from :schema.dead_letters where consumer = $1 and event_id = $2");
    let delete = sqlx::query(sql).bind(RELAY).bind(event_id);
    delete.execute(pool).await?;
    Ok(())
}

/// Makes the message id unique, so that JetStream does not drop it as a duplicate.
fn retry_id() -> Uuid {
    #[expect(
        clippy::disallowed_methods,
        reason = "serves JetStream's deduplication and appears in no data"
    )]
    Uuid::new_v4()
}
