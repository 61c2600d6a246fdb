//! What the last groups left, so that the next need not read it. It may have changed since; what is
//! written on it fails then, as where something changes after it was read.

use std::{collections::HashMap, time::Duration};

use chrono::{DateTime, SubsecRound as _, Utc};
use platform::ids::Ids;
use tokio::time::Instant;

use super::needs::Needs;
use crate::{
    asset::model::AssetCode,
    ledger::{Account, AccountKey, AssetState, Book, WalletState},
    wallet::model::WalletId,
};

/// Balances remembered at most: some ten megabytes.
const CAPACITY: usize = 32_768;
/// Groups that read after one failed on what was remembered: most likely because another replica
/// moves the same money, as it will again.
const WARY: u32 = 64;
/// How long anything is remembered: so long does a change by hand, that raises no version, go unseen;
/// and so long is the database's clock told from the time that passed here.
const KEPT_FOR: Duration = Duration::from_secs(30);

/// Balances with their wallets and assets, as they were committed.
#[derive(Debug, Default)]
pub(super) struct Memory {
    accounts: HashMap<AccountKey, Account>,
    wallets: HashMap<WalletId, WalletState>,
    assets: HashMap<AssetCode, AssetState>,
    /// When all of it is forgotten.
    until: Option<Instant>,
    /// What the database's clock showed, and when.
    clock: Option<(DateTime<Utc>, Instant)>,
    /// For how many more groups it isn't trusted.
    wary: u32,
}

impl Memory {
    /// A book with all of this, unless some of it is unknown. Whether what is asked for was done before
    /// is not remembered.
    pub(super) fn recall(&mut self, needs: &Needs, ids: &Ids, at: Instant) -> Option<Book> {
        if self.wary > 0 {
            self.wary -= 1;
            return None;
        }
        if at > self.until? {
            self.forget();
            return None;
        }
        let (shown, then) = self.clock?;
        let passed = at.duration_since(then);
        if passed > KEPT_FOR {
            return None;
        }
        let mut book = Book::new((shown + passed).trunc_subsecs(3), ids.clone());
        for key in &needs.accounts {
            let account = self.accounts.get(key)?;
            book.now = book.now.max(account.moved_at);
            book.accounts.insert(key.clone(), account.clone());
        }
        for wallet in &needs.wallets {
            book.wallets.insert(*wallet, *self.wallets.get(wallet)?);
        }
        for asset in &needs.assets {
            let rule = *self.assets.get(asset)?;
            book.assets.insert(asset.clone(), rule);
        }
        Some(book)
    }

    /// Keeps what a committed group leaves.
    pub(super) fn learn(&mut self, book: &Book) {
        if self.accounts.len() > CAPACITY {
            self.forget();
        }
        self.until.get_or_insert_with(|| Instant::now() + KEPT_FOR);
        for (key, account) in &book.accounts {
            let mut account = account.clone();
            if book.changes.accounts.contains(key) {
                account.version += 1;
            }
            self.accounts.insert(key.clone(), account);
        }
        let wallets = book.wallets.iter().map(|(id, party)| (*id, *party));
        self.wallets.extend(wallets);
        let assets = book.assets.iter();
        self.assets
            .extend(assets.map(|(code, rule)| (code.clone(), *rule)));
    }

    /// Takes what the database's clock shows now: not the time of a group, which is later where the
    /// clock was set back, and would stay so for ever.
    pub(super) fn set_clock(&mut self, now: DateTime<Utc>) {
        self.clock = Some((now, Instant::now()));
    }

    /// Forgets everything: something went wrong.
    pub(super) fn forget(&mut self) {
        self.accounts.clear();
        self.wallets.clear();
        self.assets.clear();
        self.until = None;
    }

    /// Forgets everything, and recalls nothing for a while: what was remembered was wrong.
    pub(super) fn distrust(&mut self) {
        self.forget();
        self.wary = WARY;
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

    fn needs(n: u128) -> Needs {
        let key = key(n);
        Needs {
            wallets: BTreeSet::from([key.wallet]),
            assets: BTreeSet::from([key.asset.clone()]),
            accounts: BTreeSet::from([key]),
        }
    }

    /// A group that read the first account and changed the second.
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
            let party = WalletState {
                owner: None,
                locked: false,
                system: false,
            };
            book.wallets.insert(account.key.wallet, party);
            book.accounts.insert(account.key.clone(), account);
        }
        let rule = AssetState {
            enabled: true,
            decimal_places: DecimalPlaces::new(2).unwrap(),
            version: 1,
        };
        book.assets.insert(AssetCode::stored("usd"), rule);
        book.changes.accounts.insert(key(2));
        book
    }

    fn start() -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::days(20_000)
    }

    fn memory() -> Memory {
        let mut memory = Memory::default();
        memory.set_clock(start());
        memory.learn(&book(start()));
        memory
    }

    fn recall(memory: &mut Memory, n: u128) -> Option<Book> {
        memory.recall(&needs(n), &Ids::seeded(1), Instant::now())
    }

    #[test]
    fn a_change_makes_the_next_version() {
        let mut memory = memory();
        for (n, version) in [(1, 7), (2, 8)] {
            let book = recall(&mut memory, n).unwrap();
            assert_eq!(book.accounts[&key(n)].version, version);
            assert!(needs(n).are_met_by(&book));
        }
        assert!(recall(&mut memory, 3).is_none());
    }

    #[test]
    fn the_time_goes_on_and_never_back() {
        let mut memory = memory();
        let later = Instant::now() + Duration::from_secs(5);
        let book = memory.recall(&needs(1), &Ids::seeded(1), later).unwrap();
        let passed = book.now - start();
        assert!((5_000..10_000).contains(&passed.num_milliseconds()));

        memory.set_clock(start() - TimeDelta::hours(1));
        assert_eq!(recall(&mut memory, 1).unwrap().now, start());
    }

    #[test]
    fn everything_is_forgotten_in_time() {
        let mut memory = memory();
        let later = Instant::now() + KEPT_FOR + Duration::from_secs(1);
        assert!(memory.recall(&needs(1), &Ids::seeded(1), later).is_none());
        assert!(recall(&mut memory, 1).is_none());
        memory.learn(&book(start()));
        assert!(recall(&mut memory, 1).is_some());
        // So is what the clock showed.
        memory.until = Some(later);
        assert!(memory.recall(&needs(1), &Ids::seeded(1), later).is_none());
    }

    #[test]
    fn what_was_wrong_is_not_used_for_a_while() {
        let mut memory = memory();
        memory.distrust();
        memory.learn(&book(start()));
        for _ in 0..WARY {
            assert!(recall(&mut memory, 1).is_none());
        }
        assert!(recall(&mut memory, 1).is_some());
    }

    #[test]
    fn no_more_is_remembered_than_fits() {
        let mut memory = memory();
        for n in 0..=CAPACITY as u128 {
            memory
                .accounts
                .insert(key(n), book(start()).accounts[&key(1)].clone());
        }
        memory.learn(&book(start()));
        assert_eq!(memory.accounts.len(), 2);
    }
}
