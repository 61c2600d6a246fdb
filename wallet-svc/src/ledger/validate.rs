//! Rules about wallets and assets that new transactions and status changes must pass.

use platform::money::Amount;

use super::{Create, LedgerError, Side, WalletState, transition::Transition};
use crate::{
    asset::model::AssetCode,
    transaction::model::{Transaction, TransactionType},
    wallet::model::WalletId,
};

impl Transition<'_> {
    /// Checks the wallets, the asset and the amount of a new transaction. Refunds and what the system
    /// posts itself (`system_initiated`) pass locked wallets and disabled assets, so that no money is
    /// stuck.
    pub(super) fn validate(
        &self,
        tx: &Transaction,
        system_initiated: bool,
    ) -> Result<(), LedgerError> {
        let named = [
            (tx.origin(), Side::Origin),
            (tx.destination(), Side::Destination),
        ];
        let mut locked = None;
        for (wallet, side) in named {
            let Some(wallet) = wallet else { continue };
            if self.wallet(wallet, side)?.locked {
                locked = locked.or(Some(wallet));
            }
        }
        if tx.sides.debit == tx.sides.credit && tx.kind != TransactionType::Exchange {
            return Err(LedgerError::SameWallet);
        }
        self.validate_amount(&tx.asset, tx.amount, system_initiated)?;
        match locked {
            Some(wallet) if !system_initiated => Err(LedgerError::WalletLocked(wallet)),
            _ => Ok(()),
        }
    }

    /// Checks that new transactions may move this amount of the asset.
    pub(super) fn validate_amount(
        &self,
        asset: &AssetCode,
        amount: Amount,
        system_initiated: bool,
    ) -> Result<(), LedgerError> {
        let state = self.book.assets.get(asset);
        let state = state.ok_or_else(|| LedgerError::AssetNotFound(asset.clone()))?;
        if !amount.fits(state.decimal_places) {
            let (asset, places) = (asset.clone(), state.decimal_places);
            return Err(LedgerError::Precision { asset, places });
        }
        if !system_initiated && !state.enabled {
            return Err(LedgerError::AssetDisabled(asset.clone()));
        }
        Ok(())
    }

    /// Checks that the wallet debited belongs to the user who has to own it, if there is one.
    pub(super) fn ensure_owned(
        &self,
        create: &Create,
        tx: &Transaction,
    ) -> Result<(), LedgerError> {
        if let (Some(owner), Some(origin)) = (create.owner, tx.origin())
            && self.wallet(origin, Side::Origin)?.owner != Some(owner)
        {
            return Err(LedgerError::WalletNotFound(Side::Origin));
        }
        Ok(())
    }

    /// Checks that neither wallet of an open transaction is locked.
    pub(super) fn ensure_unlocked(&self, tx: &Transaction) -> Result<(), LedgerError> {
        let is_locked = |wallet: &WalletId| {
            let state = self.book.wallets.get(wallet);
            state.is_none_or(|state| state.locked)
        };
        let sides = [tx.origin(), tx.destination()];
        match sides.into_iter().flatten().find(is_locked) {
            Some(wallet) => Err(LedgerError::WalletLocked(wallet)),
            None => Ok(()),
        }
    }

    fn wallet(&self, id: WalletId, side: Side) -> Result<&WalletState, LedgerError> {
        let found = self.book.wallets.get(&id).filter(|wallet| !wallet.system);
        found.ok_or(LedgerError::WalletNotFound(side))
    }
}
