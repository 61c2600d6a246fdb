//! The effects of one command while it is decided: they reach the book together or not at all.

use std::collections::BTreeMap;

use platform::money::Amount;

use super::{
    Account, AccountKey, BonusKey, Book, LedgerError, OrderBonus, StatusChange, account::Entry,
};
use crate::{
    asset::model::AssetCode,
    movement::model::{Movement, movement_id},
    transaction::model::{Sides, Status, Transaction, TransactionId},
    wallet::model::WalletId,
};

/// A book with the effects of one command on top.
pub(super) struct Transition<'b> {
    pub book: &'b Book,
    effects: Effects,
}

/// The effects of one command.
#[derive(Default)]
pub(super) struct Effects {
    accounts: BTreeMap<AccountKey, Account>,
    transactions: Vec<(Transaction, Disposition)>,
    movements: Vec<Movement>,
    status_changes: Vec<StatusChange>,
    bonuses: BTreeMap<BonusKey, OrderBonus>,
    refunded: BTreeMap<TransactionId, Amount>,
}

/// What the command does with a transaction of its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Disposition {
    Created,
    Updated,
    Unchanged,
}

impl<'b> Transition<'b> {
    pub(super) fn new(book: &'b Book) -> Self {
        Self {
            book,
            effects: Effects::default(),
        }
    }

    pub(super) fn into_effects(self) -> Effects {
        self.effects
    }

    /// Returns the account as this command has left it so far.
    pub(super) fn account(
        &mut self,
        wallet: WalletId,
        asset: &AssetCode,
    ) -> Result<&mut Account, LedgerError> {
        let key = AccountKey::new(wallet, asset);
        let accounts = &mut self.effects.accounts;
        if !accounts.contains_key(&key) {
            let loaded = self.book.accounts.get(&key);
            let account = loaded.ok_or_else(|| LedgerError::NotLoaded(key.clone()))?;
            accounts.insert(key.clone(), account.clone());
        }
        accounts.get_mut(&key).ok_or(LedgerError::NotLoaded(key))
    }

    /// Returns what can be spent of an account, which stays unchanged.
    pub(super) fn available(
        &self,
        wallet: WalletId,
        asset: &AssetCode,
    ) -> Result<Amount, LedgerError> {
        let key = AccountKey::new(wallet, asset);
        let changed = self.effects.accounts.get(&key);
        let account = changed.or_else(|| self.book.accounts.get(&key));
        let available = account.map(Account::available);
        available.ok_or(LedgerError::NotLoaded(key))
    }

    /// Holds the debit and announces the credit of an open transaction, on the sides that are not
    /// the system's.
    pub(super) fn reserve(&mut self, tx: &Transaction) -> Result<(), LedgerError> {
        if let Some(origin) = tx.origin() {
            self.account(origin, &tx.asset)?.hold(tx.amount)?;
        }
        if let Some(destination) = tx.destination() {
            let account = self.account(destination, &tx.asset)?;
            account.add_incoming(tx.amount)?;
        }
        Ok(())
    }

    /// Undoes [`Transition::reserve`].
    pub(super) fn release(&mut self, tx: &Transaction) -> Result<(), LedgerError> {
        if let Some(origin) = tx.origin() {
            self.account(origin, &tx.asset)?.release(tx.amount)?;
        }
        if let Some(destination) = tx.destination() {
            let account = self.account(destination, &tx.asset)?;
            account.cancel_incoming(tx.amount)?;
        }
        Ok(())
    }

    /// Moves the transaction's money: a debit and a credit, which sum to zero.
    pub(super) fn settle(&mut self, tx: &Transaction) -> Result<(), LedgerError> {
        self.transfer(tx, tx.sides, &tx.asset, tx.amount)
    }

    /// Moves money of any asset for a transaction.
    pub(super) fn transfer(
        &mut self,
        tx: &Transaction,
        sides: Sides,
        asset: &AssetCode,
        amount: Amount,
    ) -> Result<(), LedgerError> {
        let now = self.book.now;
        let entry = self.account(sides.debit, asset)?.debit(amount, now)?;
        self.record_movement(tx, sides.debit, asset, entry);
        let entry = self.account(sides.credit, asset)?.credit(amount, now)?;
        self.record_movement(tx, sides.credit, asset, entry);
        Ok(())
    }

    fn record_movement(
        &mut self,
        tx: &Transaction,
        wallet: WalletId,
        asset: &AssetCode,
        entry: Entry,
    ) {
        let before = self.effects.movements.iter().rev();
        let number = before.take_while(|it| it.transaction == tx.id).count();
        let number = u8::try_from(number).unwrap_or(u8::MAX);
        self.effects.movements.push(Movement {
            id: movement_id(tx.id, self.book.now, number),
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

    /// Adds a new transaction to the result.
    pub(super) fn insert(&mut self, tx: Transaction) -> Result<(), LedgerError> {
        self.record_status_change(&tx, None);
        if let Some(original) = tx.refunds {
            let refunded = self.refunded(original).add(tx.amount)?;
            self.effects.refunded.insert(original, refunded);
        }
        self.effects.transactions.push((tx, Disposition::Created));
        Ok(())
    }

    /// Adds a transaction in its new status to the result.
    pub(super) fn update(&mut self, tx: Transaction, from: Status) {
        self.record_status_change(&tx, Some(from));
        self.effects.transactions.push((tx, Disposition::Updated));
    }

    /// Adds a transaction that stays as it is to the result.
    pub(super) fn leave_unchanged(&mut self, tx: &Transaction) {
        let unchanged = (tx.clone(), Disposition::Unchanged);
        self.effects.transactions.push(unchanged);
    }

    fn record_status_change(&mut self, tx: &Transaction, from: Option<Status>) {
        self.effects.status_changes.push(StatusChange {
            transaction: tx.id,
            from,
            to: tx.status,
            version: tx.version,
        });
    }

    /// Returns the transactions of an operation accepted before this command, in their order.
    pub(super) fn operation(&self, id: &str) -> Result<Vec<&'b Transaction>, LedgerError> {
        let ids = self.book.operations.get(id);
        let ids = ids.ok_or(LedgerError::OperationNotFound)?;
        let find = |id| self.book.transactions.get(id);
        Ok(ids.iter().filter_map(find).collect())
    }

    /// Returns how much of a transaction has been refunded so far.
    pub(super) fn refunded(&self, id: TransactionId) -> Amount {
        let now = self.effects.refunded.get(&id);
        let before = || self.book.refunded.get(&id);
        now.or_else(before).copied().unwrap_or(Amount::ZERO)
    }

    /// Returns the bonus of an order as this command has left it so far.
    pub(super) fn bonus(&self, key: BonusKey) -> Option<&OrderBonus> {
        let now = self.effects.bonuses.get(&key);
        now.or_else(|| self.book.bonuses.get(&key))
    }

    /// Stores an order's bonus.
    pub(super) fn put_bonus(&mut self, bonus: OrderBonus) {
        self.effects.bonuses.insert(bonus.key, bonus);
    }

    /// Iterates over all bonuses as this command has left them so far.
    pub(super) fn bonuses(&self) -> impl Iterator<Item = &OrderBonus> {
        let changed = &self.effects.bonuses;
        let untouched = self.book.bonuses.values();
        let untouched = untouched.filter(|bonus| !changed.contains_key(&bonus.key));
        changed.values().chain(untouched)
    }
}

impl Effects {
    /// Applies everything to the book; returns the transactions as they are now.
    pub(super) fn apply_to(mut self, book: &mut Book) -> Vec<Transaction> {
        let changes = &mut book.changes;
        changes.accounts.extend(self.accounts.keys().cloned());
        changes.bonuses.extend(self.bonuses.keys().copied());
        changes.movements.extend(self.movements);
        changes.status_changes.extend(self.status_changes);
        for bonus in self.bonuses.values_mut() {
            if bonus.needs_event(book.bonuses.get(&bonus.key)) {
                bonus.version += 1;
                changes.revocations.push(bonus.clone());
            }
        }
        for (tx, disposition) in &self.transactions {
            match disposition {
                Disposition::Created => {
                    changes.created.push(tx.id);
                    if let Some((operation, _)) = &tx.operation {
                        let members = book.operations.entry(operation.clone()).or_default();
                        members.push(tx.id);
                    }
                }
                Disposition::Updated if !changes.created.contains(&tx.id) => {
                    changes.updated.insert(tx.id);
                }
                Disposition::Updated | Disposition::Unchanged => {}
            }
        }
        book.refunded.extend(self.refunded);
        book.accounts.extend(self.accounts);
        book.bonuses.extend(self.bonuses);
        let result: Vec<_> = self.transactions.into_iter().map(|(tx, _)| tx).collect();
        let by_id = result.iter().map(|tx| (tx.id, tx.clone()));
        book.transactions.extend(by_id);
        result
    }
}
