//! `OrderCanceled`: revokes the bonus of a canceled order in proportion to the refund.

use platform::{
    error::Failure,
    messaging::inbox::{Applied, Effect, Envelope},
};
use proto::events::v1::OrderCanceled;

use super::{Ledger, amount, id};
use crate::ledger::{BonusChange, Command};

/// Revokes the bonus of a canceled order in proportion to the refund.
#[derive(Debug, Clone)]
pub struct RevokeBonus(pub Ledger);

impl RevokeBonus {
    pub async fn handle(&self, event: OrderCanceled) -> Result<Applied, Failure> {
        if event.bonus_revoked.is_empty() {
            return Ok(Applied::Before);
        }
        let revoked = amount(&event.bonus_revoked)?;
        if !revoked.is_positive() {
            return Ok(Applied::Before);
        }
        let change = BonusChange {
            order: id(&event.order_id)?,
            wallet: id(&event.wallet_id)?,
            asset: self.0.asset(&event.bonus_asset_code).await?,
            granted: None,
            revoked: Some(revoked),
        };
        self.0
            .post(Command::Bonus(change), "service:orders-svc")
            .await
    }
}

impl Effect for RevokeBonus {
    type Body = OrderCanceled;

    async fn apply(&self, _envelope: &Envelope, event: OrderCanceled) -> Result<Applied, Failure> {
        self.handle(event).await
    }
}
