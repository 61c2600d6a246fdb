//! SQL of refresh tokens, one row a family. They expire by the database's clock.

use platform::auth::Role;
use sqlx::{PgConnection, PgExecutor};

use super::refresh_token::RefreshToken;
use crate::{error::Result, user::UserId};

/// The password of a user who may log in, as far as its state says.
#[derive(Debug)]
pub(super) struct Account {
    pub(super) user_id: UserId,
    pub(super) password_hash: String,
    /// Whether it is approved and not blocked.
    pub(super) may_log_in: bool,
}

/// The user that a token is issued to.
#[derive(Debug)]
pub(super) struct Holder {
    pub(super) user_id: UserId,
    pub(super) roles: Vec<Role>,
    pub(super) token_version: i32,
}

impl Holder {
    fn new(user_id: UserId, roles: &[String], token_version: i32) -> Self {
        Self {
            user_id,
            roles: Role::parse_known(roles),
            token_version,
        }
    }
}

/// Finds the account with this email.
pub(super) async fn find_account(
    db: impl PgExecutor<'_>,
    canonical_email: &str,
) -> Result<Option<Account>> {
    Ok(sqlx::query_as!(
        Account,
        r#"select u.id as user_id, c.password_hash, u.approved and not u.blocked as "may_log_in!"
           from identity.users u
           join identity.credentials c on c.user_id = u.id
           where u.canonical_email = $1 and u.state = 'active'"#,
        canonical_email
    )
    .fetch_optional(db)
    .await?)
}

/// Starts a family. `None` if the user was blocked, or its password changed, since the account was
/// read: the statement locks both against changes.
pub(super) async fn start(
    db: impl PgExecutor<'_>,
    account: &Account,
    token: &RefreshToken,
) -> Result<Option<Holder>> {
    let row = sqlx::query!(
        "with holder as (
             select u.id, u.roles, u.token_version
             from identity.users u
             join identity.credentials c on c.user_id = u.id
             where u.id = $1 and u.state = 'active' and u.approved and not u.blocked
                 and c.password_hash = $2
             for share
         ), started as (
             insert into identity.refresh_tokens (family_id, user_id, token_hash, expires_at)
             select $3, id, $4, now() + interval '30 days' from holder
         )
         select id, roles, token_version from holder",
        account.user_id as _,
        account.password_hash,
        token.family() as _,
        &token.hash(),
    )
    .fetch_optional(db)
    .await?;
    Ok(row.map(|row| Holder::new(row.id, &row.roles, row.token_version)))
}

/// Replaces the newest token of a family. `None` if `used` is not the newest, or its user may not log
/// in. Of concurrent uses of one token, the first takes the row, and the others do not match it.
pub(super) async fn rotate(
    db: impl PgExecutor<'_>,
    used: &RefreshToken,
    next: &RefreshToken,
) -> Result<Option<Holder>> {
    let row = sqlx::query!(
        "update identity.refresh_tokens t
         set token_hash = $3, rotated_at = now(), expires_at = now() + interval '30 days'
         from identity.users u
         where t.family_id = $1 and t.token_hash = $2 and t.expires_at > now()
             and u.id = t.user_id and u.state = 'active' and u.approved and not u.blocked
         returning u.id, u.roles, u.token_version",
        used.family() as _,
        &used.hash(),
        &next.hash(),
    )
    .fetch_optional(db)
    .await?;
    Ok(row.map(|row| Holder::new(row.id, &row.roles, row.token_version)))
}

/// Ends the family of a token. Returns its user if it had not expired.
pub(super) async fn end(db: impl PgExecutor<'_>, token: &RefreshToken) -> Result<Option<UserId>> {
    let row = sqlx::query!(
        r#"delete from identity.refresh_tokens where family_id = $1
           returning user_id, expires_at > now() as "is_live!""#,
        token.family() as _
    )
    .fetch_optional(db)
    .await?;
    Ok(row.filter(|row| row.is_live).map(|row| row.user_id))
}

/// Ends all families of a user.
pub(super) async fn end_all_in_tx(conn: &mut PgConnection, user_id: UserId) -> Result<()> {
    sqlx::query!(
        "delete from identity.refresh_tokens where user_id = $1",
        user_id as _
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Stores the hash of a password again, made with other parameters.
pub(super) async fn replace_hash(
    db: impl PgExecutor<'_>,
    account: &Account,
    password_hash: &str,
) -> Result<bool> {
    let replaced = sqlx::query!(
        "update identity.credentials set password_hash = $3
         where user_id = $1 and password_hash = $2",
        account.user_id as _,
        account.password_hash,
        password_hash,
    )
    .execute(db)
    .await?;
    Ok(replaced.rows_affected() == 1)
}

/// Deletes expired families, at most this many. Returns how many there were.
pub(super) async fn purge(db: impl PgExecutor<'_>, most: i64) -> Result<u64> {
    let purged = sqlx::query!(
        "delete from identity.refresh_tokens where family_id in (
             select family_id from identity.refresh_tokens
             where expires_at < now() limit $1 for update skip locked)",
        most
    )
    .execute(db)
    .await?;
    Ok(purged.rows_affected())
}
