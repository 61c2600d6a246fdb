//! SQL of creations in progress.

use platform::{idempotency::Scope, saga};
use sqlx::{PgConnection, PgExecutor};

use crate::{clients::wallet::WalletId, error::Result, user::UserId};

/// A creation in progress, with the data to complete it.
#[derive(Debug)]
pub(super) struct Claim {
    pub(super) user_id: UserId,
    pub(super) email: String,
    pub(super) name: Option<String>,
    /// The existing wallet that the request named.
    pub(super) wallet_id: Option<WalletId>,
    pub(super) scope: Option<Scope>,
}

/// Inserts the claim. Its request has the time of a lease before a worker resumes it.
pub(super) async fn insert_in_tx(
    conn: &mut PgConnection,
    user_id: UserId,
    scope: Option<&Scope>,
) -> Result<()> {
    sqlx::query!(
        "insert into identity.user_provisionings (user_id, idempotency_scope, due_at)
         values ($1, $2, now() + $3 * interval '1 second')",
        user_id as _,
        scope.map(Scope::as_bytes),
        saga::LEASE.as_secs_f64(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Returns the claim of this user's creation; `None` if it has ended.
pub(super) async fn find(db: impl PgExecutor<'_>, user_id: UserId) -> Result<Option<Claim>> {
    let row = sqlx::query!(
        "select u.id, u.email, u.name, u.primary_wallet_id, p.idempotency_scope
         from identity.user_provisionings p
         join identity.users u on u.id = p.user_id
         where p.user_id = $1",
        user_id as _
    )
    .fetch_optional(db)
    .await?;
    Ok(row.map(|row| Claim {
        user_id: row.id,
        email: row.email,
        name: row.name,
        wallet_id: row.primary_wallet_id,
        scope: row.idempotency_scope.as_deref().and_then(Scope::from_bytes),
    }))
}

/// Deletes the claim: the creation has ended.
pub(super) async fn delete_in_tx(conn: &mut PgConnection, user_id: UserId) -> Result<()> {
    sqlx::query!(
        "delete from identity.user_provisionings where user_id = $1",
        user_id as _
    )
    .execute(conn)
    .await?;
    Ok(())
}
