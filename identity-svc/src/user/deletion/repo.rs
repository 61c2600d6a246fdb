//! SQL of deletions in progress, and of erasing a user.

use platform::{pg, saga};
use sqlx::{PgConnection, PgExecutor};

use crate::{
    error::Result,
    user::{User, UserId, canonical_email},
};

/// Inserts the claim, unless the user has one. Its request has the time of a lease before a worker
/// resumes it.
pub(super) async fn insert_in_tx(conn: &mut PgConnection, id: UserId) -> Result<()> {
    sqlx::query!(
        "insert into identity.user_deletions (user_id, due_at)
         values ($1, now() + $2 * interval '1 second')
         on conflict (user_id) do nothing",
        id as _,
        saga::LEASE.as_secs_f64(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Deletes the claim: the deletion has ended.
pub(super) async fn delete(db: impl PgExecutor<'_>, id: UserId) -> Result<()> {
    sqlx::query!(
        "delete from identity.user_deletions where user_id = $1",
        id as _
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Returns whether the user's deletion is in progress.
pub(super) async fn exists(db: impl PgExecutor<'_>, id: UserId) -> Result<bool> {
    let exists = sqlx::query_scalar!(
        r#"select exists (
               select from identity.user_deletions where user_id = $1) as "exists!""#,
        id as _
    );
    Ok(exists.fetch_one(db).await?)
}

/// Removes what tells who the user was, from a user whose version has been raised by one. The email
/// is free again.
pub(super) async fn erase_in_tx(conn: &mut PgConnection, user: &User) -> Result<()> {
    sqlx::query!(
        "delete from identity.credentials where user_id = $1",
        user.id as _
    )
    .execute(&mut *conn)
    .await?;
    sqlx::query!(
        "delete from identity.account_tokens where user_id = $1",
        user.id as _
    )
    .execute(&mut *conn)
    .await?;
    sqlx::query!(
        "delete from identity.mails where lower(recipient) = $1",
        canonical_email(&user.email)
    )
    .execute(&mut *conn)
    .await?;
    let erased = sqlx::query!(
        "update identity.users
         set state = 'deleted', email = null, canonical_email = null, email_confirmed_at = null,
             name = null, phone = null, locale = null, custom_data = '{}', version = version + 1,
             updated_at = $2
         where id = $1 and version = $3 and state = 'active'",
        user.id as _,
        user.updated_at,
        user.version - 1,
    )
    .execute(conn)
    .await?;
    Ok(pg::ensure_affected(erased, 1)?)
}
