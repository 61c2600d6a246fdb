//! The events in the streams, compared with those in the outboxes.

use std::collections::HashSet;

use anyhow::ensure;
use sqlx::{AssertSqlSafe, PgConnection};

use super::broker::{Broker, CONTEXTS};

/// Prints how often each stream has an event of the outbox, and fails if one is missing. An event may be
/// there twice, if its acknowledgement was lost: consumers skip the second.
pub async fn ensure_stored(broker: &Broker, conn: &mut PgConnection) -> anyhow::Result<()> {
    let (mut missing, mut unknown) = (0, 0);
    for context in CONTEXTS {
        let messages = broker.event_ids(context).await?;
        let context = context.name();
        let sql = AssertSqlSafe(format!("select id::text from {context}.outbox"));
        let written: Vec<String> = sqlx::query_scalar(sql).fetch_all(&mut *conn).await?;
        let written: HashSet<_> = written.into_iter().collect();
        let count = messages.len();
        let stored: HashSet<_> = messages.into_iter().collect();
        let lost = written.difference(&stored).count();
        println!(
            "{:>8} events of {context}, {lost} of them missing in the stream, {} there twice",
            written.len(),
            count - stored.len(),
        );
        missing += lost;
        unknown += stored.difference(&written).count();
    }
    ensure!(missing == 0, "{missing} events are lost");
    ensure!(unknown == 0, "{unknown} events are in no outbox");
    Ok(())
}
