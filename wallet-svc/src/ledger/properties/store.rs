//! An in-memory stand-in for the tables, with the checks of the verifier.

use std::collections::{BTreeMap, HashMap};

use platform::money::DecimalPlaces;

use super::{
    super::{Account, AssetState, Book, LedgerError, OrderBonus, WalletState},
    *,
};
use crate::{
    movement::model::Movement,
    transaction::model::{Transaction, TransactionId},
    wallet::model::{BONUS, EXCHANGE},
};

/// The rows that the database would hold.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Store {
    pub(super) accounts: BTreeMap<AccountKey, Account>,
    transactions: BTreeMap<TransactionId, Transaction>,
    operations: BTreeMap<String, Vec<TransactionId>>,
    pub(super) bonuses: BTreeMap<BonusKey, OrderBonus>,
    movements: Vec<Movement>,
}

impl Store {
    pub(super) fn load(&self, ids: &Ids) -> Book {
        let mut book = Book::new(start(), ids.clone());
        let system = [EXTERNAL, BONUS, EXCHANGE];
        for owner in (0..4).map(wallet).chain(system) {
            let system = system.contains(&owner);
            let state = WalletState {
                owner: None,
                locked: owner == wallet(3),
                system,
            };
            book.wallets.insert(owner, state);
            for asset in [usd(), eur()] {
                let key = AccountKey::new(owner, &asset);
                let account = self.accounts.get(&key).cloned();
                let account = account.unwrap_or_else(|| empty(key.clone(), system));
                book.accounts.insert(key, account);
            }
        }
        let state = AssetState {
            enabled: true,
            decimal_places: DecimalPlaces::new(2).unwrap(),
            version: 1,
        };
        book.assets.extend([(usd(), state), (eur(), state)]);
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

    /// Persists the changes of the book.
    pub(super) fn write(&mut self, book: Book) {
        let changes = book.changes;
        let transactions = changes.created.into_iter().chain(changes.updated);
        for id in transactions {
            self.transactions.insert(id, book.transactions[&id].clone());
        }
        for key in changes.accounts {
            self.accounts
                .insert(key.clone(), book.accounts[&key].clone());
        }
        for key in changes.bonuses {
            self.bonuses.insert(key, book.bonuses[&key].clone());
        }
        self.operations = book.operations.into_iter().collect();
        self.movements.extend(changes.movements);
    }

    /// Decides all commands as one batch.
    pub(super) fn post(
        &mut self,
        ids: &Ids,
        commands: &[Command],
    ) -> Vec<Result<Vec<Transaction>, LedgerError>> {
        let mut book = self.load(ids);
        let results = commands
            .iter()
            .map(|command| book.decide(command))
            .collect();
        self.write(book);
        results
    }

    /// Checks that balances, holds, movements and transactions agree.
    pub(super) fn check(&self) {
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
