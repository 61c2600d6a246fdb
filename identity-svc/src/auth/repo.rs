//! SQL of API keys. They expire by the database's clock.

use chrono::{DateTime, Utc};
use platform::auth::Role;
use sqlx::{PgConnection, PgExecutor};

use super::api_key::{ApiKey, ApiKeyId};

/// Finds the usable key with this hash.
pub(super) async fn find_usable(
    db: impl PgExecutor<'_>,
    hash: &[u8; 32],
) -> Result<Option<ApiKey>, sqlx::Error> {
    let row = sqlx::query!(
        r#"select id as "id: ApiKeyId", roles, token_version,
                  floor(extract(epoch from expires_at - now()))::bigint as seconds_left,
                  coalesce(last_used_at < now() - interval '1 minute', true) as "is_use_old!"
           from identity.api_keys
           where key_hash = $1
             and revoked_at is null
             and (expires_at is null or expires_at > now())"#,
        hash
    )
    .fetch_optional(db)
    .await?;
    Ok(row.map(|row| ApiKey {
        id: row.id,
        roles: Role::parse_known(&row.roles),
        token_version: row.token_version,
        seconds_left: row.seconds_left,
        is_use_old: row.is_use_old,
    }))
}

/// Records that a key is used now, unless another process has done so within a minute.
pub(super) async fn record_use(db: impl PgExecutor<'_>, id: ApiKeyId) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update identity.api_keys set last_used_at = now()
         where id = $1 and coalesce(last_used_at < now() - interval '1 minute', true)",
        id as _
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Replaces the key stored under this id. Returns `false` if it is stored already, or none is.
pub(super) async fn replace_admin_in_tx(
    conn: &mut PgConnection,
    id: ApiKeyId,
    hash: &[u8; 32],
) -> Result<bool, sqlx::Error> {
    let replaced = sqlx::query!(
        "update identity.api_keys
         set key_hash = $2, roles = '{admin}', revoked_at = null
         where id = $1 and (key_hash <> $2 or revoked_at is not null)",
        id as _,
        hash,
    )
    .execute(conn)
    .await?;
    Ok(replaced.rows_affected() == 1)
}

/// Stores an admin key under this id, if there is none.
pub(super) async fn insert_admin_in_tx(
    conn: &mut PgConnection,
    id: ApiKeyId,
    name: &str,
    hash: &[u8; 32],
    now: DateTime<Utc>,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into identity.api_keys (id, name, key_hash, roles, created_at)
         values ($1, $2, $3, '{admin}', $4)
         on conflict (id) do nothing",
        id as _,
        name,
        hash,
        now,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Ends the key with this id. Returns `false` if it has ended already, or there is none.
pub(crate) async fn end_in_tx(
    conn: &mut PgConnection,
    id: ApiKeyId,
    now: DateTime<Utc>,
) -> Result<bool, sqlx::Error> {
    let ended = sqlx::query!(
        "update identity.api_keys set revoked_at = $2 where id = $1 and revoked_at is null",
        id as _,
        now
    )
    .execute(conn)
    .await?;
    Ok(ended.rows_affected() == 1)
}
