//! The effects of one command while it is being decided: they reach the book all together or not
//! at all.

use std::collections::BTreeMap;

use platform::money::Amount;

use super::{Account, AccountKey, Book, OrderBonus, OrderId, Refusal, Step, account::Entry};
use crate::{
    asset::model::AssetCode,
    movement::model::Movement,
    transaction::model::{Sides, Status, Transaction, TransactionId},
    wallet::model::WalletId,
};

/// A layer over the book.
pub(super) struct Draft<'b> {
    pub book: &'b Book,
    accounts: BTreeMap<AccountKey, Account>,
    transactions: Vec<(Transaction, Kept)>,
    movements: Vec<Movement>,
    steps: Vec<Step>,
    bonuses: BTreeMap<OrderId, OrderBonus>,
    refunded: BTreeMap<TransactionId, Amount>,
}

/// What a command did with a transaction that it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    New,
    Changed,
    Same,
}

/// A finished draft, free of the book that it was made over.
pub(super) struct Effects {
    accounts: BTreeMap<AccountKey, Account>,
    transactions: Vec<(Transaction, Kept)>,
    movements: Vec<Movement>,
    steps: Vec<Step>,
    bonuses: BTreeMap<OrderId, OrderBonus>,
    refunded: BTreeMap<TransactionId, Amount>,
}

impl<'b> Draft<'b> {
    pub(super) const fn over(book: &'b Book) -> Self {
        Self {
            book,
            accounts: BTreeMap::new(),
            transactions: Vec::new(),
            movements: Vec::new(),
            steps: Vec::new(),
            bonuses: BTreeMap::new(),
            refunded: BTreeMap::new(),
        }
    }

    pub(super) fn finish(self) -> Effects {
        Effects {
            accounts: self.accounts,
            transactions: self.transactions,
            movements: self.movements,
            steps: self.steps,
            bonuses: self.bonuses,
            refunded: self.refunded,
        }
    }

    /// The account as this command has left it so far.
    pub(super) fn account(
        &mut self,
        wallet: WalletId,
        asset: &AssetCode,
    ) -> Result<&mut Account, Refusal> {
        let key = AccountKey::new(wallet, asset);
        if !self.accounts.contains_key(&key) {
            let loaded = self.book.accounts.get(&key);
            let account = loaded.ok_or_else(|| Refusal::NotLoaded(key.clone()))?;
            self.accounts.insert(key.clone(), account.clone());
        }
        self.accounts.get_mut(&key).ok_or(Refusal::NotLoaded(key))
    }

    /// Sets money aside for an open transaction, on the sides that are not the system's.
    pub(super) fn set_aside(&mut self, tx: &Transaction) -> Result<(), Refusal> {
        if let Some(origin) = tx.origin() {
            self.account(origin, &tx.asset)?.hold(tx.amount)?;
        }
        if let Some(destination) = tx.destination() {
            self.account(destination, &tx.asset)?.expect(tx.amount)?;
        }
        Ok(())
    }

    /// Undoes [`Draft::set_aside`].
    pub(super) fn give_up(&mut self, tx: &Transaction) -> Result<(), Refusal> {
        if let Some(origin) = tx.origin() {
            self.account(origin, &tx.asset)?.release(tx.amount)?;
        }
        if let Some(destination) = tx.destination() {
            self.account(destination, &tx.asset)?.forgo(tx.amount)?;
        }
        Ok(())
    }

    /// Moves the money: a debit and a credit, which sum to zero.
    pub(super) fn settle(&mut self, tx: &Transaction) -> Result<(), Refusal> {
        self.transfer(tx, tx.sides, &tx.asset, tx.amount)
    }

    /// Moves money of any asset for a transaction.
    pub(super) fn transfer(
        &mut self,
        tx: &Transaction,
        sides: Sides,
        asset: &AssetCode,
        amount: Amount,
    ) -> Result<(), Refusal> {
        let now = self.book.now;
        let entry = self.account(sides.debit, asset)?.debit(amount, now)?;
        self.enter(tx, sides.debit, asset, entry);
        let entry = self.account(sides.credit, asset)?.credit(amount, now)?;
        self.enter(tx, sides.credit, asset, entry);
        Ok(())
    }

    fn enter(&mut self, tx: &Transaction, wallet: WalletId, asset: &AssetCode, entry: Entry) {
        self.movements.push(Movement {
            id: self.book.ids.next(),
            wallet,
            asset: asset.clone(),
            sequence: entry.sequence,
            transaction: tx.id,
            kind: tx.kind,
            amount: entry.amount,
            balance_after: entry.balance_after,
            created_at: self.book.now,
        });
    }

    /// Keeps a new transaction.
    pub(super) fn create(&mut self, tx: Transaction) -> Result<(), Refusal> {
        self.record(&tx, None);
        if let Some(original) = tx.refunds {
            let refunded = self.refunded(original).add(tx.amount)?;
            self.refunded.insert(original, refunded);
        }
        self.transactions.push((tx, Kept::New));
        Ok(())
    }

    /// Keeps a transaction's new state.
    pub(super) fn update(&mut self, tx: Transaction, from: Status) {
        self.record(&tx, Some(from));
        self.transactions.push((tx, Kept::Changed));
    }

    /// Answers a transaction that needs no change.
    pub(super) fn answer(&mut self, tx: &Transaction) {
        self.transactions.push((tx.clone(), Kept::Same));
    }

    fn record(&mut self, tx: &Transaction, from: Option<Status>) {
        self.steps.push(Step {
            transaction: tx.id,
            from,
            to: tx.status,
            version: tx.version,
        });
    }

    /// The transactions of an operation made before this command, in their order.
    pub(super) fn operation(&self, id: &str) -> Result<Vec<&'b Transaction>, Refusal> {
        let ids = self.book.operations.get(id);
        let ids = ids.ok_or(Refusal::UnknownOperation)?;
        let find = |id| self.book.transactions.get(id);
        Ok(ids.iter().filter_map(find).collect())
    }

    /// How much of a transaction has been given back so far.
    pub(super) fn refunded(&self, id: TransactionId) -> Amount {
        let now = self.refunded.get(&id);
        let before = || self.book.refunded.get(&id);
        now.or_else(before).copied().unwrap_or(Amount::ZERO)
    }

    /// The bonus of an order as this command has left it so far.
    pub(super) fn bonus(&self, order: OrderId) -> Option<&OrderBonus> {
        self.bonuses
            .get(&order)
            .or_else(|| self.book.bonuses.get(&order))
    }

    /// Keeps an order's bonus.
    pub(super) fn keep_bonus(&mut self, bonus: OrderBonus) {
        self.bonuses.insert(bonus.order, bonus);
    }

    /// The bonuses as this command has left them so far.
    pub(super) fn bonuses(&self) -> impl Iterator<Item = &OrderBonus> {
        let untouched = self.book.bonuses.values();
        let untouched = untouched.filter(|bonus| !self.bonuses.contains_key(&bonus.order));
        self.bonuses.values().chain(untouched)
    }
}

impl Effects {
    /// Brings everything into the book; answers the transactions as they are now.
    pub(super) fn enter_into(self, book: &mut Book) -> Vec<Transaction> {
        let changes = &mut book.changes;
        changes.accounts.extend(self.accounts.keys().cloned());
        changes.bonuses.extend(self.bonuses.keys().copied());
        changes.movements.extend(self.movements);
        changes.steps.extend(self.steps);
        for (tx, kept) in &self.transactions {
            match kept {
                Kept::New => {
                    changes.created.push(tx.id);
                    if let Some((operation, _)) = &tx.operation {
                        let made = book.operations.entry(operation.clone()).or_default();
                        made.push(tx.id);
                    }
                }
                Kept::Changed if !changes.created.contains(&tx.id) => {
                    changes.updated.insert(tx.id);
                }
                Kept::Changed | Kept::Same => {}
            }
        }
        book.refunded.extend(self.refunded);
        book.accounts.extend(self.accounts);
        book.bonuses.extend(self.bonuses);
        let answered: Vec<_> = self.transactions.into_iter().map(|(tx, _)| tx).collect();
        let kept = answered.iter().map(|tx| (tx.id, tx.clone()));
        book.transactions.extend(kept);
        answered
    }
}
