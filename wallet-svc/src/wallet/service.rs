//! What can be done with wallets.

use chrono::{DateTime, Utc};
use platform::{
    auth::{Caller, Kind},
    clock::Clock,
    error::{Failure, FieldCode},
    idempotency::{self, Key, Reply, Started},
    ids::Ids,
    list::Page,
    messaging::outbox,
    pg,
};
use proto::{common::v1::ListRequest, wallet::v1::CreateWalletResponse};
use sqlx::{PgConnection, PgPool};

use super::{
    convert, events,
    model::{Balance, NewWallet, REFERENCE_LENGTH, UserId, Wallet, WalletId, WalletPatch},
    past, repo,
};
use crate::{SCHEMA, access, clients::identity::Users, error::Error};

/// How often another reference is drawn before a collision is a fault.
const DRAWS: usize = 5;

/// The use cases of wallets.
#[derive(Debug, Clone)]
pub struct Wallets {
    pool: PgPool,
    users: Users,
    clock: Clock,
    ids: Ids,
}

impl Wallets {
    /// Wallets in this database, owned by these users.
    pub const fn new(pool: PgPool, users: Users, clock: Clock, ids: Ids) -> Self {
        Self {
            pool,
            users,
            clock,
            ids,
        }
    }

    /// Makes a wallet. With an operation id, a repeat answers the wallet made first.
    pub async fn create(
        &self,
        new: NewWallet,
        key: Option<&Key>,
    ) -> Result<Reply<CreateWalletResponse>, Error> {
        // A service that names its operation vouches for the owner, whom it may be making now.
        if new.operation_id.is_none() {
            self.ensure_user(new.owner).await?;
        }
        let mut work = match idempotency::start(&self.pool, SCHEMA, key).await? {
            Started::Replay(answer) => return Ok(answer),
            Started::Fresh(work) => work,
        };
        let wallet = self.create_in_tx(&mut work, &new).await?;
        let wallet = Some(convert::wallet(&wallet));
        Ok(work.commit(CreateWalletResponse { wallet }).await?)
    }

    /// Makes a wallet in the caller's transaction.
    pub async fn create_in_tx(
        &self,
        conn: &mut PgConnection,
        new: &NewWallet,
    ) -> Result<Wallet, Error> {
        let operation = new.operation_id.as_deref();
        for _ in 0..DRAWS {
            let wallet = self.draw(new);
            if repo::insert_wallet_in_tx(conn, &wallet, operation).await? {
                let created = events::created(&wallet, &self.ids);
                outbox::append_in_tx(conn, SCHEMA, &[created]).await?;
                return Ok(wallet);
            }
            if let Some(operation) = operation
                && let Some(made) = repo::find_wallet_of_operation(conn, operation).await?
            {
                return Ok(made);
            }
        }
        Err(Failure::internal("no free wallet reference was drawn").into())
    }

    fn draw(&self, new: &NewWallet) -> Wallet {
        let now = self.clock.now();
        Wallet {
            id: self.ids.next(),
            name: new.name.clone(),
            description: None,
            owner: new.owner,
            locked: new.locked,
            reference: self.ids.code(REFERENCE_LENGTH),
            custom_data: new.custom_data.clone().unwrap_or_else(|| "{}".to_owned()),
            metadata: "{}".to_owned(),
            version: 1,
            created_at: now,
            updated_at: now,
        }
    }

    /// The wallet, if the caller may know of it.
    pub async fn get(&self, caller: &Caller, id: &str) -> Result<Wallet, Error> {
        let id = WalletId::parse(id).map_err(|_| Error::WalletNotFound)?;
        let found = repo::find_wallet(&self.pool, id).await?;
        let reader = access::reader(caller)?;
        found
            .filter(|wallet| reader.is_none_or(|user| wallet.owner == Some(user)))
            .ok_or(Error::WalletNotFound)
    }

    /// Changes a wallet. Once it answers that the wallet is locked, no debit of it is confirmed.
    pub async fn update(
        &self,
        caller: &Caller,
        id: &str,
        patch: WalletPatch,
    ) -> Result<Wallet, Error> {
        let id = WalletId::parse(id).map_err(|_| Error::WalletNotFound)?;
        if let platform::patch::Patch::Set(owner) = patch.owner
            && !makes_users(caller)
        {
            self.ensure_user(Some(owner)).await?;
        }
        pg::retry_serialization(async || {
            let mut tx = pg::tx(&self.pool).await?;
            let before = repo::lock_wallet_in_tx(&mut tx, id).await?;
            let before = before.ok_or(Error::WalletNotFound)?;
            let Some((after, change)) = before.patched(patch.clone(), self.clock.now()) else {
                return Ok(before);
            };
            repo::update_wallet_in_tx(&mut tx, &after).await?;
            if let Some(change) = change {
                let message = events::lock_changed(&after, change, &self.ids);
                outbox::append_in_tx(&mut tx, SCHEMA, &[message]).await?;
            }
            tx.commit().await?;
            Ok(after)
        })
        .await
    }

    /// Wallets that the caller may know of.
    pub async fn list(
        &self,
        caller: &Caller,
        request: &ListRequest,
    ) -> Result<Page<Wallet>, Error> {
        let reader = access::reader(caller)?;
        let mut conn = self.pool.acquire().await?;
        Ok(repo::list_wallets(&mut conn, request, reader).await?)
    }

    /// What a wallet holds, or held at a past moment.
    pub async fn balance(
        &self,
        caller: &Caller,
        id: &str,
        request: &ListRequest,
        at: Option<DateTime<Utc>>,
    ) -> Result<Vec<Balance>, Error> {
        let wallet = self.get(caller, id).await?;
        let mut conn = self.pool.acquire().await?;
        let now = repo::list_balances(&mut conn, request, wallet.id)
            .await?
            .rows;
        let Some(at) = at else { return Ok(now) };
        // Whatever was ever touched is touched still.
        let assets: Vec<_> = now.into_iter().map(|balance| balance.asset).collect();
        Ok(past::find_balances_at(&mut conn, wallet.id, &assets, at).await?)
    }

    /// What all wallets that the caller may know of hold.
    pub async fn total_balance(
        &self,
        caller: &Caller,
        request: &ListRequest,
    ) -> Result<Vec<Balance>, Error> {
        let reader = access::reader(caller)?;
        let mut conn = self.pool.acquire().await?;
        Ok(repo::list_total_balances(&mut conn, request, reader)
            .await?
            .rows)
    }

    async fn ensure_user(&self, owner: Option<UserId>) -> Result<(), Failure> {
        match owner {
            Some(owner) if !self.users.exists(owner).await? => Err(Failure::invalid(
                "ownerId",
                FieldCode::UnknownReference,
                "there is no such user",
            )),
            _ => Ok(()),
        }
    }
}

/// identity-svc gives a wallet to a user whom it is only just making.
fn makes_users(caller: &Caller) -> bool {
    caller.kind == Kind::Service && caller.subject == "identity-svc"
}
