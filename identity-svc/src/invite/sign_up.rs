//! The use of a code by a sign-up, in two steps: an invite is reserved with the hidden row of the user,
//! and accepted as the user becomes active, or released as the row is deleted.

use platform::{clock::Clock, ids::Ids, messaging::outbox};
use sqlx::PgConnection;

use super::{
    events,
    model::{Fault, InviteId},
    repo,
    validation::available,
};
use crate::{
    SCHEMA,
    error::Result,
    sign_up_code::{Kind, SignUpCode},
    user::{Email, UserId, repo as users},
};

/// What a code that can be used brings.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Referral {
    pub(crate) referrer: Option<UserId>,
    invite: Option<InviteId>,
}

/// Uses codes for sign-ups.
#[derive(Debug, Clone)]
pub(crate) struct SignUps {
    clock: Clock,
    ids: Ids,
}

impl SignUps {
    pub(crate) fn new(clock: Clock, ids: Ids) -> Self {
        Self { clock, ids }
    }

    /// Checks that a new user with this email may use the code. Locks an invite until the transaction
    /// ends.
    pub(crate) async fn check_in_tx(
        &self,
        conn: &mut PgConnection,
        code: Option<&SignUpCode>,
        email: &Email,
    ) -> Result<Referral> {
        let Some(code) = code else {
            return Ok(Referral::default());
        };
        match code.kind() {
            Some(Kind::Invite) => self.check_invite_in_tx(conn, code, email).await,
            Some(Kind::Referral) => {
                let referrer = users::find_by_referral_code(conn, code.as_str()).await?;
                let referrer = available(Some(referrer.ok_or(Fault::Unknown)?))?;
                Ok(Referral {
                    referrer: Some(referrer.id),
                    invite: None,
                })
            }
            None => Err(Fault::Unknown.into()),
        }
    }

    async fn check_invite_in_tx(
        &self,
        conn: &mut PgConnection,
        code: &SignUpCode,
        email: &Email,
    ) -> Result<Referral> {
        let invite = repo::find_for_update_in_tx(conn, code.as_str()).await?;
        let invite = invite.ok_or(Fault::Unknown)?;
        invite.check_use(email, self.clock.now())?;
        if let Some(inviter) = invite.inviter_user_id {
            available(users::find(conn, inviter).await?)?;
        }
        Ok(Referral {
            referrer: invite.inviter_user_id,
            invite: Some(invite.id),
        })
    }

    /// Reserves the invite, if it is one, for a user that is being created.
    pub(crate) async fn reserve_in_tx(
        &self,
        conn: &mut PgConnection,
        referral: Referral,
        user_id: UserId,
    ) -> Result<()> {
        match referral.invite {
            Some(invite) => repo::set_reserved_in_tx(conn, invite, Some(user_id)).await,
            None => Ok(()),
        }
    }

    /// Accepts the invite that the user has reserved, if any.
    pub(crate) async fn accept_in_tx(
        &self,
        conn: &mut PgConnection,
        user_id: UserId,
    ) -> Result<()> {
        let Some(mut invite) = repo::find_reserved_in_tx(conn, user_id).await? else {
            return Ok(());
        };
        invite.accept(user_id, self.clock.now());
        repo::update_in_tx(conn, &invite).await?;
        let event = events::accepted(self.ids.uuid(), &invite);
        Ok(outbox::append_in_tx(conn, SCHEMA, [event]).await?)
    }

    /// Releases the invite that the user has reserved, if any: others can use it again.
    pub(crate) async fn release_in_tx(
        &self,
        conn: &mut PgConnection,
        user_id: UserId,
    ) -> Result<()> {
        match repo::find_reserved_in_tx(conn, user_id).await? {
            Some(invite) => repo::set_reserved_in_tx(conn, invite.id, None).await,
            None => Ok(()),
        }
    }
}
