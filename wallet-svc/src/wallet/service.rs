//! The use cases of wallets.

use chrono::{DateTime, Utc};
use platform::{
    audit::{self, Entry},
    auth::Caller,
    clock::Clock,
    error::{Failure, FieldCode},
    grpc::precondition::{self, Versions},
    idempotency::{self, Key, Reply, Started},
    ids::Ids,
    list::Page,
    messaging::outbox,
    patch::Patch,
    pg,
};
use proto::{common::v1::ListRequest, wallet::v1 as wire};
use sqlx::{PgConnection, PgPool};

use super::{
    convert, events,
    model::{
        Balance, NewWallet, OwnerIsFixed, REFERENCE_LENGTH, UserId, Wallet, WalletId, WalletPatch,
    },
    past, repo,
};
use crate::{SCHEMA, access, clients::identity::Users, error::Error};

/// Attempts to generate a reference that no other wallet has.
const MAX_REFERENCE_ATTEMPTS: usize = 5;

/// The use cases of wallets.
#[derive(Debug, Clone)]
pub(crate) struct Wallets {
    pub(super) pool: PgPool,
    users: Users,
    pub(super) clock: Clock,
    pub(super) ids: Ids,
}

impl Wallets {
    pub(crate) const fn new(pool: PgPool, users: Users, clock: Clock, ids: Ids) -> Self {
        Self {
            pool,
            users,
            clock,
            ids,
        }
    }

    /// Creates a wallet, once per idempotency key and once per operation id.
    pub(crate) async fn create(
        &self,
        new: NewWallet,
        key: Option<&Key>,
    ) -> Result<Reply<wire::Wallet>, Error> {
        if let Some(reply) = idempotency::find_replay(&self.pool, SCHEMA, key).await? {
            return Ok(reply);
        }
        // A service with an operation id vouches for the owner, who may not exist yet.
        if new.operation_id.is_none() {
            self.ensure_user(new.owner).await?;
        }
        let mut work = match idempotency::start(&self.pool, SCHEMA, key).await? {
            Started::Replay(reply) => return Ok(reply),
            Started::Fresh(work) => work,
        };
        let wallet = self.create_in_tx(&mut work, &new).await?;
        Ok(work.commit(convert::wallet(&wallet)).await?)
    }

    /// Creates a wallet in the caller's transaction, once per operation id.
    pub(crate) async fn create_in_tx(
        &self,
        conn: &mut PgConnection,
        new: &NewWallet,
    ) -> Result<Wallet, Error> {
        let operation = new.operation_id.as_deref();
        for _ in 0..MAX_REFERENCE_ATTEMPTS {
            let wallet = self.with_new_reference(new);
            if repo::insert_wallet_in_tx(conn, &wallet, operation).await? {
                let created = events::created(&wallet, &self.ids);
                outbox::append_in_tx(conn, SCHEMA, [created]).await?;
                let entry = Entry::new("wallet", "created", wallet.id);
                audit::record_in_tx(conn, SCHEMA, entry).await?;
                return Ok(wallet);
            }
            if let Some(operation) = operation
                && let Some(existing) = repo::find_wallet_of_operation(conn, operation).await?
            {
                return Ok(existing);
            }
        }
        Err(Failure::internal("no unused wallet reference was generated").into())
    }

    fn with_new_reference(&self, new: &NewWallet) -> Wallet {
        let now = self.clock.now();
        Wallet {
            id: self.ids.next(),
            name: new.name.clone(),
            description: None,
            owner: new.owner,
            owner_fixed: new.owner_fixed,
            locked: new.locked,
            reference: self.ids.code(REFERENCE_LENGTH),
            custom_data: new.custom_data.clone().unwrap_or_else(|| "{}".to_owned()),
            metadata: "{}".to_owned(),
            version: 1,
            created_at: now,
            updated_at: now,
        }
    }

    /// Returns a wallet that the caller may see.
    pub(crate) async fn get(&self, caller: &Caller, id: &str) -> Result<Wallet, Error> {
        let id = WalletId::parse(id).map_err(|_| Error::WalletNotFound)?;
        let reader = access::reader(caller)?;
        let found = repo::find_wallets(&self.pool, &[id], reader).await?.pop();
        found.ok_or(Error::WalletNotFound)
    }

    /// Returns the id of the wallet to which a list is limited, if the caller may see it.
    pub(crate) async fn find_listed(
        &self,
        caller: &Caller,
        id: Option<String>,
    ) -> Result<Option<WalletId>, Error> {
        match id {
            Some(id) => Ok(Some(self.get(caller, &id).await?.id)),
            None => Ok(None),
        }
    }

    /// Updates a wallet. Once this returns that the wallet is locked, no debit of it is confirmed.
    pub(crate) async fn update(
        &self,
        caller: &Caller,
        id: &str,
        mut patch: WalletPatch,
        if_version: Option<&Versions>,
    ) -> Result<Wallet, Error> {
        let id = WalletId::parse(id).map_err(|_| Error::WalletNotFound)?;
        if let Patch::Set(owner) = patch.owner {
            // The only service that may call this is identity-svc, which gives wallets to users that
            // it is about to create, as their primary ones.
            patch.fixes_owner = caller.is_service();
            if !patch.fixes_owner {
                self.ensure_user(Some(owner)).await?;
            }
        }
        pg::retry_serialization(async || {
            let mut tx = pg::tx(&self.pool).await?;
            let before = repo::lock_wallet_in_tx(&mut tx, id)
                .await?
                .ok_or(Error::WalletNotFound)?;
            precondition::check(if_version, before.updated_at.timestamp_millis())?;
            let patched = before.patched(patch.clone(), self.clock.now());
            let Some((after, change)) = patched.map_err(|OwnerIsFixed| Error::OwnerIsFixed)? else {
                return Ok(before);
            };
            repo::update_wallet_in_tx(&mut tx, &after).await?;
            if let Some(change) = change {
                let message = events::lock_changed(&after, change, &self.ids);
                outbox::append_in_tx(&mut tx, SCHEMA, [message]).await?;
            }
            let entry = Entry::new("wallet", "updated", id).detail("locked", after.locked);
            audit::record_in_tx(&mut tx, SCHEMA, entry).await?;
            tx.commit().await?;
            Ok(after)
        })
        .await
    }

    /// Lists the wallets that the caller may see.
    pub(crate) async fn list(
        &self,
        caller: &Caller,
        request: &ListRequest,
    ) -> Result<Page<Wallet>, Error> {
        let reader = access::reader(caller)?;
        let mut conn = self.pool.acquire().await?;
        Ok(repo::list_wallets(&mut conn, request, reader).await?)
    }

    /// Returns the balances of a wallet, now or at a past time.
    pub(crate) async fn balances(
        &self,
        caller: &Caller,
        id: &str,
        request: &ListRequest,
        at: Option<DateTime<Utc>>,
    ) -> Result<Vec<Balance>, Error> {
        let wallet = self.get(caller, id).await?;
        let mut conn = self.pool.acquire().await?;
        let page = repo::list_balances(&mut conn, request, wallet.id).await?;
        let Some(at) = at else { return Ok(page.rows) };
        // An asset that was used in the past is used now.
        let assets: Vec<_> = page.rows.into_iter().map(|row| row.asset).collect();
        Ok(past::find_balances_at(&mut conn, wallet.id, &assets, at).await?)
    }

    /// Returns the total balances of all wallets that the caller may see.
    pub(crate) async fn total_balances(
        &self,
        caller: &Caller,
        request: &ListRequest,
    ) -> Result<Vec<Balance>, Error> {
        let reader = access::reader(caller)?;
        let mut conn = self.pool.acquire().await?;
        let page = repo::list_total_balances(&mut conn, request, reader).await?;
        Ok(page.rows)
    }

    async fn ensure_user(&self, owner: Option<UserId>) -> Result<(), Failure> {
        match owner {
            Some(owner) if !self.users.exists(owner).await? => Err(Failure::invalid(
                "ownerId",
                FieldCode::UnknownReference,
                "user not found",
            )),
            _ => Ok(()),
        }
    }
}
