//! Which new transactions and steps the wallets and the asset allow.

use platform::money::Amount;

use super::{Party, Refusal, Side, draft::Draft};
use crate::{
    asset::model::AssetCode,
    transaction::model::{Transaction, TransactionType},
    wallet::model::WalletId,
};

impl Draft<'_> {
    /// Whether a new transaction may be made between these wallets in this asset. What the system
    /// gives back or posts itself (`lenient`) also passes locks, so that no money is stuck.
    pub(super) fn admit(&self, tx: &Transaction, lenient: bool) -> Result<(), Refusal> {
        let named = [
            (tx.origin(), Side::Origin),
            (tx.destination(), Side::Destination),
        ];
        let named = named
            .into_iter()
            .filter_map(|(wallet, side)| Some((wallet?, side)));
        let mut parties = Vec::with_capacity(2);
        for (wallet, side) in named {
            parties.push((wallet, self.party(wallet, side)?));
        }
        if tx.sides.debit == tx.sides.credit && tx.kind != TransactionType::Exchange {
            return Err(Refusal::SameWallet);
        }
        self.admit_amount(&tx.asset, tx.amount, lenient)?;
        let locked = parties.iter().find(|(_, party)| party.locked);
        match locked {
            Some((wallet, _)) if !lenient => Err(Refusal::WalletLocked(*wallet)),
            _ => Ok(()),
        }
    }

    /// Whether new transactions may move this amount of the asset.
    pub(super) fn admit_amount(
        &self,
        asset: &AssetCode,
        amount: Amount,
        lenient: bool,
    ) -> Result<(), Refusal> {
        let rule = self.book.assets.get(asset);
        let rule = rule.ok_or_else(|| Refusal::UnknownAsset(asset.clone()))?;
        if !amount.fits(rule.places) {
            let (asset, places) = (asset.clone(), rule.places);
            return Err(Refusal::Precision { asset, places });
        }
        if !lenient && !rule.enabled {
            return Err(Refusal::AssetDisabled(asset.clone()));
        }
        Ok(())
    }

    pub(super) fn party(&self, wallet: WalletId, side: Side) -> Result<&Party, Refusal> {
        let known = self.book.wallets.get(&wallet);
        known
            .filter(|party| !party.system)
            .ok_or(Refusal::UnknownWallet(side))
    }

    pub(super) fn ensure_unlocked(&self, tx: &Transaction) -> Result<(), Refusal> {
        let sides = [tx.origin(), tx.destination()];
        let is_locked = |wallet: &WalletId| {
            let party = self.book.wallets.get(wallet);
            party.is_none_or(|party| party.locked)
        };
        match sides.into_iter().flatten().find(is_locked) {
            Some(wallet) => Err(Refusal::WalletLocked(wallet)),
            None => Ok(()),
        }
    }
}
