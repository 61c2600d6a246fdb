//! Tells whether a new user may sign up with a code.

use chrono::{DateTime, Utc};
use platform::clock::Clock;
use sqlx::{PgConnection, PgPool};

use super::{model::Fault, repo};
use crate::{
    error::{Error, Result},
    sign_up_code::{Kind, SignUpCode},
    user::{User, repo as users},
};

/// The state of a code, as anybody may know it: without emails, and with a name only while it can be
/// used.
#[derive(Debug)]
pub(crate) struct Validation {
    pub(crate) code: SignUpCode,
    pub(crate) fault: Option<Fault>,
    pub(crate) referrer_name: Option<String>,
    /// `None` for a referral code.
    pub(crate) expired_at: Option<DateTime<Utc>>,
}

/// Validates codes.
#[derive(Debug, Clone)]
pub(crate) struct Validations {
    pool: PgPool,
    clock: Clock,
}

impl Validations {
    pub(crate) fn new(pool: PgPool, clock: Clock) -> Self {
        Self { pool, clock }
    }

    /// Validates an invite code or a referral code.
    pub(crate) async fn validate(&self, code: SignUpCode) -> Result<Validation> {
        let mut conn = self.pool.acquire().await?;
        match code.kind() {
            Some(Kind::Invite) => self.of_invite(&mut conn, code).await,
            Some(Kind::Referral) => {
                let referrer = users::find_by_referral_code(&mut conn, code.as_str()).await?;
                let referrer = referrer.ok_or(Error::InviteNotFound)?;
                Ok(Validation::new(
                    code,
                    None,
                    Some(available(Some(referrer))),
                    None,
                ))
            }
            None => Err(Error::InviteNotFound),
        }
    }

    async fn of_invite(&self, conn: &mut PgConnection, code: SignUpCode) -> Result<Validation> {
        let invite = repo::find(&mut *conn, code.as_str()).await?;
        let invite = invite.ok_or(Error::InviteNotFound)?;
        let inviter = match invite.inviter_user_id {
            Some(inviter) => Some(available(users::find(conn, inviter).await?)),
            None => None,
        };
        let fault = invite.fault(self.clock.now());
        Ok(Validation::new(
            code,
            fault,
            inviter,
            Some(invite.expired_at),
        ))
    }
}

impl Validation {
    fn new(
        code: SignUpCode,
        fault: Option<Fault>,
        referrer: Option<Result<User, Fault>>,
        expired_at: Option<DateTime<Utc>>,
    ) -> Self {
        let (referrer, unavailable) = match referrer {
            Some(Ok(referrer)) => (Some(referrer), None),
            Some(Err(unavailable)) => (None, Some(unavailable)),
            None => (None, None),
        };
        let fault = fault.or(unavailable);
        let named = referrer.filter(|_| fault.is_none());
        Self {
            code,
            fault,
            referrer_name: named.and_then(|referrer| referrer.name),
            expired_at,
        }
    }
}

/// A code is of no use while the user who shared it is blocked, or once that user is deleted.
pub(super) fn available(referrer: Option<User>) -> Result<User, Fault> {
    referrer
        .filter(|referrer| !referrer.blocked)
        .ok_or(Fault::ReferrerUnavailable)
}
