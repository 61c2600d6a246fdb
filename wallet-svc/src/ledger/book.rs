//! What a group of postings is decided on: the rows it locked, as they are after the postings
//! decided so far.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use platform::{
    ids::Ids,
    money::{Amount, DecimalPlaces},
};

use super::{Account, AccountKey, Changes, OrderBonus, OrderId};
use crate::{
    asset::model::AssetCode,
    transaction::model::{Transaction, TransactionId},
    wallet::model::{UserId, WalletId},
};

/// A wallet as far as postings care.
#[derive(Debug, Clone, Copy)]
pub struct Party {
    /// The user it belongs to.
    pub owner: Option<UserId>,
    /// Whether it refuses postings.
    pub locked: bool,
    /// Whether it is the system's, which no posting may name.
    pub system: bool,
}

/// An asset as far as postings care.
#[derive(Debug, Clone, Copy)]
pub struct AssetRule {
    /// Whether it accepts new postings.
    pub enabled: bool,
    /// How fine its amounts are.
    pub places: DecimalPlaces,
    /// Which state of it this is.
    pub version: i64,
}

/// The state that a group of postings is decided on.
#[derive(Debug)]
pub struct Book {
    /// The time of everything the group does: no earlier than any time on its accounts.
    pub now: DateTime<Utc>,
    /// Makes the ids of movements and of the system's own transactions.
    pub ids: Ids,
    /// The wallets that exist among those named.
    pub wallets: HashMap<WalletId, Party>,
    /// The assets among those named.
    pub assets: HashMap<AssetCode, AssetRule>,
    /// The locked balances.
    pub accounts: HashMap<AccountKey, Account>,
    /// The transactions advanced, those of repeated operations, and new ones.
    pub transactions: HashMap<TransactionId, Transaction>,
    /// The transactions of operations accepted before.
    pub operations: HashMap<String, Vec<TransactionId>>,
    /// How much of the transactions of refunded operations was given back before.
    pub refunded: HashMap<TransactionId, Amount>,
    /// The bonuses named, and those still owed on the accounts that bonuses and rewards go to.
    pub bonuses: HashMap<OrderId, OrderBonus>,
    /// What the group has decided so far.
    pub changes: Changes,
}

impl Book {
    /// An empty book.
    pub fn new(now: DateTime<Utc>, ids: Ids) -> Self {
        Self {
            now,
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
