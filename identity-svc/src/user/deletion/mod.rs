//! The saga that deletes a user, in three steps:
//!
//! 1. Claim: one transaction commits that the deletion has begun.
//! 2. Wallets: wallet-svc locks the user's wallets, unless one holds anything. Safe to repeat.
//! 3. Erase: one transaction removes the personal data, ends the sessions, cancels the open invites,
//!    appends `UserDeleted` and deletes the claim. The row stays, without what tells who the user was:
//!    orders, transactions and referrals refer to it.
//!
//! If a request stops in between, a worker resumes the claim ([`platform::saga`]). A refusal of
//! wallet-svc deletes the claim, and the user stays as it was.

mod repo;
mod saga;

use platform::{
    audit::{self, Entry},
    auth::Caller,
    clock::Clock,
    failpoint,
    ids::Ids,
    messaging::outbox,
    pg,
    saga::Saga as _,
};
use sqlx::PgPool;

use super::{events, model::UserId, repo as users, service::require_visible};
use crate::{
    SCHEMA,
    account::tokens,
    auth::sessions,
    clients::wallet::Wallets,
    error::{Error, Result},
    invite::OpenInvites,
    mail, revocation,
};

/// Deletes users.
#[derive(Debug, Clone)]
pub(crate) struct Deletion {
    pool: PgPool,
    wallets: Wallets,
    invites: OpenInvites,
    clock: Clock,
    ids: Ids,
}

impl Deletion {
    pub(crate) fn new(pool: PgPool, wallets: Wallets, clock: Clock, ids: Ids) -> Self {
        Self {
            pool,
            wallets,
            invites: OpenInvites::new(clock.clone(), ids.clone()),
            clock,
            ids,
        }
    }

    /// Deletes a user that the caller may see.
    pub(crate) async fn delete(&self, caller: &Caller, id: UserId) -> Result<()> {
        require_visible(caller, id)?;
        self.claim(id).await?;
        failpoint::hit("identity.user.deletion_claimed");
        let deleted = self.drive(id).await;
        if let Err(error) = &deleted
            && !error.is_refusal()
        {
            self.give_back(id, error).await;
        }
        deleted
    }

    /// Runs the first step. A deletion that has begun already goes on.
    async fn claim(&self, id: UserId) -> Result<()> {
        let mut tx = pg::tx(&self.pool).await?;
        users::get_for_update_in_tx(&mut tx, id).await?;
        repo::insert_in_tx(&mut tx, id).await?;
        Ok(tx.commit().await?)
    }

    /// Lets a worker resume the deletion now. If that fails, one does when the claim's lease ends.
    async fn give_back(&self, id: UserId, cause: &Error) {
        let given_back = Self::TABLE.retry_now(&self.pool, id.uuid(), cause);
        if let Err(error) = given_back.await {
            tracing::debug!(user_id = %id, %error, "user deletion: claim not given back");
        }
    }

    /// Runs the steps after the claim, and deletes it if wallet-svc refuses. Safe to repeat, and to run
    /// concurrently.
    async fn drive(&self, id: UserId) -> Result<()> {
        let closed = self.wallets.close(id).await;
        if let Err(error) = closed {
            if error.is_refusal() {
                repo::delete(&self.pool, id).await?;
            }
            return Err(error);
        }
        failpoint::hit("identity.user.wallets_closed");
        // The invites are locked after their inviter, and by a sign-up before it.
        pg::retry_serialization(|| self.erase(id)).await
    }

    async fn erase(&self, id: UserId) -> Result<()> {
        let mut tx = pg::tx(&self.pool).await?;
        let mut user = match users::get_for_update_in_tx(&mut tx, id).await {
            // Erased by a worker or by another request.
            Err(Error::UserNotFound) => return Ok(()),
            found => found?,
        };
        user.touch(self.clock.now());
        self.invites.cancel_in_tx(&mut tx, id).await?;
        tokens::end_all_in_tx(&mut tx, id).await?;
        mail::erase_in_tx(&mut tx, &user.email).await?;
        repo::erase_in_tx(&mut tx, &user).await?;
        revocation::revoke_user_in_tx(&mut tx, id).await?;
        sessions::end_all_in_tx(&mut tx, id).await?;
        repo::delete(&mut *tx, id).await?;
        let event = events::deleted(self.ids.uuid(), &user);
        outbox::append_in_tx(&mut tx, SCHEMA, [event]).await?;
        audit::record_in_tx(&mut tx, SCHEMA, Entry::new("user", "deleted", id)).await?;
        Ok(tx.commit().await?)
    }
}
