//! SQL of token versions and revocations.

use platform::auth::{Kind, RETENTION, Revocation};
use sqlx::{PgConnection, PgPool, postgres::PgListener};
use uuid::Uuid;

use crate::{auth::api_key::ApiKeyId, error::Result, user::UserId};

/// The channel of Postgres on which revocations are announced.
pub(super) const CHANNEL: &str = "identity_revocations";

/// Raises the token version of a user, and returns it.
pub(super) async fn raise_user_version_in_tx(conn: &mut PgConnection, id: UserId) -> Result<i32> {
    let version = sqlx::query_scalar!(
        "update identity.users set token_version = token_version + 1
         where id = $1
         returning token_version",
        id as _
    );
    Ok(version.fetch_one(conn).await?)
}

/// Raises the token version of an API key, and returns it.
pub(super) async fn raise_key_version_in_tx(conn: &mut PgConnection, id: ApiKeyId) -> Result<i32> {
    let version = sqlx::query_scalar!(
        "update identity.api_keys set token_version = token_version + 1
         where id = $1
         returning token_version",
        id as _
    );
    Ok(version.fetch_one(conn).await?)
}

/// Records the lowest version that is accepted, and announces it at the commit.
pub(super) async fn upsert_in_tx(
    conn: &mut PgConnection,
    kind: Kind,
    subject: Uuid,
    min_version: i32,
) -> Result<()> {
    sqlx::query!(
        "insert into identity.revocations (subject_kind, subject_id, min_version)
         values ($1, $2, $3)
         on conflict (subject_kind, subject_id) do update
         set min_version = excluded.min_version, written_by = excluded.written_by,
             created_at = excluded.created_at",
        kind.as_str(),
        subject,
        min_version,
    )
    .execute(&mut *conn)
    .await?;
    sqlx::query!("select pg_notify($1, '')", CHANNEL)
        .execute(conn)
        .await?;
    Ok(())
}

/// The oldest transaction that was running at a read: all that the read did not include was written by
/// this one or later ones.
#[derive(Debug)]
pub(super) struct Horizon(String);

impl Horizon {
    /// Returns the horizon of a reader that has read nothing.
    pub(super) fn start() -> Self {
        Self("0".to_owned())
    }
}

/// Reads the revocations that still matter and were not included in the read that returned `horizon`;
/// some that were are returned again.
pub(super) async fn read_since(
    listener: &mut PgListener,
    horizon: &Horizon,
) -> Result<(Vec<Revocation>, Horizon), sqlx::Error> {
    // Before the rows: the horizon of a later snapshot could pass over a commit in between.
    let next = sqlx::query_scalar!(
        r#"select pg_snapshot_xmin(pg_current_snapshot())::text as "horizon!""#
    )
    .fetch_one(&mut *listener)
    .await?;
    let rows = sqlx::query!(
        "select subject_kind, subject_id, min_version
         from identity.revocations
         where written_by >= $1::text::xid8 and created_at > now() - make_interval(secs => $2)",
        horizon.0,
        RETENTION.as_secs_f64(),
    )
    .fetch_all(listener)
    .await?;
    let changed = rows.into_iter().filter_map(|row| {
        let kinds = [Kind::User, Kind::Key];
        Some(Revocation {
            kind: kinds
                .into_iter()
                .find(|kind| kind.as_str() == row.subject_kind)?,
            subject: row.subject_id.to_string(),
            min_version: row.min_version,
        })
    });
    Ok((changed.collect(), Horizon(next)))
}

/// Deletes the revocations that no longer matter.
pub(super) async fn delete_expired(pool: &PgPool) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "delete from identity.revocations where created_at < now() - make_interval(secs => $1)",
        RETENTION.as_secs_f64(),
    )
    .execute(pool)
    .await?;
    Ok(())
}
