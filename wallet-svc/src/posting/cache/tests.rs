//! Rows and clocks that expire.

use std::collections::BTreeSet;

use chrono::TimeDelta;
use platform::{
    ids::Id,
    money::{Amount, DecimalPlaces},
};
use tokio::time::advance;
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

/// A filled cache, and its wall clock.
fn filled_cache() -> (BalanceCache, Clock) {
    let wall = Clock::fixed(start());
    let mut cache = BalanceCache::new(wall.clone());
    cache.set_clock(start());
    cache.store(&book(start()), 8);
    (cache, wall)
}

fn snapshot(cache: &mut BalanceCache, n: u128) -> Option<Book> {
    cache.snapshot(&read_set(n), &Ids::seeded(1), Instant::now())
}

/// Lets so many seconds pass.
async fn pass(wall: &Clock, seconds: u32) {
    advance(Duration::from_secs(seconds.into())).await;
    wall.advance(TimeDelta::seconds(seconds.into()));
}

#[tokio::test(start_paused = true)]
async fn a_changed_row_has_the_version_of_the_batch() {
    let (mut cache, _wall) = filled_cache();
    for (n, version) in [(1, 7), (2, 8)] {
        let book = snapshot(&mut cache, n).unwrap();
        assert_eq!(book.accounts[&key(n)].version, version);
    }
    assert!(snapshot(&mut cache, 3).is_none());
}

#[tokio::test(start_paused = true)]
async fn the_clock_advances_and_no_account_goes_back_in_time() {
    let (mut cache, wall) = filled_cache();
    pass(&wall, 5).await;
    let book = snapshot(&mut cache, 1).unwrap();
    assert_eq!(book.now - start(), TimeDelta::seconds(5));

    cache.set_clock(start() - TimeDelta::hours(1));
    assert_eq!(snapshot(&mut cache, 1).unwrap().now, start());
}

#[tokio::test(start_paused = true)]
async fn rows_and_clock_expire() {
    let (mut cache, wall) = filled_cache();
    pass(&wall, 31).await;
    assert!(snapshot(&mut cache, 1).is_none());
    cache.set_clock(start());
    assert!(snapshot(&mut cache, 1).is_none());
    cache.store(&book(start()), 8);
    assert!(snapshot(&mut cache, 1).is_some());
    // The clock alone has expired.
    cache.expires_at = Some(Instant::now() + 2 * TTL);
    pass(&wall, 31).await;
    assert!(snapshot(&mut cache, 1).is_none());
}

/// As after a suspended machine, whose monotonic clock stood still, and after a clock that was set.
#[tokio::test(start_paused = true)]
async fn everything_is_forgotten_when_the_clocks_drift_apart() {
    for (wall_millis, is_kept) in [(5_000, true), (6_000, true), (6_001, false), (3_999, false)] {
        let (mut cache, wall) = filled_cache();
        advance(Duration::from_secs(5)).await;
        wall.advance(TimeDelta::milliseconds(wall_millis));
        assert_eq!(snapshot(&mut cache, 1).is_some(), is_kept, "{wall_millis}");
        // Also where the next batch takes locks, and reads the clock again.
        let (mut cache, wall) = filled_cache();
        advance(Duration::from_secs(5)).await;
        wall.advance(TimeDelta::milliseconds(wall_millis));
        cache.set_clock(start());
        assert_eq!(snapshot(&mut cache, 1).is_some(), is_kept, "{wall_millis}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_full_cache_is_cleared() {
    let (mut cache, _wall) = filled_cache();
    for n in 0..=CAPACITY as u128 {
        let account = book(start()).accounts[&key(1)].clone();
        cache.accounts.insert(key(n), account);
    }
    cache.store(&book(start()), 8);
    assert_eq!(cache.accounts.len(), 2);
}
