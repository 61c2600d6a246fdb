//! SQL of the queue. Times are of the database's clock.

use std::time::Duration;

use sqlx::{PgConnection, PgExecutor};

use super::{DisabledWebhook, Kind, Mail};
use crate::{
    error::{Error, Result},
    user::UserId,
};

/// How long a process has for a mail that it has taken, before another takes it.
pub(super) const LEASE: Duration = Duration::from_mins(1);

/// How long rows stay that are sent or given up.
const RETENTION: &str = "7 days";

/// Admins who get a notice.
const MAX_ADMINS: i64 = 20;

/// Rows that a purge deletes at once.
const PURGE_BATCH: i64 = 2_000;

/// A mail that a worker has taken.
#[derive(Debug)]
pub(super) struct Queued {
    pub(super) id: i64,
    pub(super) kind: Kind,
    pub(super) recipient: String,
    pub(super) user_id: Option<UserId>,
    pub(super) code: Option<String>,
    /// JSON.
    pub(super) details: Option<String>,
    /// This attempt included: tells it from the attempt of another process.
    pub(super) attempts: i32,
}

/// The end of an attempt.
#[derive(Debug)]
pub(super) enum Outcome {
    Sent,
    /// Nobody is to get the mail.
    Dropped,
    /// It is tried again after the delay.
    Retry(String, Duration),
    /// It is not tried again.
    Failed(String),
}

/// Queues a mail in the transaction of what it is about.
pub(crate) async fn enqueue_in_tx(conn: &mut PgConnection, mail: &Mail) -> Result<()> {
    sqlx::query!(
        "insert into identity.mails (kind, recipient, user_id, code) values ($1, $2, $3, $4)",
        mail.kind().as_str(),
        mail.recipient().as_str(),
        mail.user() as _,
        mail.code(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Queues a notice to each admin with a confirmed email, the first ones if there are many, in the
/// transaction that disables the webhook.
pub(crate) async fn enqueue_to_admins_in_tx(
    conn: &mut PgConnection,
    webhook: &DisabledWebhook,
) -> Result<()> {
    let details = serde_json::to_string(webhook).map_err(Error::internal)?;
    // As in `User::gets_notices`, which is asked again when the mail is sent.
    sqlx::query!(
        "insert into identity.mails (kind, recipient, details)
         select $1::text, email, $2::text from identity.users
         where 'admin' = any (roles) and state = 'active' and approved and not blocked
             and email_confirmed_at is not null
         order by created_at, id limit $3",
        Kind::WebhookDisabled.as_str(),
        details,
        MAX_ADMINS,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Returns how long it takes until so many more mails of a kind may be queued in the name of a user, who
/// gets at most `limit` within an hour; `None` if they may be now. The caller has locked the user.
pub(crate) async fn wait_for(
    db: impl PgExecutor<'_>,
    kind: Kind,
    user: UserId,
    more: usize,
    limit: usize,
) -> Result<Option<Duration>> {
    // The mails that may stay in the hour, and the newest of those that may not.
    let kept = i64::try_from(limit.saturating_sub(more)).map_err(Error::internal)?;
    let seconds = sqlx::query_scalar!(
        r#"select extract(epoch from created_at + interval '1 hour' - now())::float8 as "seconds!"
           from identity.mails
           where kind = $1 and user_id = $2 and created_at > now() - interval '1 hour'
           order by created_at desc offset $3 limit 1"#,
        kind.as_str(),
        user as _,
        kept,
    );
    let seconds = seconds.fetch_optional(db).await?;
    Ok(seconds.map(|seconds| Duration::from_secs_f64(seconds.max(1.0))))
}

/// Counts the mails of the same kind to the same recipient that were queued within the hour before
/// this one and not dropped.
pub(super) async fn count_before(db: impl PgExecutor<'_>, mail: &Queued) -> Result<i64> {
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from identity.mails
           where kind = $1 and lower(recipient) = lower($2) and id < $3
             and created_at > now() - interval '1 hour'"#,
        mail.kind.as_str(),
        mail.recipient,
        mail.id,
    );
    Ok(count.fetch_one(db).await?)
}

/// Deletes the mails to an address whose user is erased.
pub(crate) async fn erase_in_tx(conn: &mut PgConnection, recipient: &str) -> Result<()> {
    sqlx::query!(
        "delete from identity.mails where lower(recipient) = lower($1)",
        recipient
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Takes mails that are due, the longest due first. Each is due again when its lease ends.
pub(super) async fn take_due(
    db: impl PgExecutor<'_>,
    limit: usize,
) -> Result<Vec<Queued>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"update identity.mails
           set attempts = attempts + 1, due_at = now() + $1 * interval '1 second'
           where id in (
               select id from identity.mails
               where due_at <= now() and sent_at is null and failed_at is null
               order by due_at limit $2 for update skip locked)
           returning id, kind, recipient, user_id, code, details, attempts"#,
        LEASE.as_secs_f64(),
        i64::try_from(limit).unwrap_or(i64::MAX),
    )
    .fetch_all(db)
    .await?;
    // A kind of a later version waits for a process that knows it.
    let known = rows.into_iter().filter_map(|row| {
        Some(Queued {
            id: row.id,
            kind: Kind::parse(&row.kind)?,
            recipient: row.recipient,
            user_id: row.user_id,
            code: row.code,
            details: row.details,
            attempts: row.attempts,
        })
    });
    Ok(known.collect())
}

/// Records the end of an attempt, unless another process has taken the mail since.
pub(super) async fn record(
    db: impl PgExecutor<'_>,
    mail: &Queued,
    outcome: &Outcome,
) -> Result<(), sqlx::Error> {
    let (id, attempts) = (mail.id, mail.attempts);
    let recorded = match outcome {
        Outcome::Sent => sqlx::query!(
            "update identity.mails set sent_at = now(), last_error = null
             where id = $1 and attempts = $2",
            id,
            attempts
        ),
        Outcome::Dropped => sqlx::query!(
            "delete from identity.mails where id = $1 and attempts = $2",
            id,
            attempts
        ),
        Outcome::Retry(error, delay) => sqlx::query!(
            "update identity.mails
             set due_at = now() + $3 * interval '1 second', last_error = $4
             where id = $1 and attempts = $2",
            id,
            attempts,
            delay.as_secs_f64(),
            error
        ),
        Outcome::Failed(error) => sqlx::query!(
            "update identity.mails set failed_at = now(), last_error = $3
             where id = $1 and attempts = $2",
            id,
            attempts,
            error
        ),
    };
    recorded.execute(db).await?;
    Ok(())
}

/// Returns the number of mails that wait, and the age of the oldest in seconds.
pub(super) async fn backlog(db: impl PgExecutor<'_>) -> Result<(f64, f64), sqlx::Error> {
    let row = sqlx::query!(
        r#"select count(*)::float8 as "count!",
                  coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as "oldest!"
           from identity.mails where sent_at is null and failed_at is null"#
    )
    .fetch_one(db)
    .await?;
    Ok((row.count, row.oldest))
}

/// Deletes old mails. Returns `false` if some are left.
pub(super) async fn purge(db: impl PgExecutor<'_>) -> Result<bool, sqlx::Error> {
    let deleted = sqlx::query!(
        "delete from identity.mails where id in (
             select id from identity.mails
             where created_at < now() - $1::text::interval
                 and (sent_at is not null or failed_at is not null)
             limit $2)",
        RETENTION,
        PURGE_BATCH
    )
    .execute(db)
    .await?;
    Ok(deleted.rows_affected() < PURGE_BATCH.unsigned_abs())
}
