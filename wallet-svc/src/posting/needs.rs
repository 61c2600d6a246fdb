//! What commands are decided on.

use std::collections::BTreeSet;

use chrono::DateTime;
use platform::ids::Ids;

use super::{earlier, queue::Posting};
use crate::{
    asset::model::AssetCode,
    ledger::{AccountKey, Book, Command},
    wallet::model::WalletId,
};

/// The rows that commands name, in the order of locks.
pub(super) struct Needs {
    pub accounts: BTreeSet<AccountKey>,
    pub wallets: BTreeSet<WalletId>,
    pub assets: BTreeSet<AssetCode>,
}

impl Needs {
    /// Of these commands, as far as the book has the transactions that they go on from.
    pub(super) fn of(commands: &[&Command], book: &Book) -> Self {
        let all = commands.iter();
        Self {
            accounts: all.clone().flat_map(|one| one.accounts(book)).collect(),
            wallets: all.clone().flat_map(|one| one.wallets(book)).collect(),
            assets: all.flat_map(|one| one.assets(book)).collect(),
        }
    }

    /// Of postings that go on from nothing earlier; `None` if any does.
    pub(super) fn of_new(postings: &[&Posting], ids: &Ids) -> Option<Self> {
        let commands: Vec<_> = postings.iter().map(|posting| &posting.command).collect();
        let empty = Book::new(DateTime::UNIX_EPOCH, ids.clone());
        (!earlier::is_needed(&commands)).then(|| Self::of(&commands, &empty))
    }

    /// Whether the book has all of it.
    pub(super) fn are_met_by(&self, book: &Book) -> bool {
        let accounts = || {
            self.accounts
                .iter()
                .all(|it| book.accounts.contains_key(it))
        };
        let wallets = || self.wallets.iter().all(|it| book.wallets.contains_key(it));
        let assets = || self.assets.iter().all(|it| book.assets.contains_key(it));
        accounts() && wallets() && assets()
    }
}
