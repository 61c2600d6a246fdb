//! Reads the rows that a batch is decided on: under locks, or from one snapshot without.

mod locked;
mod snapshot;

use platform::idempotency::Scope;

use crate::ledger::{Account, AssetState, Book, Command};

pub(super) use locked::{Locked, create_balances, lock_and_read_in_tx};
pub(super) use snapshot::read_snapshot;

/// The commands and keys of a batch.
pub(super) struct Wanted<'b> {
    pub commands: Vec<&'b Command>,
    pub scopes: Vec<Scope>,
}

/// Adds a balance and its asset to the book, whose time is no earlier than the balance's.
fn insert_balance(book: &mut Book, account: Account, asset: AssetState) {
    book.now = book.now.max(account.moved_at);
    let code = &account.key.asset;
    if !book.assets.contains_key(code) {
        book.assets.insert(code.clone(), asset);
    }
    book.accounts.insert(account.key.clone(), account);
}

fn scope_column(scopes: &[Scope]) -> Vec<Vec<u8>> {
    let bytes = scopes.iter().map(|scope| scope.as_bytes().to_vec());
    bytes.collect()
}
