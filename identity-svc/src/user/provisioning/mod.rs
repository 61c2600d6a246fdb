//! The saga that gives a user its wallet: reserve, wallet, activate.
//!
//! Reserving commits a hidden row that holds the email (and the claim of the idempotency key). The
//! wallet is then made, or adopted, in wallet-svc by calls that are safe to repeat. Activating
//! commits the user, `UserCreated` and the recorded answer together. Whatever stops a request in
//! between, [`recovery`] goes on from the row; only a refusal of wallet-svc takes the row back.

pub mod recovery;
mod repo;

use platform::{
    clock::Clock,
    error::Failure,
    failpoint,
    idempotency::{self, Begin, Key, Reply},
    ids::Ids,
    messaging::outbox,
    pg,
};
use proto::identity::v1 as wire;
use sqlx::{PgConnection, PgPool};

use self::repo::Claim;
use super::{
    convert, events,
    model::{NewUser, User, UserId, wallet_name},
    password::Hasher,
    referral::ReferralCode,
    repo::{self as users, Reservation},
};
use crate::{
    SCHEMA,
    clients::wallet::{WalletId, Wallets},
    error::{Error, Result},
};

/// Creates users.
#[derive(Debug, Clone)]
pub struct Provisioning {
    pool: PgPool,
    wallets: Wallets,
    hasher: Hasher,
    clock: Clock,
    ids: Ids,
}

/// How a creation goes on after its first transaction.
enum Reserved {
    Fresh(UserId),
    Replay(Box<Reply<wire::User>>),
}

impl Provisioning {
    /// Over these.
    pub fn new(pool: PgPool, wallets: Wallets, clock: Clock, ids: Ids) -> Self {
        let hasher = Hasher::default();
        Self {
            pool,
            wallets,
            hasher,
            clock,
            ids,
        }
    }

    /// Makes a user with its wallet, or repeats the answer recorded under the key.
    pub async fn create(&self, key: Option<&Key>, new: NewUser) -> Result<Reply<wire::User>> {
        let NewUser { password, .. } = &new;
        let hash = self.hasher.hash(password).await?;
        match self.reserve(key, &new, &hash).await? {
            Reserved::Replay(reply) => Ok(*reply),
            Reserved::Fresh(user_id) => {
                failpoint::hit("identity.user.reserved");
                let user = self.finish(user_id).await?;
                Ok(Reply::fresh(convert::user(user)))
            }
        }
    }

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
            repo::insert_in_tx(&mut tx, user_id, key.map(Key::scope)).await?;
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
        let referrer = match &new.code {
            None => None,
            Some(code) => {
                let found = users::find_by_referral_code(conn, code.as_str()).await?;
                Some(found.ok_or(Error::InviteInvalid)?)
            }
        };
        let (id, now) = (self.ids.next(), self.clock.now());
        let referral_code = ReferralCode::generate(&self.ids);
        let reservation = Reservation {
            id,
            email: new.email.as_str(),
            canonical_email: &new.email.canonical(),
            profile: &new.profile,
            wallet_id: new.wallet_id,
            referral_code: referral_code.as_str(),
            referral_user_id: referrer,
            now,
        };
        users::reserve_in_tx(conn, reservation).await?;
        users::insert_credentials_in_tx(conn, id, hash, now).await?;
        Ok(id)
    }

    /// Goes from the hidden row to the user, or takes the row back if wallet-svc refuses. Safe to
    /// repeat, and to run twice at once.
    async fn finish(&self, user_id: UserId) -> Result<User> {
        let Some(claim) = repo::find(&self.pool, user_id).await? else {
            return self.finished_elsewhere(user_id).await;
        };
        let settled = match self.wallet(&claim).await {
            Ok(wallet_id) => {
                failpoint::hit("identity.user.wallet_made");
                self.activate(&claim, wallet_id).await
            }
            Err(error) => Err(error),
        };
        match settled {
            Err(error) if error.is_refusal() => {
                self.withdraw(&claim).await?;
                Err(error)
            }
            settled => settled,
        }
    }

    async fn wallet(&self, claim: &Claim) -> Result<WalletId> {
        if let Some(wallet_id) = claim.wallet_id {
            self.wallets.adopt(wallet_id, claim.user_id).await?;
            return Ok(wallet_id);
        }
        let name = wallet_name(claim.name.as_deref(), &claim.email);
        self.wallets.create(claim.user_id, name).await
    }

    async fn activate(&self, claim: &Claim, wallet_id: WalletId) -> Result<User> {
        let user_id = claim.user_id;
        let mut tx = pg::tx(&self.pool).await?;
        if !users::activate_in_tx(&mut tx, user_id, wallet_id).await? {
            drop(tx);
            return self.finished_elsewhere(user_id).await;
        }
        repo::delete_in_tx(&mut tx, user_id).await?;
        let user = users::find(&mut tx, user_id).await?;
        let user = user.ok_or_else(|| Error::internal("an activated user is not there"))?;
        let created = events::created(self.ids.uuid(), &user);
        outbox::append_in_tx(&mut tx, SCHEMA, &[created]).await?;
        if let Some(scope) = &claim.scope {
            let message = convert::user(user.clone());
            idempotency::complete_in_tx(&mut tx, SCHEMA, scope, &message).await?;
        }
        tx.commit().await?;
        Ok(user)
    }

    async fn withdraw(&self, claim: &Claim) -> Result<()> {
        let mut tx = pg::tx(&self.pool).await?;
        if !users::lock_hidden_in_tx(&mut tx, claim.user_id).await? {
            return Ok(());
        }
        repo::delete_in_tx(&mut tx, claim.user_id).await?;
        users::delete_hidden_in_tx(&mut tx, claim.user_id).await?;
        if let Some(scope) = &claim.scope {
            idempotency::forget_in_tx(&mut tx, SCHEMA, scope).await?;
        }
        tx.commit().await?;
        Ok(())
    }

    /// The request and recovery met: the other one has finished.
    async fn finished_elsewhere(&self, user_id: UserId) -> Result<User> {
        let mut conn = self.pool.acquire().await?;
        let user = users::find(&mut conn, user_id).await?;
        user.ok_or_else(|| Failure::unavailable("this user's creation").into())
    }
}
