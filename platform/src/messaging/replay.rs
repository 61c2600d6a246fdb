//! Publishing again what the outbox still holds, for when JetStream lost it.

use anyhow::Context as _;
use async_nats::jetstream::Context;
use chrono::{DateTime, Utc};
use sqlx::PgPool;
use uuid::Uuid;

use super::{
    jetstream::ensure_stream,
    publish::{self, Row},
};
use crate::pg::Schema;

const BATCH: i64 = 256;

/// Publishes every event made at or after `since` once more, in order, and says how many. Consumers
/// that had them already skip them by their inbox.
pub async fn replay(
    pool: &PgPool,
    schema: Schema,
    js: &Context,
    since: DateTime<Utc>,
) -> anyhow::Result<u64> {
    ensure_stream(js, schema).await?;
    #[expect(
        clippy::disallowed_methods,
        reason = "sets this run apart for JetStream and appears in no data"
    )]
    let run = Uuid::new_v4();
    let sql = format!(
        "select {} from :schema.outbox where created_at >= $1 and position > $2
         order by position limit $3",
        Row::COLUMNS
    );
    let (mut replayed, mut after) = (0, 0);
    loop {
        let rows: Vec<Row> = sqlx::query_as(schema.sql(&sql))
            .bind(since)
            .bind(after)
            .bind(BATCH)
            .fetch_all(pool)
            .await?;
        let Some(last) = rows.last() else {
            return Ok(replayed);
        };
        after = last.position;
        let published = publish::in_order(js, schema, rows, Some(run)).await;
        if let Some(error) = published.error {
            return Err(anyhow::Error::from_boxed(error))
                .with_context(|| format!("stopped after {replayed} events; run it again"));
        }
        replayed += published.positions.len() as u64;
    }
}
