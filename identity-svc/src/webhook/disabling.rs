//! What follows for webhooks from attempts: since when one fails, and the end of one that receives nothing.

use chrono::{DateTime, Utc};
use platform::audit::{self, Entry};
use sqlx::PgConnection;
use url::Url;

use super::repo::{self, Attempts, Disabled};
use crate::{
    SCHEMA,
    error::Result,
    mail::{self, DisabledWebhook, Line},
};

/// Notes since when webhooks fail, and disables those that are gone or have failed for long.
pub(super) async fn note_attempts_in_tx(
    conn: &mut PgConnection,
    attempts: &Attempts,
    now: DateTime<Utc>,
) -> Result<()> {
    repo::note_failing_in_tx(conn, attempts, now).await?;
    for disabled in repo::disable_in_tx(conn, attempts, now).await? {
        let error = attempts.errors.get(&disabled.id);
        announce_in_tx(conn, disabled, error.map_or("", String::as_str)).await?;
    }
    Ok(())
}

/// Tells operators, by log and metric, and admins, by the audit log and a mail.
async fn announce_in_tx(conn: &mut PgConnection, disabled: Disabled, error: &str) -> Result<()> {
    let Disabled { id, reason, .. } = &disabled;
    tracing::warn!(webhook = %id, reason, "webhooks: disabled, because it does not receive events");
    metrics::counter!("webhooks_disabled_total", "reason" => reason.clone()).increment(1);
    let entry = Entry::new("webhook", "disabled", *id).detail("reason", reason.clone());
    audit::record_in_tx(conn, SCHEMA, entry).await?;
    mail::enqueue_to_admins_in_tx(conn, &notice(&disabled, error)).await
}

fn notice(disabled: &Disabled, error: &str) -> DisabledWebhook {
    let url = Url::parse(&disabled.url).ok();
    let host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
    DisabledWebhook {
        id: disabled.id.to_string(),
        host: host.to_owned(),
        description: Line::new(&disabled.description),
        reason: disabled.reason.clone(),
        failing_since: disabled.failing_since,
        last_error: Line::new(error),
    }
}
