//! What one wallet holds of one asset, and the arithmetic on it.

use chrono::{DateTime, Utc};
use platform::money::{Amount, OutOfRange};

use super::Refusal;
use crate::{asset::model::AssetCode, wallet::model::WalletId};

/// A wallet and an asset; sorts in the order in which balances are locked.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccountKey {
    /// The wallet.
    pub wallet: WalletId,
    /// The asset.
    pub asset: AssetCode,
}

impl AccountKey {
    /// The account of this wallet and asset.
    pub fn new(wallet: WalletId, asset: &AssetCode) -> Self {
        let asset = asset.clone();
        Self { wallet, asset }
    }
}

/// A balance as the group's decisions see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Whose it is.
    pub key: AccountKey,
    /// Sum of the movements.
    pub amount: Amount,
    /// Debits of open transactions; none on system wallets.
    pub held: Amount,
    /// Credits of open transactions; none on system wallets.
    pub incoming: Amount,
    /// Number of movements.
    pub sequence: i64,
    /// When the last movement was made.
    pub moved_at: DateTime<Utc>,
    /// Whether it may go below zero.
    pub system: bool,
    /// Which state of its row this was read from.
    pub version: i64,
}

/// A movement on an account, before it is told which transaction it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub sequence: i64,
    pub amount: Amount,
    pub balance_after: Amount,
}

impl Account {
    /// What can be spent: never below zero outside system wallets.
    pub fn available(&self) -> Amount {
        self.amount.sub(self.held).unwrap_or(Amount::ZERO)
    }

    /// Holds an amount for an open debit.
    pub(super) fn hold(&mut self, amount: Amount) -> Result<(), Refusal> {
        self.ensure_funds(amount)?;
        self.held = self.held.add(amount)?;
        Ok(())
    }

    /// Gives up a hold.
    pub(super) fn release(&mut self, amount: Amount) -> Result<(), Refusal> {
        self.held = self.held.sub(amount)?;
        Ok(())
    }

    /// Counts on an amount of an open credit; it must fit when it comes.
    pub(super) fn expect(&mut self, amount: Amount) -> Result<(), Refusal> {
        let incoming = self.incoming.add(amount)?;
        self.amount.add(incoming)?;
        self.incoming = incoming;
        Ok(())
    }

    /// Counts on an amount no longer.
    pub(super) fn forgo(&mut self, amount: Amount) -> Result<(), Refusal> {
        self.incoming = self.incoming.sub(amount)?;
        Ok(())
    }

    /// Takes an amount that is available.
    pub(super) fn debit(&mut self, amount: Amount, at: DateTime<Utc>) -> Result<Entry, Refusal> {
        self.ensure_funds(amount)?;
        Ok(self.enter(-amount, at)?)
    }

    /// Adds an amount.
    pub(super) fn credit(&mut self, amount: Amount, at: DateTime<Utc>) -> Result<Entry, Refusal> {
        // What is expected must go on fitting.
        self.amount.add(amount)?.add(self.incoming)?;
        Ok(self.enter(amount, at)?)
    }

    fn enter(&mut self, amount: Amount, at: DateTime<Utc>) -> Result<Entry, OutOfRange> {
        self.amount = self.amount.add(amount)?;
        self.sequence += 1;
        self.moved_at = at;
        Ok(Entry {
            sequence: self.sequence,
            amount,
            balance_after: self.amount,
        })
    }

    fn ensure_funds(&self, needed: Amount) -> Result<(), Refusal> {
        if self.system || self.available() >= needed {
            return Ok(());
        }
        Err(Refusal::InsufficientFunds {
            account: self.key.clone(),
            available: self.available(),
            needed,
        })
    }
}
