//! SQL of creations that are under way.

use platform::idempotency::Scope;
use sqlx::{PgConnection, PgExecutor};

use crate::{clients::wallet::WalletId, error::Result, user::UserId};

/// A creation that is under way, with what is needed to finish it.
#[derive(Debug)]
pub(super) struct Claim {
    pub(super) user_id: UserId,
    pub(super) email: String,
    pub(super) name: Option<String>,
    /// The existing wallet that is to become the user's.
    pub(super) wallet_id: Option<WalletId>,
    pub(super) scope: Option<Scope>,
}

/// Notes that the creation is under way. The request that made it has ten seconds before recovery
/// takes it over.
pub(super) async fn insert_in_tx(
    conn: &mut PgConnection,
    user_id: UserId,
    scope: Option<&Scope>,
) -> Result<()> {
    sqlx::query!(
        "insert into identity.user_provisionings (user_id, idempotency_scope, retry_at)
         values ($1, $2, now() + interval '10 seconds')",
        user_id as _,
        scope.map(Scope::as_bytes),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// The creation of this user, if it is under way.
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

/// The creation is over.
pub(super) async fn delete_in_tx(conn: &mut PgConnection, user_id: UserId) -> Result<()> {
    sqlx::query!(
        "delete from identity.user_provisionings where user_id = $1",
        user_id as _
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Takes over creations whose time has come; each comes again later, and later each time, until it
/// is over.
pub(super) async fn take_due(db: impl PgExecutor<'_>, limit: i64) -> Result<Vec<UserId>> {
    let taken = sqlx::query_scalar!(
        "update identity.user_provisionings
         set attempts = attempts + 1,
             retry_at = now() + least(power(2, least(attempts, 5)) * 5, 30) * interval '1 second'
         where user_id in (
             select user_id from identity.user_provisionings
             where retry_at <= now()
             order by retry_at
             limit $1
             for update skip locked)
         returning user_id",
        limit
    );
    Ok(taken.fetch_all(db).await?)
}
