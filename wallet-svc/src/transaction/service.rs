//! The use cases of transactions.

use std::sync::Arc;

use platform::{
    auth::Caller,
    error::Failure,
    idempotency::{self, Key, Reply},
    ids::Ids,
    list::{Page, Totals},
};
use proto::{common::v1::ListRequest, wallet::v1 as wire};
use sqlx::PgPool;

use super::{
    exchange::{self, NewExchange, QuoteAsset, Terms},
    model::{Action, Change, Status, Transaction, TransactionId},
    new::{NewTransaction, check_reason},
    repo,
};
use crate::{
    SCHEMA, access,
    asset::{self, directory::AssetDirectory},
    clients::identity::Users,
    error::Error,
    ledger::{Advance, Command},
    payment_method::model::PaymentMethods,
    posting::{self, Posting, PostingError, PostingOutcome, PostingQueue},
    rate,
    settings::Settings,
    wallet::model::WalletId,
};

/// The use cases of transactions. A change returns the transaction, or the one that is recorded for
/// the idempotency key.
#[derive(Debug, Clone)]
pub(crate) struct Transactions {
    pub(crate) pool: PgPool,
    pub(crate) totals: Totals,
    pub(crate) postings: PostingQueue,
    pub(crate) assets: AssetDirectory,
    pub(crate) settings: Arc<Settings>,
    pub(crate) methods: PaymentMethods,
    pub(crate) users: Users,
    pub(crate) ids: Ids,
}

impl Transactions {
    /// Creates a transaction. A user debits only its own wallets, and cannot `commit`.
    pub(crate) async fn create(
        &self,
        caller: &Caller,
        key: Option<Key>,
        new: NewTransaction,
    ) -> Result<Reply<wire::Transaction>, Error> {
        let owner = access::reader(caller)?;
        if owner.is_some() && (new.origin.is_none() || new.commit) {
            caller.require_admin()?;
        }
        // Whether a crypto code is allowed depends on the asset's current type.
        let asset = if new.code.starts_with("crypto:") {
            self.assets.read(&new.asset_code).await?
        } else {
            self.assets.find(&new.asset_code).await?
        };
        match new.check(self.ids.next(), asset, owner, &self.methods) {
            Ok(create) => self.post(caller, key, Command::Create(create)).await,
            Err(failure) => self.replay_or(key, failure).await,
        }
    }

    /// Pays into the default wallet: a confirmed transfer with code `pay`.
    pub(crate) async fn pay(
        &self,
        caller: &Caller,
        key: Option<Key>,
        mut new: NewTransaction,
    ) -> Result<Reply<wire::Transaction>, Error> {
        let owner = access::reader(caller)?;
        let asset = self.assets.find(&new.asset_code).await?;
        new.destination = Some(self.settings.default_wallet.to_string());
        let mut create = new.check(self.ids.next(), asset, owner, &self.methods)?;
        "pay".clone_into(&mut create.code);
        create.status = Status::Confirmed;
        self.post(caller, key, Command::Create(create)).await
    }

    /// Changes a transaction's status.
    pub(crate) async fn advance(
        &self,
        caller: &Caller,
        key: Option<Key>,
        id: &str,
        action: Action,
        reason: Option<String>,
    ) -> Result<Reply<wire::Transaction>, Error> {
        check_reason(reason.as_deref())?;
        let id = TransactionId::parse(id).map_err(|_| Error::TransactionNotFound)?;
        let advance = Advance { id, action, reason };
        self.post(caller, key, Command::Advance(advance)).await
    }

    /// Exchanges one asset of a wallet for another at the current rate, as a confirmed transaction. A
    /// user exchanges only in its own wallets.
    pub(crate) async fn exchange(
        &self,
        caller: &Caller,
        key: Option<Key>,
        new: NewExchange,
    ) -> Result<Reply<wire::Transaction>, Error> {
        let owner = access::reader(caller)?;
        let terms = self.terms(&new).await?;
        let exchange = match new.check(self.ids.next(), terms, owner) {
            Ok(exchange) => exchange,
            Err(failure) => return self.replay_or(key, failure).await,
        };
        let quote = exchange.quote_asset.clone();
        self.post(caller, key, Command::Exchange(exchange))
            .await
            .map_err(|error| match error {
                Error::Rejected(PostingError::Rejected(error)) => {
                    exchange::failure(error, &quote).into()
                }
                other => other,
            })
    }

    async fn terms(&self, new: &NewExchange) -> Result<Terms, Error> {
        let mut conn = self.pool.acquire().await?;
        let base = asset::repo::find_asset(&mut *conn, &new.base_asset_code).await?;
        let quote = asset::repo::find_asset(&mut *conn, &new.quote_asset_code).await?;
        let base = base.map(|asset| asset.code);
        let quote = quote.map(|asset| QuoteAsset {
            code: asset.code,
            decimal_places: asset.decimal_places,
        });
        let conversion = match (&base, &quote) {
            (Some(base), Some(quote)) => {
                rate::repo::find_conversion(&mut conn, base, &quote.code).await?
            }
            _ => None,
        };
        Ok(Terms {
            base,
            quote,
            conversion,
        })
    }

    /// Replays the recorded transaction of an idempotency key, or fails if there is none. Rates and
    /// payment methods may have changed since the first request with the key.
    pub(super) async fn replay_or(
        &self,
        key: Option<Key>,
        failure: impl Into<Error>,
    ) -> Result<Reply<wire::Transaction>, Error> {
        let Some(key) = key else {
            return Err(failure.into());
        };
        let mut conn = self.pool.acquire().await?;
        let mut records = idempotency::find_in_tx(&mut conn, SCHEMA, &[*key.scope()]).await?;
        match records.remove(key.scope()) {
            Some(record) => only(PostingOutcome::Replayed(record.response_for(&key)?)),
            None => Err(failure.into()),
        }
    }

    /// Decides a command, and writes nothing.
    pub(super) async fn decide(&self, command: &Command) -> Result<(), Error> {
        let mut conn = self.pool.acquire().await?;
        let mut book = posting::read_committed(&mut conn, command, &self.ids).await?;
        book.decide(command).map_err(PostingError::Rejected)?;
        Ok(())
    }

    pub(super) async fn post(
        &self,
        caller: &Caller,
        key: Option<Key>,
        command: Command,
    ) -> Result<Reply<wire::Transaction>, Error> {
        let posting = Posting {
            command,
            actor: caller.name(),
            key,
        };
        only(self.postings.post(posting).await?)
    }

    /// Returns a transaction that the caller may see.
    pub(crate) async fn get(&self, caller: &Caller, id: &str) -> Result<Transaction, Error> {
        let id = TransactionId::parse(id).map_err(|_| Error::TransactionNotFound)?;
        let reader = access::reader(caller)?;
        let mut conn = self.pool.acquire().await?;
        let mut found = repo::find_transactions(&mut conn, &[id], reader).await?;
        found.pop().ok_or(Error::TransactionNotFound)
    }

    /// Returns the history of a transaction, oldest first. It names the callers, so it is for admins.
    pub(crate) async fn history(&self, id: &str) -> Result<Vec<Change>, Error> {
        let id = TransactionId::parse(id).map_err(|_| Error::TransactionNotFound)?;
        let mut conn = self.pool.acquire().await?;
        let changes = repo::find_changes(&mut conn, id).await?;
        if changes.is_empty() {
            return Err(Error::TransactionNotFound);
        }
        Ok(changes)
    }

    /// Lists the transactions that the caller may see, of one wallet or of all.
    pub(crate) async fn list(
        &self,
        caller: &Caller,
        request: &ListRequest,
        wallet: Option<WalletId>,
    ) -> Result<Page<Transaction>, Failure> {
        let reader = access::reader(caller)?;
        let mut conn = self.pool.acquire().await?;
        repo::list_transactions(&mut conn, &self.totals, request, wallet, reader).await
    }
}

/// Returns the one transaction of a posting.
fn only(outcome: PostingOutcome) -> Result<Reply<wire::Transaction>, Error> {
    let Reply { message, replayed } = outcome.into_reply()?;
    let transaction = message.transactions.into_iter().next();
    let message = transaction.ok_or_else(|| Failure::internal("a posting has no transaction"))?;
    Ok(Reply { message, replayed })
}
