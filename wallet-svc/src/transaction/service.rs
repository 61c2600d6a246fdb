//! What can be done with transactions.

use std::sync::Arc;

use platform::{
    auth::Caller,
    error::Failure,
    idempotency::{self, Key},
    ids::Ids,
    list::Page,
};
use proto::common::v1::ListRequest;
use sqlx::PgPool;

use super::{
    exchange::{self, NewExchange, Terms},
    model::{Action, Change, Status, Transaction, TransactionId},
    new::{NewTransaction, check_reason},
    repo,
};
use crate::{
    SCHEMA, access,
    asset::{self, directory::AssetDirectory},
    error::Error,
    ledger::{Advance, Command},
    payment_method::model::PaymentMethods,
    posting::{Answer, Posting, Postings, Rejection},
    rate,
    settings::Settings,
    wallet::model::WalletId,
};

/// The use cases of transactions.
#[derive(Debug, Clone)]
pub struct Transactions {
    pool: PgPool,
    postings: Postings,
    assets: AssetDirectory,
    settings: Arc<Settings>,
    methods: PaymentMethods,
    ids: Ids,
}

impl Transactions {
    /// Transactions in this database, posted through this queue.
    pub const fn new(
        pool: PgPool,
        postings: Postings,
        assets: AssetDirectory,
        settings: Arc<Settings>,
        methods: PaymentMethods,
        ids: Ids,
    ) -> Self {
        Self {
            pool,
            postings,
            assets,
            settings,
            methods,
            ids,
        }
    }

    /// Makes a transaction. A user takes from its own wallets only, and commits nothing.
    pub async fn create(
        &self,
        caller: &Caller,
        key: Option<Key>,
        new: NewTransaction,
    ) -> Result<Answer, Error> {
        let owner = access::reader(caller)?;
        if owner.is_some() && (new.origin.is_none() || new.commit) {
            caller.require_admin()?;
        }
        // Which assets a crypto code is for depends on their type, which may change at any time.
        let asset = if new.code.starts_with("crypto:") {
            self.assets.read(&new.asset_code).await?
        } else {
            self.assets.find(&new.asset_code).await?
        };
        match new.check(self.ids.next(), asset, owner, &self.methods) {
            Ok(create) => self.post(caller, key, Command::Create(create)).await,
            Err(refusal) => self.replay(key, refusal).await,
        }
    }

    /// Pays into the default wallet: a transfer with code `pay`, confirmed at once.
    pub async fn pay(
        &self,
        caller: &Caller,
        key: Option<Key>,
        mut new: NewTransaction,
    ) -> Result<Answer, Error> {
        let owner = access::reader(caller)?;
        let asset = self.assets.find(&new.asset_code).await?;
        new.destination = Some(self.settings.default_wallet.to_string());
        let mut create = new.check(self.ids.next(), asset, owner, &self.methods)?;
        "pay".clone_into(&mut create.code);
        create.status = Status::Confirmed;
        self.post(caller, key, Command::Create(create)).await
    }

    /// Brings a transaction into another state; admins only.
    pub async fn advance(
        &self,
        caller: &Caller,
        key: Option<Key>,
        id: &str,
        action: Action,
        reason: Option<String>,
    ) -> Result<Answer, Error> {
        caller.require_admin()?;
        check_reason(reason.as_deref())?;
        let id = TransactionId::parse(id).map_err(|_| Error::TransactionNotFound)?;
        let advance = Advance { id, action, reason };
        self.post(caller, key, Command::Advance(advance)).await
    }

    /// Changes money of a wallet into another asset at the current rate, confirmed at once. A user
    /// changes its own.
    pub async fn exchange(
        &self,
        caller: &Caller,
        key: Option<Key>,
        new: NewExchange,
    ) -> Result<Answer, Error> {
        let owner = access::reader(caller)?;
        let terms = self.terms(&new).await?;
        let exchange = match new.check(self.ids.next(), terms, owner) {
            Ok(exchange) => exchange,
            Err(refusal) => return self.replay(key, refusal).await,
        };
        let quote = exchange.quote_asset.clone();
        let posted = self.post(caller, key, Command::Exchange(exchange)).await;
        posted.map_err(|error| match error {
            Error::Rejected(Rejection::Refused(refused)) => {
                exchange::failure(refused, &quote).into()
            }
            other => other,
        })
    }

    async fn terms(&self, new: &NewExchange) -> Result<Terms, Error> {
        let mut conn = self.pool.acquire().await?;
        let base = asset::repo::find_asset(&mut *conn, &new.base_asset_code).await?;
        let quote = asset::repo::find_asset(&mut *conn, &new.quote_asset_code).await?;
        let base = base.map(|asset| asset.code);
        let quote = quote.map(|asset| (asset.code, asset.decimal_places));
        let conversion = match (&base, &quote) {
            (Some(base), Some((quote, _))) => {
                rate::repo::find_conversion_in_tx(&mut conn, base, quote).await?
            }
            _ => None,
        };
        Ok(Terms {
            base,
            quote,
            conversion,
        })
    }

    /// Answers what the first request with this key did, since what it was checked against (rates,
    /// payment methods) may have changed; without one the refusal stands.
    async fn replay(&self, key: Option<Key>, refusal: Failure) -> Result<Answer, Error> {
        let Some(key) = key else {
            return Err(refusal.into());
        };
        let mut conn = self.pool.acquire().await?;
        let mut records = idempotency::find_in_tx(&mut conn, SCHEMA, &[*key.scope()]).await?;
        match records.remove(key.scope()) {
            Some(record) => Ok(Answer::Replay(record.response_for(&key)?)),
            None => Err(refusal.into()),
        }
    }

    async fn post(
        &self,
        caller: &Caller,
        key: Option<Key>,
        command: Command,
    ) -> Result<Answer, Error> {
        let posting = Posting {
            command,
            actor: access::actor(caller),
            key,
        };
        Ok(self.postings.post(posting).await?)
    }

    /// The transaction, if the caller may know of it.
    pub async fn get(&self, caller: &Caller, id: &str) -> Result<Transaction, Error> {
        let id = TransactionId::parse(id).map_err(|_| Error::TransactionNotFound)?;
        let reader = access::reader(caller)?;
        let mut conn = self.pool.acquire().await?;
        let found = repo::find_transaction(&mut conn, id, reader).await?;
        found.ok_or(Error::TransactionNotFound)
    }

    /// The steps of a transaction; admins only, since it names who took them.
    pub async fn history(&self, caller: &Caller, id: &str) -> Result<Vec<Change>, Error> {
        caller.require_admin()?;
        let id = TransactionId::parse(id).map_err(|_| Error::TransactionNotFound)?;
        let mut conn = self.pool.acquire().await?;
        let changes = repo::find_changes(&mut conn, id).await?;
        if changes.is_empty() {
            return Err(Error::TransactionNotFound);
        }
        Ok(changes)
    }

    /// Transactions that the caller may know of; only those of one wallet where given.
    pub async fn list(
        &self,
        caller: &Caller,
        request: &ListRequest,
        wallet: Option<WalletId>,
    ) -> Result<Page<Transaction>, Failure> {
        let reader = access::reader(caller)?;
        let mut conn = self.pool.acquire().await?;
        repo::list_transactions(&mut conn, request, wallet, reader).await
    }
}
