//! The saga that creates a user with its wallet, in three steps:
//!
//! 1. Reserve: one transaction commits a hidden row, which reserves the email and the invite, and a
//!    claim, which keeps the idempotency key in progress.
//! 2. Wallet: wallet-svc creates the wallet, or makes an existing one the user's. Both are safe to
//!    repeat.
//! 3. Activate: one transaction commits the user, `UserCreated`, the accepted invite and the recorded
//!    response, and deletes the claim.
//!
//! If a request stops in between, a worker resumes the claim ([`platform::saga`]). A refusal of
//! wallet-svc deletes the hidden row and the claim.

mod repo;
mod saga;
mod turns;

use std::collections::BTreeSet;

use platform::{
    audit::{self, Entry},
    clock::Clock,
    error::Failure,
    failpoint,
    idempotency::{self, Begin, Key, Reply},
    ids::Ids,
    messaging::outbox,
    pg,
    saga::Saga as _,
};
use proto::identity::v1 as wire;
use sqlx::{PgConnection, PgPool};

use self::{
    repo::{Claim, Reservation},
    turns::Turns,
};
use super::{
    convert,
    email::Email,
    events,
    model::{NewUser, User, UserId, wallet_name},
    password::Hasher,
    repo as users,
};
use crate::{
    SCHEMA,
    clients::wallet::{WalletId, Wallets},
    error::{Error, Result},
    invite::SignUps,
    mail::{self, Mail},
    sign_up_code::{Kind, SignUpCode},
};

/// Creates users.
#[derive(Debug, Clone)]
pub(crate) struct Provisioning {
    pool: PgPool,
    wallets: Wallets,
    sign_ups: SignUps,
    hasher: Hasher,
    turns: Turns,
    clock: Clock,
    ids: Ids,
}

/// The result of the first step.
enum Reserved {
    Fresh(UserId),
    Replay(Box<Reply<wire::User>>),
}

impl Provisioning {
    pub(crate) fn new(
        pool: PgPool,
        wallets: Wallets,
        hasher: Hasher,
        clock: Clock,
        ids: Ids,
    ) -> Self {
        Self {
            pool,
            wallets,
            sign_ups: SignUps::new(clock.clone(), ids.clone()),
            hasher,
            turns: Turns::default(),
            clock,
            ids,
        }
    }

    /// Creates a user with its wallet, or replays the response recorded under the key.
    pub(crate) async fn create(
        &self,
        key: Option<&Key>,
        new: NewUser,
    ) -> Result<Reply<wire::User>> {
        match self.hash_and_reserve(key, &new).await? {
            Reserved::Replay(reply) => Ok(*reply),
            Reserved::Fresh(user_id) => {
                failpoint::hit("identity.user.reserved");
                let finished = self.finish(user_id).await;
                if let Err(error) = &finished
                    && !error.is_refusal()
                {
                    self.give_back(user_id, error).await;
                }
                Ok(Reply::fresh(convert::user(finished?)))
            }
        }
    }

    /// Hashes the password and runs the first step, in the turn of the email and the invite.
    async fn hash_and_reserve(&self, key: Option<&Key>, new: &NewUser) -> Result<Reserved> {
        let _turns = self.turns.take(wanted(new)).await;
        // Not before: a repeat has waited for the first request.
        if let Some(reply) = idempotency::find_replay(&self.pool, SCHEMA, key).await? {
            return Ok(Reserved::Replay(Box::new(reply)));
        }
        self.check_free(new).await?;
        let hash = self.hasher.hash(&new.password).await?;
        self.reserve(key, new, &hash).await
    }

    /// Refuses what the first step would refuse, before the cost of a hash.
    async fn check_free(&self, new: &NewUser) -> Result<()> {
        let mut conn = self.pool.acquire().await?;
        self.sign_ups
            .check_in_tx(&mut conn, new.code.as_ref(), &new.email)
            .await?;
        if repo::is_reserved(&mut conn, &new.email.canonical()).await? {
            return Err(Error::EmailTaken);
        }
        Ok(())
    }

    /// Lets a worker resume the creation now. If that fails, one does when the claim's lease ends.
    async fn give_back(&self, user_id: UserId, cause: &Error) {
        let given_back = Self::TABLE.retry_now(&self.pool, user_id.uuid(), cause);
        if let Err(error) = given_back.await {
            tracing::debug!(%user_id, %error, "user provisioning: claim not given back");
        }
    }

    /// Runs the first step, or replays the recorded response.
    async fn reserve(&self, key: Option<&Key>, new: &NewUser, hash: &str) -> Result<Reserved> {
        pg::retry_serialization(async || {
            let mut tx = pg::tx(&self.pool).await?;
            if let Some(key) = key
                && let Begin::Replay(recorded) =
                    idempotency::begin_in_tx(&mut tx, SCHEMA, key).await?
            {
                return Ok(Reserved::Replay(Box::new(Reply::replay(&recorded)?)));
            }
            let user_id = self.insert_in_tx(&mut tx, new, hash).await?;
            let scope = key.map(Key::scope);
            repo::insert_in_tx(&mut tx, user_id, scope, new.confirms_email).await?;
            tx.commit().await?;
            Ok(Reserved::Fresh(user_id))
        })
        .await
    }

    async fn insert_in_tx(
        &self,
        conn: &mut PgConnection,
        new: &NewUser,
        hash: &str,
    ) -> Result<UserId> {
        let referral = self
            .sign_ups
            .check_in_tx(conn, new.code.as_ref(), &new.email)
            .await?;
        let (id, now) = (self.ids.next(), self.clock.now());
        let referral_code = SignUpCode::generate(Kind::Referral, &self.ids);
        let reservation = Reservation {
            id,
            email: new.email.as_str(),
            canonical_email: &new.email.canonical(),
            profile: &new.profile,
            wallet_id: new.wallet_id,
            referral_code: referral_code.as_str(),
            referral_user_id: referral.referrer,
            now,
        };
        repo::reserve_in_tx(conn, reservation).await?;
        repo::insert_credentials_in_tx(conn, id, hash, now).await?;
        self.sign_ups.reserve_in_tx(conn, referral, id).await?;
        Ok(id)
    }

    /// Runs the remaining steps of a reserved creation.
    async fn finish(&self, user_id: UserId) -> Result<User> {
        match repo::find(&self.pool, user_id).await? {
            Some(claim) => self.drive(&claim).await,
            None => self.finished_elsewhere(user_id).await,
        }
    }

    /// Runs the steps after the reservation; undoes it if wallet-svc refuses. Safe to repeat, and
    /// to run concurrently.
    async fn drive(&self, claim: &Claim) -> Result<User> {
        let result = match self.provide_wallet(claim).await {
            Ok(wallet_id) => {
                failpoint::hit("identity.user.wallet_made");
                self.activate(claim, wallet_id).await
            }
            Err(error) => Err(error),
        };
        if let Err(error) = &result
            && error.is_refusal()
        {
            self.undo(claim).await?;
        }
        result
    }

    /// Creates the wallet, or makes the named one the user's.
    async fn provide_wallet(&self, claim: &Claim) -> Result<WalletId> {
        if let Some(wallet_id) = claim.wallet_id {
            self.wallets.adopt(wallet_id, claim.user_id).await?;
            return Ok(wallet_id);
        }
        let name = wallet_name(claim.name.as_deref());
        self.wallets.create(claim.user_id, name).await
    }

    async fn activate(&self, claim: &Claim, wallet_id: WalletId) -> Result<User> {
        let user_id = claim.user_id;
        let mut tx = pg::tx(&self.pool).await?;
        if !repo::activate_in_tx(&mut tx, user_id, wallet_id).await? {
            drop(tx);
            return self.finished_elsewhere(user_id).await;
        }
        repo::delete_in_tx(&mut tx, user_id).await?;
        let user = users::find(&mut tx, user_id)
            .await?
            .ok_or_else(|| Error::internal("an activated user is missing"))?;
        let created = events::created(self.ids.uuid(), &user);
        outbox::append_in_tx(&mut tx, SCHEMA, [created]).await?;
        self.sign_ups.accept_in_tx(&mut tx, user_id).await?;
        if claim.confirms_email {
            let to = Email::parse(&claim.email).map_err(Error::internal)?;
            mail::enqueue_in_tx(&mut tx, &Mail::ConfirmEmail { to }).await?;
        }
        audit::record_in_tx(&mut tx, SCHEMA, Entry::new("user", "created", user_id)).await?;
        if let Some(scope) = &claim.scope {
            let message = convert::user(user.clone());
            idempotency::complete_in_tx(&mut tx, SCHEMA, scope, &message).await?;
        }
        tx.commit().await?;
        Ok(user)
    }

    /// Deletes the hidden row and the claim; the email, the invite and the key are free again.
    async fn undo(&self, claim: &Claim) -> Result<()> {
        let mut tx = pg::tx(&self.pool).await?;
        if !repo::lock_hidden_in_tx(&mut tx, claim.user_id).await? {
            return Ok(());
        }
        repo::delete_in_tx(&mut tx, claim.user_id).await?;
        self.sign_ups.release_in_tx(&mut tx, claim.user_id).await?;
        repo::delete_hidden_in_tx(&mut tx, claim.user_id).await?;
        if let Some(scope) = &claim.scope {
            idempotency::forget_in_tx(&mut tx, SCHEMA, scope).await?;
        }
        tx.commit().await?;
        Ok(())
    }

    /// Returns the user that a worker or another process has activated in the meantime.
    async fn finished_elsewhere(&self, user_id: UserId) -> Result<User> {
        let mut conn = self.pool.acquire().await?;
        users::find(&mut conn, user_id)
            .await?
            .ok_or_else(|| Failure::unavailable("the creation of the user").into())
    }
}

/// Names what only one creation can have.
fn wanted(new: &NewUser) -> BTreeSet<String> {
    let invite = new.code.as_ref();
    let invite = invite.filter(|code| code.kind() == Some(Kind::Invite));
    let invite = invite.map(|code| format!("invite {}", code.as_str()));
    let email = format!("email {}", new.email.canonical());
    invite.into_iter().chain([email]).collect()
}
