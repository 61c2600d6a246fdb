//! Exchanges: money of a wallet leaves in one asset and comes back in another, through the system
//! wallet between them, so that each asset sums to zero.

use super::{Create, Exchange, Refusal, Side, draft::Draft};
use crate::{
    transaction::model::{Sides, Transaction},
    wallet::model::EXCHANGE,
};

impl Draft<'_> {
    pub(super) fn exchange(&mut self, exchange: &Exchange) -> Result<(), Refusal> {
        let tx = self.transaction(&exchange.base);
        self.ensure_owned(&exchange.base, &tx)?;
        self.admit(&tx, false)?;
        self.admit_amount(&exchange.quote_asset, exchange.quote_amount, false)?;
        let wallet = tx.sides.debit;
        let out = Sides {
            debit: wallet,
            credit: EXCHANGE,
        };
        let back = Sides {
            debit: EXCHANGE,
            credit: wallet,
        };
        self.transfer(&tx, out, &tx.asset, tx.amount)?;
        self.transfer(&tx, back, &exchange.quote_asset, exchange.quote_amount)?;
        self.create(tx)
    }

    /// Whether the wallet debited is the one's who has to own it.
    pub(super) fn ensure_owned(&self, create: &Create, tx: &Transaction) -> Result<(), Refusal> {
        if let (Some(owner), Some(origin)) = (create.owner, tx.origin()) {
            let party = self.party(origin, Side::Origin)?;
            if party.owner != Some(owner) {
                return Err(Refusal::UnknownWallet(Side::Origin));
            }
        }
        Ok(())
    }
}
