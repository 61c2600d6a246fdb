//! `OrderCanceled`: the order's bonus is taken back in proportion to the refund.

use platform::{
    error::Failure,
    messaging::inbox::{Applied, Effect, Envelope},
};
use proto::events::v1::OrderCanceled;

use super::{Poster, amount, id};
use crate::ledger::{BonusChange, Command};

/// Takes bonuses back.
#[derive(Debug, Clone)]
pub struct RevokeBonus(
    /// What it posts with.
    pub Poster,
);

impl RevokeBonus {
    /// Applies the event.
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
        let command = Command::Bonus(change);
        self.0.post(command, "service:orders-svc").await
    }
}

impl Effect for RevokeBonus {
    type Body = OrderCanceled;

    async fn apply(&self, _envelope: &Envelope, event: OrderCanceled) -> Result<Applied, Failure> {
        self.handle(event).await
    }
}
