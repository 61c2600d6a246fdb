//! The balance of one wallet in one asset, and its arithmetic.

use chrono::{DateTime, Utc};
use platform::money::{Amount, OutOfRange};

use super::LedgerError;
use crate::{asset::model::AssetCode, wallet::model::WalletId};

/// A wallet and an asset; sorts in the order in which balances are locked.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct AccountKey {
    pub wallet: WalletId,
    pub asset: AssetCode,
}

impl AccountKey {
    /// Names the account of a wallet and an asset.
    pub(crate) fn new(wallet: WalletId, asset: &AssetCode) -> Self {
        let asset = asset.clone();
        Self { wallet, asset }
    }
}

/// A balance as the decisions of a batch see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Account {
    /// Its wallet and asset.
    pub key: AccountKey,
    /// Sum of the movements.
    pub amount: Amount,
    /// Debits of open transactions; none on system wallets.
    pub held: Amount,
    /// Credits of open transactions; none on system wallets.
    pub incoming: Amount,
    /// Number of movements.
    pub sequence: i64,
    /// Time of the last movement.
    pub moved_at: DateTime<Utc>,
    /// Whether it belongs to a system wallet, which may go below zero.
    pub system: bool,
    /// Version of the row that it was read from.
    pub version: i64,
}

/// The account's part of a new movement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub sequence: i64,
    pub amount: Amount,
    pub balance_after: Amount,
}

impl Account {
    /// Returns what can be spent: never below zero outside system wallets.
    pub(crate) fn available(&self) -> Amount {
        self.amount.sub(self.held).unwrap_or(Amount::ZERO)
    }

    /// Holds an available amount for an open debit.
    pub(super) fn hold(&mut self, amount: Amount) -> Result<(), LedgerError> {
        self.ensure_funds(amount)?;
        self.held = self.held.add(amount)?;
        Ok(())
    }

    /// Releases a held amount.
    pub(super) fn release(&mut self, amount: Amount) -> Result<(), LedgerError> {
        self.held = self.held.sub(amount)?;
        Ok(())
    }

    /// Adds the amount of an open credit; fails if crediting it later would be out of range.
    pub(super) fn add_incoming(&mut self, amount: Amount) -> Result<(), LedgerError> {
        let incoming = self.incoming.add(amount)?;
        self.amount.add(incoming)?;
        self.incoming = incoming;
        Ok(())
    }

    /// Removes the amount of an open credit.
    pub(super) fn cancel_incoming(&mut self, amount: Amount) -> Result<(), LedgerError> {
        self.incoming = self.incoming.sub(amount)?;
        Ok(())
    }

    /// Debits an available amount.
    pub(super) fn debit(
        &mut self,
        amount: Amount,
        at: DateTime<Utc>,
    ) -> Result<Entry, LedgerError> {
        self.ensure_funds(amount)?;
        Ok(self.record(-amount, at)?)
    }

    /// Credits an amount.
    pub(super) fn credit(
        &mut self,
        amount: Amount,
        at: DateTime<Utc>,
    ) -> Result<Entry, LedgerError> {
        // Open credits must stay in range.
        self.amount.add(amount)?.add(self.incoming)?;
        Ok(self.record(amount, at)?)
    }

    fn record(&mut self, amount: Amount, at: DateTime<Utc>) -> Result<Entry, OutOfRange> {
        self.amount = self.amount.add(amount)?;
        self.sequence += 1;
        self.moved_at = at;
        Ok(Entry {
            sequence: self.sequence,
            amount,
            balance_after: self.amount,
        })
    }

    fn ensure_funds(&self, needed: Amount) -> Result<(), LedgerError> {
        if self.system || self.available() >= needed {
            return Ok(());
        }
        Err(LedgerError::InsufficientFunds {
            account: self.key.clone(),
            available: self.available(),
            needed,
        })
    }
}
