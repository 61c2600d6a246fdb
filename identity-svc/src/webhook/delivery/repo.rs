//! SQL of deliveries. Times are of the clock of the service.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use platform::{
    error::Failure,
    list::{Key, List, Page},
};
use proto::{common::v1::ListRequest, lists::identity::WEBHOOK_DELIVERIES};
use sqlx::{PgConnection, PgExecutor};
use uuid::Uuid;

use super::{
    Delivery, DeliveryId,
    model::{Claimed, Outcome},
};
use crate::{error::Result, public_event::PublicEvent, webhook::WebhookId};

/// A webhook that takes events.
#[derive(Debug)]
pub(crate) struct Subscription {
    pub(crate) id: WebhookId,
    pub(crate) events: Vec<String>,
}

/// A delivery to queue.
#[derive(Debug)]
pub(crate) struct NewDelivery {
    pub(crate) id: Uuid,
    pub(crate) webhook_id: WebhookId,
    /// The row of the event.
    pub(crate) row_id: Uuid,
    pub(crate) event_id: Uuid,
    pub(crate) event_type: String,
}

/// How many more deliveries a process takes.
#[derive(Debug)]
pub(super) struct Room<'a> {
    /// Attempts in progress.
    pub(super) busy: &'a HashMap<WebhookId, i32>,
    /// Attempts of a webhook at once; one while it fails.
    pub(super) per_webhook: i32,
}

/// Returns the enabled webhooks, none of which is deleted before the transaction ends.
pub(crate) async fn subscriptions_in_tx(
    conn: &mut PgConnection,
) -> Result<Vec<Subscription>, sqlx::Error> {
    sqlx::query_as!(
        Subscription,
        r#"select id as "id: WebhookId", events from identity.webhooks
           where enabled order by id for key share"#
    )
    .fetch_all(conn)
    .await
}

/// Queues deliveries, each event once for each webhook.
pub(crate) async fn insert_in_tx(
    conn: &mut PgConnection,
    deliveries: &[NewDelivery],
    now: DateTime<Utc>,
    retry_until: DateTime<Utc>,
) -> Result<(), sqlx::Error> {
    let column = |value: fn(&NewDelivery) -> Uuid| deliveries.iter().map(value).collect::<Vec<_>>();
    let types = deliveries
        .iter()
        .map(|delivery| delivery.event_type.clone());
    sqlx::query!(
        "insert into identity.webhook_deliveries
             (id, webhook_id, row_id, event_id, event_type, due_at, retry_until, created_at, updated_at)
         select id, webhook_id, row_id, event_id, event_type, $6, $7, $6, $6
         from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[])
             as new (id, webhook_id, row_id, event_id, event_type)
         on conflict (webhook_id, event_id) do nothing",
        &column(|delivery| delivery.id),
        &column(|delivery| delivery.webhook_id.uuid()),
        &column(|delivery| delivery.row_id),
        &column(|delivery| delivery.event_id),
        &types.collect::<Vec<_>>(),
        now,
        retry_until,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Takes deliveries that are due, the longest due first, as many of each webhook as there is room for.
/// Each is due again when its lease ends.
pub(super) async fn claim(
    db: impl PgExecutor<'_>,
    room: &Room<'_>,
    now: DateTime<Utc>,
    lease_until: DateTime<Utc>,
) -> Result<Vec<Claimed>, sqlx::Error> {
    let (webhooks, busy): (Vec<_>, Vec<_>) = room
        .busy
        .iter()
        .map(|(webhook, count)| (webhook.uuid(), *count))
        .unzip();
    let rows = sqlx::query!(
        r#"with due as materialized (
               select d.id
               from identity.webhooks w
               left join unnest($1::uuid[], $2::int[]) as busy (id, count) on busy.id = w.id
               cross join lateral (
                   select id from identity.webhook_deliveries
                   where webhook_id = w.id and status = 'pending' and due_at <= $3
                   order by due_at
                   limit greatest(0,
                       case when w.failing_since is null then $4::int else 1 end
                           - coalesce(busy.count, 0))
                   for update skip locked) d
               where w.enabled)
           update identity.webhook_deliveries d
           set attempts = attempts + 1, due_at = $5
           from due, identity.public_events e, identity.webhooks w
           where d.id = due.id and e.id = d.row_id and w.id = d.webhook_id
           returning d.id as "id: DeliveryId", d.webhook_id as "webhook_id: WebhookId", d.attempts,
               d.failures, d.retry_until, w.url, w.sealed_secret,
               case when w.old_secret_until > $3 then w.old_sealed_secret end as old_sealed_secret,
               d.event_id, d.event_type, e.data, e.occurred_at"#,
        &webhooks,
        &busy,
        now,
        room.per_webhook,
        lease_until,
    )
    .fetch_all(db)
    .await?;
    let claimed = rows.into_iter().map(|row| Claimed {
        id: row.id,
        webhook_id: row.webhook_id,
        attempts: row.attempts,
        failures: row.failures,
        retry_until: row.retry_until,
        url: row.url,
        sealed_secret: row.sealed_secret,
        old_sealed_secret: row.old_sealed_secret,
        event: PublicEvent {
            id: row.event_id,
            event_type: row.event_type,
            data: row.data,
            occurred_at: row.occurred_at,
        },
    });
    Ok(claimed.collect())
}

/// Records the ends of attempts, but for deliveries that were taken again since.
pub(super) async fn record_in_tx(
    conn: &mut PgConnection,
    outcomes: &[Outcome],
    now: DateTime<Utc>,
) -> Result<(), sqlx::Error> {
    let ids: Vec<_> = outcomes.iter().map(|outcome| outcome.id.uuid()).collect();
    let attempts: Vec<_> = outcomes.iter().map(|outcome| outcome.attempts).collect();
    let failures: Vec<_> = outcomes.iter().map(|outcome| outcome.failures).collect();
    let statuses = outcomes
        .iter()
        .map(|outcome| outcome.status.as_str().to_owned());
    let due: Vec<_> = outcomes.iter().map(|outcome| outcome.due_at).collect();
    let results = || outcomes.iter().map(|outcome| &outcome.attempt);
    let codes: Vec<_> = results()
        .map(|attempt| attempt.status.map(i32::from))
        .collect();
    let errors: Vec<_> = results().map(|attempt| attempt.error.clone()).collect();
    let millis = results().map(|attempt| i32::try_from(attempt.millis()).unwrap_or(i32::MAX));
    sqlx::query!(
        "update identity.webhook_deliveries d
         set status = o.status, failures = o.failures, due_at = o.due_at, last_attempted_at = $9,
             last_status_code = o.code, last_error = o.error, last_duration_ms = o.millis,
             delivered_at = case when o.status = 'delivered' then $9::timestamptz end,
             updated_at = $9
         from unnest($1::uuid[], $2::int[], $3::int[], $4::text[], $5::timestamptz[], $6::int[],
                     $7::text[], $8::int[])
             as o (id, attempts, failures, status, due_at, code, error, millis)
         where d.id = o.id and d.attempts = o.attempts",
        &ids,
        &attempts,
        &failures,
        &statuses.collect::<Vec<_>>(),
        &due,
        &codes as &[Option<i32>],
        &errors as &[Option<String>],
        &millis.collect::<Vec<_>>(),
        now,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Queues a delivery again. Returns it; `None` if the webhook has no such delivery.
pub(in crate::webhook) async fn requeue_in_tx(
    conn: &mut PgConnection,
    webhook: WebhookId,
    id: DeliveryId,
    now: DateTime<Utc>,
    retry_until: DateTime<Utc>,
) -> Result<Option<Delivery>> {
    Ok(sqlx::query_as!(
        Delivery,
        r#"update identity.webhook_deliveries
           set status = 'pending', failures = 0, due_at = $3, retry_until = $4, delivered_at = null,
               updated_at = $3
           where webhook_id = $1 and id = $2
           returning id as "id: DeliveryId", webhook_id as "webhook_id: WebhookId", event_id,
               event_type, status as "status: super::Status", attempts, due_at, last_attempted_at,
               last_status_code, last_error, last_duration_ms, delivered_at, created_at, updated_at"#,
        webhook as _,
        id as _,
        now,
        retry_until,
    )
    .fetch_optional(conn)
    .await?)
}

/// Lists the deliveries of a webhook.
pub(in crate::webhook) async fn list(
    conn: &mut PgConnection,
    request: &ListRequest,
    webhook: WebhookId,
) -> Result<Page<Delivery>, Failure> {
    List::new(
        &WEBHOOK_DELIVERIES,
        "identity.webhook_deliveries d",
        Key::Id("d.id"),
    )
    .select(
        "d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempts, d.due_at,
         d.last_attempted_at, d.last_status_code, d.last_error, d.last_duration_ms, d.delivered_at,
         d.created_at, d.updated_at",
    )
    .only_with("d.webhook_id = ?", Some(webhook.uuid()))
    .fetch(conn, request)
    .await
}

/// Returns the number of deliveries of enabled webhooks that wait, and how long the longest of them is
/// overdue, in seconds.
pub(super) async fn backlog(
    db: impl PgExecutor<'_>,
    now: DateTime<Utc>,
) -> Result<(f64, f64), sqlx::Error> {
    let row = sqlx::query!(
        r#"select count(*)::float8 as "count!",
                  greatest(0, coalesce(extract(epoch from $1 - min(d.due_at)), 0))::float8 as "oldest!"
           from identity.webhook_deliveries d
           join identity.webhooks w on w.id = d.webhook_id
           where d.status = 'pending' and w.enabled"#,
        now,
    )
    .fetch_one(db)
    .await?;
    Ok((row.count, row.oldest))
}
