//! Replay of the outbox, for events that JetStream lost.

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

/// Publishes all events since `since` again, in order, and returns their number. Consumers skip
/// those that are in their inbox.
pub async fn replay(
    pool: &PgPool,
    schema: Schema,
    js: &Context,
    stream_replicas: u8,
    since: DateTime<Utc>,
) -> anyhow::Result<u64> {
    ensure_stream(js, schema, stream_replicas).await?;
    #[expect(
        clippy::disallowed_methods,
        reason = "serves JetStream's deduplication and appears in no data"
    )]
    let replay_id = Uuid::new_v4();
    let sql = format!(
        "select {} from :schema.outbox where created_at >= $1 and position > $2
         order by position limit $3",
        Row::COLUMNS
    );
    let (mut replayed, mut last_position) = (0, 0);
    loop {
        let rows: Vec<Row> = sqlx::query_as(schema.sql(&sql))
            .bind(since)
            .bind(last_position)
            .bind(BATCH)
            .fetch_all(pool)
            .await?;
        let Some(last) = rows.last() else {
            return Ok(replayed);
        };
        last_position = last.position;
        let published = publish::in_order(js, schema, rows, Some(replay_id)).await;
        if let Some(error) = published.error {
            return Err(anyhow::Error::from_boxed(error))
                .with_context(|| format!("stopped after {replayed} events; run it again"));
        }
        for refused in published.refused {
            let (event_id, reason) = (refused.row.id, refused.reason);
            tracing::warn!(%event_id, reason, "replay: event is refused, skipped");
        }
        replayed += published.positions.len() as u64;
    }
}
