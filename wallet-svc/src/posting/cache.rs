//! Rows as the last batches left them, so that the next batch need not read them. They may be stale:
//! a batch that was decided on them is not written then, because their versions differ.

use std::{collections::HashMap, time::Duration};

use chrono::{DateTime, SubsecRound as _, Utc};
use platform::ids::Ids;
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

/// Committed balances with their wallets and assets.
#[derive(Debug, Default)]
pub(super) struct BalanceCache {
    accounts: HashMap<AccountKey, Account>,
    wallets: HashMap<WalletId, WalletState>,
    assets: HashMap<AssetCode, AssetState>,
    /// When the rows expire.
    expires_at: Option<Instant>,
    clock: Option<Clock>,
}

/// A reading of the database's clock.
#[derive(Debug, Clone, Copy)]
struct Clock {
    time: DateTime<Utc>,
    read_at: Instant,
}

impl BalanceCache {
    /// Returns a book with these rows, or `None` if any of them is not cached. Operations and
    /// idempotency keys are not cached, so a repeat is not recognised.
    pub(super) fn snapshot(&mut self, rows: &ReadSet, ids: &Ids, at: Instant) -> Option<Book> {
        if at > self.expires_at? {
            self.clear();
            return None;
        }
        let clock = self.clock?;
        let passed = at.duration_since(clock.read_at);
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
        let read_at = Instant::now();
        self.clock = Some(Clock { time, read_at });
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
mod tests {
    use std::collections::BTreeSet;

    use chrono::TimeDelta;
    use platform::{
        ids::Id,
        money::{Amount, DecimalPlaces},
    };
    use uuid::Uuid;

    use super::*;

    fn key(n: u128) -> AccountKey {
        AccountKey {
            wallet: Id::new(Uuid::from_u128(n)),
            asset: AssetCode::stored("usd"),
        }
    }

    fn read_set(n: u128) -> ReadSet {
        let key = key(n);
        ReadSet {
            wallets: BTreeSet::from([key.wallet]),
            assets: BTreeSet::from([key.asset.clone()]),
            accounts: BTreeSet::from([key]),
        }
    }

    /// A batch that read the first account and changed the second.
    fn book(now: DateTime<Utc>) -> Book {
        let mut book = Book::new(now, Ids::seeded(1));
        for n in [1, 2] {
            let account = Account {
                key: key(n),
                amount: Amount::ZERO,
                held: Amount::ZERO,
                incoming: Amount::ZERO,
                sequence: 3,
                moved_at: now,
                system: false,
                version: 7,
            };
            let state = WalletState {
                owner: None,
                locked: false,
                system: false,
            };
            book.wallets.insert(account.key.wallet, state);
            book.accounts.insert(account.key.clone(), account);
        }
        let state = AssetState {
            enabled: true,
            decimal_places: DecimalPlaces::new(2).unwrap(),
            version: 1,
        };
        book.assets.insert(AssetCode::stored("usd"), state);
        book.changes.accounts.insert(key(2));
        book
    }

    fn start() -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::days(20_000)
    }

    fn filled_cache() -> BalanceCache {
        let mut cache = BalanceCache::default();
        cache.set_clock(start());
        cache.store(&book(start()), 8);
        cache
    }

    fn snapshot(cache: &mut BalanceCache, n: u128) -> Option<Book> {
        cache.snapshot(&read_set(n), &Ids::seeded(1), Instant::now())
    }

    #[test]
    fn a_changed_row_has_the_version_of_the_batch() {
        let mut cache = filled_cache();
        for (n, version) in [(1, 7), (2, 8)] {
            let book = snapshot(&mut cache, n).unwrap();
            assert_eq!(book.accounts[&key(n)].version, version);
        }
        assert!(snapshot(&mut cache, 3).is_none());
    }

    #[test]
    fn the_clock_advances_and_no_account_goes_back_in_time() {
        let mut cache = filled_cache();
        let later = Instant::now() + Duration::from_secs(5);
        let book = cache.snapshot(&read_set(1), &Ids::seeded(1), later);
        let passed = book.unwrap().now - start();
        assert!((5_000..10_000).contains(&passed.num_milliseconds()));

        cache.set_clock(start() - TimeDelta::hours(1));
        assert_eq!(snapshot(&mut cache, 1).unwrap().now, start());
    }

    #[test]
    fn rows_and_clock_expire() {
        let mut cache = filled_cache();
        let later = Instant::now() + TTL + Duration::from_secs(1);
        let ids = Ids::seeded(1);
        assert!(cache.snapshot(&read_set(1), &ids, later).is_none());
        assert!(snapshot(&mut cache, 1).is_none());
        cache.store(&book(start()), 8);
        assert!(snapshot(&mut cache, 1).is_some());
        // The clock alone has expired.
        cache.expires_at = Some(later);
        assert!(cache.snapshot(&read_set(1), &ids, later).is_none());
    }

    #[test]
    fn a_full_cache_is_cleared() {
        let mut cache = filled_cache();
        for n in 0..=CAPACITY as u128 {
            let account = book(start()).accounts[&key(1)].clone();
            cache.accounts.insert(key(n), account);
        }
        cache.store(&book(start()), 8);
        assert_eq!(cache.accounts.len(), 2);
    }
}
