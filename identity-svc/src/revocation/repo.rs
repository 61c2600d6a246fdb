//! SQL of token versions and revocations.

use platform::auth::Kind;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{auth::api_key::ApiKeyId, error::Result, user::UserId};

/// The channel of Postgres on which revocations are announced.
const CHANNEL: &str = "identity_revocations";

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
