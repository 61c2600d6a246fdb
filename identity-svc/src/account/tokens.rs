//! The table of tokens. They expire by the database's clock.

use std::time::Duration;

use sqlx::{PgConnection, PgExecutor};

use super::token::{Token, TokenHash};
use crate::{
    error::{Error, Result},
    user::{Email, UserId},
};

/// Rows that a purge deletes at once.
const PURGE_BATCH: i64 = 2_000;

/// What the owner of a token may do, once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Grant {
    /// Choose a new password.
    ResetPassword,
    /// Confirm the address of the user.
    ConfirmEmail(Email),
    /// Make the address the user's.
    ChangeEmail(Email),
}

/// The kind of a [`Grant`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    ResetPassword,
    ConfirmEmail,
    ChangeEmail,
}

impl Purpose {
    const fn as_str(self) -> &'static str {
        match self {
            Self::ResetPassword => "reset_password",
            Self::ConfirmEmail => "confirm_email",
            Self::ChangeEmail => "change_email",
        }
    }
}

impl Grant {
    const fn purpose(&self) -> Purpose {
        match self {
            Self::ResetPassword => Purpose::ResetPassword,
            Self::ConfirmEmail(_) => Purpose::ConfirmEmail,
            Self::ChangeEmail(_) => Purpose::ChangeEmail,
        }
    }

    fn email(&self) -> Option<&str> {
        match self {
            Self::ResetPassword => None,
            Self::ConfirmEmail(email) | Self::ChangeEmail(email) => Some(email.as_str()),
        }
    }

    /// Returns how long a token works. Whoever reads the mailbox later must not get the account.
    pub(crate) const fn lifetime(&self) -> Duration {
        match self {
            Self::ResetPassword => Duration::from_hours(1),
            Self::ConfirmEmail(_) => Duration::from_hours(72),
            Self::ChangeEmail(_) => Duration::from_hours(24),
        }
    }

    fn read(purpose: &str, email: Option<&str>) -> Result<Self> {
        let email = email.map(Email::parse).transpose();
        match (purpose, email.map_err(Error::internal)?) {
            ("reset_password", None) => Ok(Self::ResetPassword),
            ("confirm_email", Some(email)) => Ok(Self::ConfirmEmail(email)),
            ("change_email", Some(email)) => Ok(Self::ChangeEmail(email)),
            _ => Err(Error::internal("a token of an unknown purpose")),
        }
    }
}

/// Makes a token. Others of the same user stay valid: their mails may have arrived.
pub(crate) async fn issue(
    db: impl PgExecutor<'_>,
    user_id: UserId,
    grant: &Grant,
) -> Result<Token, sqlx::Error> {
    let token = Token::generate();
    sqlx::query!(
        "insert into identity.account_tokens (token_hash, purpose, user_id, email, expires_at)
         values ($1, $2, $3, $4, now() + $5 * interval '1 second')",
        &token.hash(),
        grant.purpose().as_str(),
        user_id as _,
        grant.email(),
        grant.lifetime().as_secs_f64(),
    )
    .execute(db)
    .await?;
    Ok(token)
}

/// Finds the user of a token that is valid now.
pub(crate) async fn find_user(
    db: impl PgExecutor<'_>,
    token: &TokenHash,
    purposes: &[Purpose],
) -> Result<Option<UserId>> {
    let user = sqlx::query_scalar!(
        "select user_id from identity.account_tokens
         where token_hash = $1 and purpose = any($2) and expires_at > now()",
        token,
        &names(purposes) as _,
    );
    Ok(user.fetch_optional(db).await?)
}

/// Uses a token, which ends all tokens of its purpose and user. The caller has locked the user.
pub(crate) async fn take_in_tx(
    conn: &mut PgConnection,
    token: &TokenHash,
    purposes: &[Purpose],
) -> Result<Option<Grant>> {
    let row = sqlx::query!(
        "delete from identity.account_tokens
         where token_hash = $1 and purpose = any($2) and expires_at > now()
         returning user_id, purpose, email",
        token,
        &names(purposes) as _,
    )
    .fetch_optional(&mut *conn)
    .await?;
    let Some(row) = row else { return Ok(None) };
    sqlx::query!(
        "delete from identity.account_tokens where user_id = $1 and purpose = $2",
        row.user_id as _,
        row.purpose,
    )
    .execute(conn)
    .await?;
    Grant::read(&row.purpose, row.email.as_deref()).map(Some)
}

/// Ends all tokens of a user, whom the caller has locked.
pub(crate) async fn end_all_in_tx(conn: &mut PgConnection, user_id: UserId) -> Result<()> {
    sqlx::query!(
        "delete from identity.account_tokens where user_id = $1",
        user_id as _
    )
    .execute(conn)
    .await?;
    Ok(())
}

fn names(purposes: &[Purpose]) -> Vec<&'static str> {
    purposes.iter().map(|purpose| purpose.as_str()).collect()
}

/// Deletes expired tokens. Returns `false` if some are left.
pub(crate) async fn purge(db: impl PgExecutor<'_>) -> Result<bool, sqlx::Error> {
    let deleted = sqlx::query!(
        "delete from identity.account_tokens where token_hash in (
             select token_hash from identity.account_tokens where expires_at < now() limit $1)",
        PURGE_BATCH
    )
    .execute(db)
    .await?;
    Ok(deleted.rows_affected() < PURGE_BATCH.unsigned_abs())
}
