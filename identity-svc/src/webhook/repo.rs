//! SQL of webhooks.

use std::collections::HashMap;

use chrono::{DateTime, TimeDelta, Utc};
use platform::{
    error::Failure,
    list::{Key, List, Page},
    pg,
};
use proto::{common::v1::ListRequest, lists::identity::WEBHOOKS};
use sqlx::{PgConnection, PgExecutor};
use uuid::Uuid;

use super::{
    WebhookId,
    model::{DisabledReason, MAX_WEBHOOKS, Webhook},
};
use crate::error::{Error, Result};

/// How long nothing may reach a webhook before it is disabled.
const FAILING_FOR: TimeDelta = TimeDelta::days(3);

/// The stored secrets of a webhook.
#[derive(Debug)]
pub(super) struct Sealed {
    pub(super) url: String,
    pub(super) secret: Vec<u8>,
    /// The one before, while it signs too.
    pub(super) old_secret: Option<Vec<u8>>,
}

/// The webhooks of a batch of attempts, by the results.
#[derive(Debug, Default)]
pub(super) struct Attempts {
    pub(super) reached: Vec<Uuid>,
    pub(super) failed: Vec<Uuid>,
    pub(super) gone: Vec<Uuid>,
    /// The last error of each that was not reached.
    pub(super) errors: HashMap<Uuid, String>,
}

/// A webhook that was disabled, because it does not receive events.
#[derive(Debug)]
pub(super) struct Disabled {
    pub(super) id: Uuid,
    pub(super) url: String,
    pub(super) description: String,
    /// `gone` or `failing`.
    pub(super) reason: String,
    pub(super) failing_since: DateTime<Utc>,
}

/// Inserts a webhook, unless there are as many as there may be.
pub(super) async fn insert_in_tx(
    conn: &mut PgConnection,
    webhook: &Webhook,
    sealed_secret: &[u8],
) -> Result<()> {
    // No other transaction inserts one between the count and the end of this one.
    sqlx::query!("lock table identity.webhooks in share row exclusive mode")
        .execute(&mut *conn)
        .await?;
    let count = sqlx::query_scalar!(r#"select count(*) as "count!" from identity.webhooks"#);
    if count.fetch_one(&mut *conn).await? >= MAX_WEBHOOKS {
        return Err(Error::InvalidState(
            "there are 50 webhooks, the most there may be",
        ));
    }
    sqlx::query!(
        "insert into identity.webhooks
             (id, url, events, description, enabled, disabled_at, disabled_reason, sealed_secret,
              created_at, updated_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)",
        webhook.id as _,
        webhook.url,
        &webhook.events,
        webhook.description,
        webhook.enabled,
        webhook.disabled_at,
        webhook.disabled_reason as _,
        sealed_secret,
        webhook.created_at,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Finds a webhook.
pub(super) async fn find(db: impl PgExecutor<'_>, id: WebhookId) -> Result<Option<Webhook>> {
    Ok(sqlx::query_as!(
        Webhook,
        r#"select id as "id: WebhookId", url, events, description, enabled, disabled_at,
                  disabled_reason as "disabled_reason: DisabledReason", failing_since, created_at,
                  updated_at
           from identity.webhooks where id = $1"#,
        id as _
    )
    .fetch_optional(db)
    .await?)
}

/// Finds and locks a webhook, to change it.
pub(super) async fn find_for_update_in_tx(
    conn: &mut PgConnection,
    id: WebhookId,
) -> Result<Option<Webhook>> {
    Ok(sqlx::query_as!(
        Webhook,
        r#"select id as "id: WebhookId", url, events, description, enabled, disabled_at,
                  disabled_reason as "disabled_reason: DisabledReason", failing_since, created_at,
                  updated_at
           from identity.webhooks where id = $1 for update"#,
        id as _
    )
    .fetch_optional(conn)
    .await?)
}

/// Finds the secrets of a webhook.
pub(super) async fn find_sealed(
    db: impl PgExecutor<'_>,
    id: WebhookId,
    now: DateTime<Utc>,
) -> Result<Option<Sealed>> {
    Ok(sqlx::query_as!(
        Sealed,
        "select url, sealed_secret as secret,
                case when old_secret_until > $2 then old_sealed_secret end as old_secret
         from identity.webhooks where id = $1",
        id as _,
        now,
    )
    .fetch_optional(db)
    .await?)
}

/// Writes a changed webhook, which the caller has locked.
pub(super) async fn update_in_tx(conn: &mut PgConnection, webhook: &Webhook) -> Result<()> {
    let updated = sqlx::query!(
        "update identity.webhooks
         set url = $2, events = $3, description = $4, enabled = $5, disabled_at = $6,
             disabled_reason = $7, failing_since = $8, updated_at = $9
         where id = $1",
        webhook.id as _,
        webhook.url,
        &webhook.events,
        webhook.description,
        webhook.enabled,
        webhook.disabled_at,
        webhook.disabled_reason as _,
        webhook.failing_since,
        webhook.updated_at,
    )
    .execute(conn)
    .await?;
    Ok(pg::ensure_affected(updated, 1)?)
}

/// Replaces the secret. The one before signs too until `old_until`.
pub(super) async fn rotate_secret_in_tx(
    conn: &mut PgConnection,
    id: WebhookId,
    sealed_secret: &[u8],
    now: DateTime<Utc>,
    old_until: DateTime<Utc>,
) -> Result<()> {
    let updated = sqlx::query!(
        "update identity.webhooks
         set old_sealed_secret = sealed_secret, old_secret_until = $4, sealed_secret = $2,
             updated_at = $3
         where id = $1",
        id as _,
        sealed_secret,
        now,
        old_until,
    )
    .execute(conn)
    .await?;
    Ok(pg::ensure_affected(updated, 1)?)
}

/// Deletes a webhook, which the caller has locked, with its deliveries.
pub(super) async fn delete_in_tx(conn: &mut PgConnection, id: WebhookId) -> Result<()> {
    let deleted = sqlx::query!("delete from identity.webhooks where id = $1", id as _);
    Ok(pg::ensure_affected(deleted.execute(conn).await?, 1)?)
}

/// Lists webhooks.
pub(super) async fn list(
    conn: &mut PgConnection,
    request: &ListRequest,
) -> Result<Page<Webhook>, Failure> {
    List::new(&WEBHOOKS, "identity.webhooks w", Key::Id("w.id"))
        .select(
            "w.id, w.url, w.events, w.description, w.enabled, w.disabled_at, w.disabled_reason,
             w.failing_since, w.created_at, w.updated_at",
        )
        .fetch(conn, request)
        .await
}

/// Notes since when webhooks fail.
pub(super) async fn note_failing_in_tx(
    conn: &mut PgConnection,
    attempts: &Attempts,
    now: DateTime<Utc>,
) -> Result<()> {
    sqlx::query!(
        "update identity.webhooks set failing_since = case when id = any($2) then $3::timestamptz end
         where (id = any($1) and failing_since is not null)
             or (id = any($2) and failing_since is null)",
        &attempts.reached,
        &attempts.failed,
        now,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Disables the webhooks that are gone or have failed for long.
pub(super) async fn disable_in_tx(
    conn: &mut PgConnection,
    attempts: &Attempts,
    now: DateTime<Utc>,
) -> Result<Vec<Disabled>> {
    Ok(sqlx::query_as!(
        Disabled,
        r#"update identity.webhooks
           set enabled = false, disabled_at = $3,
               updated_at = greatest($3, updated_at + interval '1 millisecond'),
               disabled_reason = case when id = any($1) then 'gone' else 'failing' end
           where enabled and (id = any($1) or (id = any($2) and failing_since <= $4))
           returning id, url, description, disabled_reason as "reason!",
               coalesce(failing_since, $3) as "failing_since!""#,
        &attempts.gone,
        &attempts.failed,
        now,
        now - FAILING_FOR,
    )
    .fetch_all(conn)
    .await?)
}
