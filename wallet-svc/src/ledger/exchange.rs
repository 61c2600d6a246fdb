//! Exchanges: money of a wallet leaves in one asset and returns in another, through the system
//! wallet `exchange`, so that each asset sums to zero.

use super::{Exchange, LedgerError, transition::Transition};
use crate::{transaction::model::Sides, wallet::model::EXCHANGE};

impl Transition<'_> {
    pub(super) fn exchange(&mut self, exchange: &Exchange) -> Result<(), LedgerError> {
        let tx = self.new_transaction(&exchange.base);
        self.ensure_owned(&exchange.base, &tx)?;
        self.validate(&tx, false)?;
        self.validate_amount(&exchange.quote_asset, exchange.quote_amount, false)?;
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
        self.insert(tx)
    }
}
