//! What must hold of any sequence of commands: a group decides like one command at a time, nothing
//! is overdrawn, sums are zero, a repeat changes nothing.

mod commands;

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, TimeDelta, Utc};
use platform::{
    ids::{Id, Ids},
    money::{Amount, DecimalPlaces},
};
use proptest::prelude::*;
use uuid::Uuid;

use self::commands::{commands, create};
use super::{
    Account, AccountKey, Advance, AssetRule, BonusChange, Book, Command, Conclusion, Create,
    Exchange, Leg, Mode, Operation, OrderBonus, OrderId, Party, Refund, Refusal, Reward,
};
use crate::{
    asset::model::AssetCode,
    movement::model::Movement,
    transaction::{
        metadata::Metadata,
        model::{Action, Notes, Sides, Status, Transaction, TransactionId, TransactionType},
    },
    wallet::model::{BONUS, EXCHANGE, EXTERNAL, WalletId},
};

fn id<T>(n: u128) -> Id<T> {
    Id::new(Uuid::from_u128(n))
}

fn start() -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::days(20_000)
}

fn wallet(n: u8) -> WalletId {
    id(1_000 + u128::from(n))
}

fn usd() -> AssetCode {
    AssetCode::stored("usd")
}

fn eur() -> AssetCode {
    AssetCode::stored("eur")
}

fn cents(n: i64) -> Amount {
    Amount::from_units(i128::from(n) * 1_000_000).unwrap()
}

/// What the database would hold.
#[derive(Debug, Default, PartialEq)]
struct Store {
    accounts: BTreeMap<AccountKey, Account>,
    transactions: BTreeMap<TransactionId, Transaction>,
    operations: BTreeMap<String, Vec<TransactionId>>,
    bonuses: BTreeMap<OrderId, OrderBonus>,
    movements: Vec<Movement>,
}

impl Store {
    fn load(&self, ids: &Ids) -> Book {
        let mut book = Book::new(start(), ids.clone());
        let system = [EXTERNAL, BONUS, EXCHANGE];
        for owner in (0..4).map(wallet).chain(system) {
            let system = system.contains(&owner);
            let locked = owner == wallet(3);
            book.wallets.insert(
                owner,
                Party {
                    owner: None,
                    locked,
                    system,
                },
            );
            for asset in [usd(), eur()] {
                let key = AccountKey::new(owner, &asset);
                let account = self.accounts.get(&key).cloned();
                let account = account.unwrap_or_else(|| empty(key.clone(), system));
                book.accounts.insert(key, account);
            }
        }
        let rule = AssetRule {
            enabled: true,
            places: DecimalPlaces::new(2).unwrap(),
            version: 1,
        };
        book.assets.extend([(usd(), rule), (eur(), rule)]);
        for tx in self.transactions.values() {
            if let Some(original) = tx.refunds {
                let refunded = book.refunded.entry(original).or_default();
                *refunded = refunded.add(tx.amount).unwrap();
            }
        }
        book.transactions = self.transactions.clone().into_iter().collect();
        book.operations = self.operations.clone().into_iter().collect();
        book.bonuses = self.bonuses.clone().into_iter().collect();
        book
    }

    /// Keeps what the book says has changed, as the one write does.
    fn write(&mut self, book: Book) {
        let changes = book.changes;
        let transactions = changes.created.into_iter().chain(changes.updated);
        for id in transactions {
            self.transactions.insert(id, book.transactions[&id].clone());
        }
        for key in changes.accounts {
            self.accounts
                .insert(key.clone(), book.accounts[&key].clone());
        }
        for order in changes.bonuses {
            self.bonuses.insert(order, book.bonuses[&order].clone());
        }
        self.operations = book.operations.into_iter().collect();
        self.movements.extend(changes.movements);
    }

    /// Decides all commands as one group.
    fn post(&mut self, ids: &Ids, commands: &[Command]) -> Vec<Result<Vec<Transaction>, Refusal>> {
        let mut book = self.load(ids);
        let answers = commands
            .iter()
            .map(|command| book.decide(command))
            .collect();
        self.write(book);
        answers
    }

    fn check(&self) {
        let mut sums: BTreeMap<&AssetCode, Amount> = BTreeMap::new();
        let mut settled: HashMap<TransactionId, Vec<Amount>> = HashMap::new();
        let mut running: HashMap<AccountKey, (i64, Amount)> = HashMap::new();
        for movement in &self.movements {
            let sum = sums.entry(&movement.asset).or_default();
            *sum = sum.add(movement.amount).unwrap();
            settled
                .entry(movement.transaction)
                .or_default()
                .push(movement.amount);
            let key = AccountKey::new(movement.wallet, &movement.asset);
            let (sequence, balance) = running.entry(key).or_default();
            *sequence += 1;
            *balance = balance.add(movement.amount).unwrap();
            assert_eq!(
                (movement.sequence, movement.balance_after),
                (*sequence, *balance)
            );
        }
        assert!(sums.values().all(|sum| sum.is_zero()));
        for tx in self.transactions.values() {
            let moved = settled.remove(&tx.id);
            match (tx.status, tx.kind) {
                (Status::Confirmed, TransactionType::Exchange) => {
                    let moved = moved.unwrap();
                    assert_eq!((moved.len(), moved[0]), (4, -tx.amount));
                }
                (Status::Confirmed, _) => assert_eq!(moved, Some(vec![-tx.amount, tx.amount])),
                _ => assert_eq!(moved, None),
            }
            let refunds = self.transactions.values();
            let refunds = refunds.filter(|other| other.refunds == Some(tx.id));
            let refunded = Amount::sum(refunds.map(|refund| refund.amount)).unwrap();
            assert!(refunded <= tx.amount);
        }
        assert!(settled.is_empty());
        for account in self.accounts.values() {
            assert!(account.system || account.amount >= account.held);
            let of_account = running.get(&account.key).copied().unwrap_or_default();
            assert_eq!((account.sequence, account.amount), of_account);
            let open = self.transactions.values();
            let open = open.filter(|tx| tx.status.is_open() && tx.asset == account.key.asset);
            let held = open.filter(|tx| tx.origin() == Some(account.key.wallet));
            assert_eq!(Amount::sum(held.map(|tx| tx.amount)), Ok(account.held));
        }
    }
}

fn empty(key: AccountKey, system: bool) -> Account {
    Account {
        key,
        amount: Amount::ZERO,
        held: Amount::ZERO,
        incoming: Amount::ZERO,
        sequence: 0,
        moved_at: start(),
        system,
        version: 0,
    }
}

proptest! {
    #[test]
    fn a_group_decides_like_one_at_a_time(commands in commands(), split in 1..8_usize) {
        let (mut grouped, mut single) = (Store::default(), Store::default());
        let (ids, same_ids) = (Ids::seeded(1), Ids::seeded(1));
        for group in commands.chunks(split) {
            let together = grouped.post(&ids, group);
            let one_by_one: Vec<_> = group
                .iter()
                .flat_map(|command| single.post(&same_ids, std::slice::from_ref(command)))
                .collect();
            // A refused command may have used up ids, and did so on both sides.
            prop_assert_eq!(together, one_by_one);
            prop_assert_eq!(&grouped, &single);
            grouped.check();
        }
    }

    #[test]
    fn a_repeat_changes_nothing(commands in commands()) {
        let ids = Ids::seeded(2);
        let mut store = Store::default();
        for command in &commands {
            let first = store.post(&ids, std::slice::from_ref(command)).remove(0);
            let is_once = !matches!(
                command,
                Command::Create(_) | Command::Exchange(_) | Command::Advance(_) | Command::Bonus(_)
            );
            if is_once && first.is_ok() {
                let book = store.load(&ids);
                let mut again = store.load(&ids);
                let repeated = again.decide(command);
                prop_assert_eq!(repeated, first);
                prop_assert!(again.changes.is_empty());
                prop_assert_eq!(again.accounts, book.accounts);
            }
        }
        store.check();
    }

    /// Postings that are read without locks rely on it: that a wallet has changed shows in its
    /// balances.
    #[test]
    fn who_pays_or_is_paid_has_a_balance_changed(commands in commands()) {
        let ids = Ids::seeded(5);
        let mut store = Store::default();
        for command in &commands {
            let mut book = store.load(&ids);
            let named = command.wallets(&book);
            let is_new = matches!(
                command,
                Command::Create(_) | Command::Post(_) | Command::Exchange(_)
            );
            if book.decide(command).is_ok() && is_new && !book.changes.is_empty() {
                for wallet in named.iter().filter(|wallet| !book.wallets[wallet].system) {
                    prop_assert!(book.changes.accounts.iter().any(|key| key.wallet == *wallet));
                }
            }
            store.write(book);
        }
    }

    #[test]
    fn a_reward_that_settles_a_debt_answers_as_its_repeat(owed in 1..500_i64, reward in 1..500_i64) {
        let bonus = |granted, revoked| Command::Bonus(BonusChange {
            order: id(20_000),
            wallet: wallet(0),
            asset: usd(),
            granted,
            revoked,
        });
        let reward = Command::Reward(Reward {
            id: id(30_000),
            wallet: wallet(0),
            asset: usd(),
            amount: cents(reward),
            metadata: Metadata::default(),
        });
        let spend = create(1, 1, 0, 1, owed, 2);
        let ids = Ids::seeded(4);
        let mut store = Store::default();
        let grant = bonus(Some(cents(owed)), None);
        let revoke = bonus(None, Some(cents(owed)));
        for answer in store.post(&ids, &[grant, spend, revoke]) {
            prop_assert!(answer.is_ok());
        }
        let first = store.post(&ids, std::slice::from_ref(&reward)).remove(0);
        prop_assert!(store.bonuses[&id(20_000)].owed < cents(owed));
        prop_assert_eq!(first.as_ref().map(Vec::len), Ok(1));
        prop_assert_eq!(store.post(&ids, &[reward]).remove(0), first);
        store.check();
    }

    #[test]
    fn the_order_of_grant_and_revocation_does_not_matter(
        granted in 1..500_i64,
        revoked in 1..500_i64,
    ) {
        let change = |granted: Option<i64>, revoked: Option<i64>| Command::Bonus(BonusChange {
            order: id(20_000),
            wallet: wallet(0),
            asset: usd(),
            granted: granted.map(cents),
            revoked: revoked.map(cents),
        });
        let (grant, revoke) = (change(Some(granted), None), change(None, Some(revoked)));
        let left = |order: &[Command]| {
            let mut store = Store::default();
            store.post(&Ids::seeded(3), order);
            store.check();
            let account = store.accounts.get(&AccountKey::new(wallet(0), &usd()));
            account.map_or(Amount::ZERO, |account| account.amount)
        };
        let expected = cents((granted - revoked).max(0));
        prop_assert_eq!(left(&[grant.clone(), revoke.clone()]), expected);
        prop_assert_eq!(left(&[revoke, grant]), expected);
    }
}
