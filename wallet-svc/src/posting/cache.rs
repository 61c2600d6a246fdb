//! Rows as the last batches left them, so that the next batch need not read them. They may be stale:
//! a batch that was decided on them is not written then, because their versions differ.

use std::{collections::HashMap, time::Duration};

use chrono::{DateTime, SubsecRound as _, TimeDelta, Utc};
use platform::{clock::Clock, ids::Ids};
use tokio::time::Instant;

use super::read_set::ReadSet;
use crate::{
    asset::model::AssetCode,
    ledger::{Account, AccountKey, AssetState, Book, WalletState},
    wallet::model::WalletId,
};

/// The most balances cached: some ten megabytes.
const CAPACITY: usize = 32_768;
/// How long rows are cached, and for how long the database's clock is extrapolated from the local one.
const TTL: Duration = Duration::from_secs(30);
/// How far the local clocks may drift apart. The monotonic one stands still while the machine is
/// suspended: rows would be older, and the database's clock further on, than it says.
const MAX_DRIFT: TimeDelta = TimeDelta::seconds(1);

/// Committed balances with their wallets and assets.
#[derive(Debug)]
pub(super) struct BalanceCache {
    /// The wall clock, with which the monotonic one is compared.
    wall: Clock,
    accounts: HashMap<AccountKey, Account>,
    wallets: HashMap<WalletId, WalletState>,
    assets: HashMap<AssetCode, AssetState>,
    /// When the rows expire.
    expires_at: Option<Instant>,
    clock: Option<Reading>,
}

/// A reading of the database's clock, and of the local ones at the same time.
#[derive(Debug, Clone, Copy)]
struct Reading {
    time: DateTime<Utc>,
    wall: DateTime<Utc>,
    monotonic: Instant,
}

impl Reading {
    /// Whether the local clocks have drifted apart since.
    fn has_drifted(&self, wall: DateTime<Utc>, monotonic: Instant) -> bool {
        let passed = TimeDelta::from_std(monotonic.duration_since(self.monotonic));
        !passed.is_ok_and(|passed| (wall - self.wall - passed).abs() <= MAX_DRIFT)
    }
}

impl BalanceCache {
    /// Makes an empty cache.
    pub(super) fn new(wall: Clock) -> Self {
        Self {
            wall,
            accounts: HashMap::new(),
            wallets: HashMap::new(),
            assets: HashMap::new(),
            expires_at: None,
            clock: None,
        }
    }

    /// Returns a book with these rows, or `None` if any of them is not cached. Operations and
    /// idempotency keys are not cached, so a repeat is not recognised.
    pub(super) fn snapshot(&mut self, rows: &ReadSet, ids: &Ids, at: Instant) -> Option<Book> {
        self.clear_after_drift(at);
        if at > self.expires_at? {
            self.clear();
            return None;
        }
        let clock = self.clock?;
        let passed = at.duration_since(clock.monotonic);
        if passed > TTL {
            return None;
        }
        let mut book = Book::new((clock.time + passed).trunc_subsecs(3), ids.clone());
        for key in &rows.accounts {
            let account = self.accounts.get(key)?;
            book.now = book.now.max(account.moved_at);
            book.accounts.insert(key.clone(), account.clone());
        }
        for wallet in &rows.wallets {
            book.wallets.insert(*wallet, *self.wallets.get(wallet)?);
        }
        for asset in &rows.assets {
            let state = *self.assets.get(asset)?;
            book.assets.insert(asset.clone(), state);
        }
        Some(book)
    }

    /// Stores the rows of a committed batch, which gave this version to those that it changed.
    pub(super) fn store(&mut self, book: &Book, version: i64) {
        if self.accounts.len() > CAPACITY {
            self.clear();
        }
        self.expires_at.get_or_insert_with(|| Instant::now() + TTL);
        for (key, account) in &book.accounts {
            let mut account = account.clone();
            if book.changes.accounts.contains(key) {
                account.version = version;
            }
            self.accounts.insert(key.clone(), account);
        }
        let wallets = book.wallets.iter().map(|(id, state)| (*id, *state));
        self.wallets.extend(wallets);
        let assets = book.assets.iter();
        self.assets
            .extend(assets.map(|(code, state)| (code.clone(), *state)));
    }

    /// Sets the database's clock as it was just read. The time of a batch would not do: it is ahead if
    /// the database's clock was set back, and would stay ahead.
    pub(super) fn set_clock(&mut self, time: DateTime<Utc>) {
        let monotonic = Instant::now();
        self.clear_after_drift(monotonic);
        self.clock = Some(Reading {
            time,
            wall: self.wall.now(),
            monotonic,
        });
    }

    /// Removes everything if the local clocks have drifted apart.
    fn clear_after_drift(&mut self, at: Instant) {
        let drifted = |clock: Reading| clock.has_drifted(self.wall.now(), at);
        if self.clock.is_some_and(drifted) {
            tracing::warn!("posting worker: the clocks have drifted apart, cache cleared");
            self.clear();
            self.clock = None;
        }
    }

    /// Removes all rows.
    pub(super) fn clear(&mut self) {
        self.accounts.clear();
        self.wallets.clear();
        self.assets.clear();
        self.expires_at = None;
    }
}

#[cfg(test)]
mod tests;
