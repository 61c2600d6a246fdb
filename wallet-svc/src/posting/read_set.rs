//! The rows that the commands of a batch are decided on.

use std::collections::BTreeSet;

use chrono::DateTime;
use platform::ids::Ids;

use crate::{
    asset::model::AssetCode,
    ledger::{AccountKey, Book, Command},
    wallet::model::WalletId,
};

/// The keys of rows, in the order of locks.
#[derive(Debug, Default)]
pub(super) struct ReadSet {
    pub accounts: BTreeSet<AccountKey>,
    pub wallets: BTreeSet<WalletId>,
    pub assets: BTreeSet<AssetCode>,
}

impl ReadSet {
    /// Collects the rows that the commands name, directly or by the existing transactions that the
    /// book has.
    pub(super) fn of(commands: &[&Command], book: &Book) -> Self {
        let mut set = Self::default();
        for command in commands {
            set.accounts.extend(command.accounts(book));
            set.wallets.extend(command.wallets(book));
            set.assets.extend(command.assets(book));
        }
        set
    }

    /// Collects the rows that commands name which go on from nothing existing.
    pub(super) fn of_new(commands: &[&Command], ids: &Ids) -> Self {
        Self::of(commands, &Book::new(DateTime::UNIX_EPOCH, ids.clone()))
    }

    /// Returns the accounts that the book misses though their wallets exist.
    pub(super) fn missing_accounts(self, book: &Book) -> BTreeSet<AccountKey> {
        let is_missing = |key: &AccountKey| {
            book.wallets.contains_key(&key.wallet) && !book.accounts.contains_key(key)
        };
        self.accounts.into_iter().filter(is_missing).collect()
    }
}

/// Returns the wallets and the assets of balances, as columns of a statement.
pub(super) fn columns(keys: &BTreeSet<AccountKey>) -> (Vec<WalletId>, Vec<String>) {
    keys.iter()
        .map(|key| (key.wallet, key.asset.as_str().to_owned()))
        .unzip()
}
