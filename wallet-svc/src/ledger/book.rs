//! The rows that a batch is decided on, updated by each decision.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use platform::{
    ids::Ids,
    money::{Amount, DecimalPlaces},
};

use super::{Account, AccountKey, BonusKey, Changes, OrderBonus};
use crate::{
    asset::model::AssetCode,
    transaction::model::{Transaction, TransactionId},
    wallet::model::{UserId, WalletId},
};

/// The part of a wallet that decisions depend on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WalletState {
    /// The user it belongs to.
    pub owner: Option<UserId>,
    /// Whether it rejects postings.
    pub locked: bool,
    /// Whether it is a system wallet, which no posting may name.
    pub system: bool,
}

/// The part of an asset that decisions depend on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AssetState {
    /// Whether it accepts new postings.
    pub enabled: bool,
    /// The decimal places of its amounts.
    pub decimal_places: DecimalPlaces,
    /// Version of the row that it was read from.
    pub version: i64,
}

/// The state that a batch is decided on.
#[derive(Debug)]
pub(crate) struct Book {
    /// The time of everything the batch does: no earlier than any time on its accounts.
    pub now: DateTime<Utc>,
    /// The database's clock, read under the locks if the batch takes any.
    pub clock: DateTime<Utc>,
    /// Makes the ids of movements and of internal transactions.
    pub ids: Ids,
    /// The named wallets that exist.
    pub wallets: HashMap<WalletId, WalletState>,
    /// The named assets that exist.
    pub assets: HashMap<AssetCode, AssetState>,
    pub accounts: HashMap<AccountKey, Account>,
    /// New transactions, those to advance, and those of repeated operations.
    pub transactions: HashMap<TransactionId, Transaction>,
    /// The transactions of operations accepted before, in their order.
    pub operations: HashMap<String, Vec<TransactionId>>,
    /// How much of the transactions of refunded operations was refunded before.
    pub refunded: HashMap<TransactionId, Amount>,
    /// The named bonuses, and those still owed on the accounts that bonuses and rewards credit.
    pub bonuses: HashMap<BonusKey, OrderBonus>,
    /// The decisions so far.
    pub changes: Changes,
}

impl Book {
    /// Makes an empty book; `now` is the database's clock.
    pub(crate) fn new(now: DateTime<Utc>, ids: Ids) -> Self {
        Self {
            now,
            clock: now,
            ids,
            wallets: HashMap::new(),
            assets: HashMap::new(),
            accounts: HashMap::new(),
            transactions: HashMap::new(),
            operations: HashMap::new(),
            refunded: HashMap::new(),
            bonuses: HashMap::new(),
            changes: Changes::default(),
        }
    }
}
