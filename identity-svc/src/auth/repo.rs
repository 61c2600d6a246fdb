//! SQL of API keys. They expire by the database's clock.

use chrono::{DateTime, Utc};
use platform::auth::Role;
use sqlx::PgExecutor;

use super::api_key::{ApiKey, ApiKeyId};

/// Finds the usable key with this hash.
pub(super) async fn find_usable(
    db: impl PgExecutor<'_>,
    hash: &[u8; 32],
) -> Result<Option<ApiKey>, sqlx::Error> {
    let row = sqlx::query!(
        r#"select id as "id: ApiKeyId", roles,
                  floor(extract(epoch from expires_at - now()))::bigint as seconds_left
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
        roles: row
            .roles
            .iter()
            .filter_map(|name| Role::parse(name))
            .collect(),
        seconds_left: row.seconds_left,
    }))
}

/// Stores an admin key under this id. It replaces the key stored there before.
pub(super) async fn upsert_admin(
    db: impl PgExecutor<'_>,
    id: ApiKeyId,
    name: &str,
    hash: &[u8; 32],
    now: DateTime<Utc>,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into identity.api_keys as key (id, name, key_hash, roles, created_at)
         values ($1, $2, $3, '{admin}', $4)
         on conflict (id) do update
         set name = excluded.name, key_hash = excluded.key_hash, roles = excluded.roles,
             revoked_at = null
         where key.key_hash <> excluded.key_hash or key.revoked_at is not null",
        id as _,
        name,
        hash,
        now
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Revokes the key with this id, if there is one.
pub(super) async fn revoke(
    db: impl PgExecutor<'_>,
    id: ApiKeyId,
    now: DateTime<Utc>,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update identity.api_keys set revoked_at = $2 where id = $1 and revoked_at is null",
        id as _,
        now
    )
    .execute(db)
    .await?;
    Ok(())
}
