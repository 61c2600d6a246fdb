//! `OrderPaid`: grants the bonus of a paid order.

use platform::{
    error::Failure,
    messaging::inbox::{Applied, Effect, Envelope},
};
use proto::events::v1::OrderPaid;

use super::{Ledger, amount, id};
use crate::ledger::{Beneficiary, BonusChange, BonusKey, Command};

/// Grants the bonus of a paid order.
#[derive(Debug, Clone)]
pub struct GrantBonus(pub Ledger);

impl GrantBonus {
    pub async fn handle(&self, event: OrderPaid) -> Result<Applied, Failure> {
        let granted = amount(&event.bonus)?;
        if !granted.is_positive() {
            return Ok(Applied::Before);
        }
        let change = BonusChange {
            key: BonusKey {
                order: id(&event.order_id)?,
                beneficiary: Beneficiary::Buyer,
            },
            wallet: id(&event.wallet_id)?,
            asset: self.0.asset(&event.bonus_asset_code).await?,
            granted: Some(granted),
            revoked: None,
            transaction: None,
        };
        self.0
            .post(Command::Bonus(change), "service:orders-svc")
            .await
    }
}

impl Effect for GrantBonus {
    type Body = OrderPaid;

    async fn apply(&self, _envelope: &Envelope, event: OrderPaid) -> Result<Applied, Failure> {
        self.handle(event).await
    }
}
