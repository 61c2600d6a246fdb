//! `OrderCanceled`: revokes the bonuses of a canceled order in proportion to the refund.

use platform::{
    error::Failure,
    messaging::inbox::{Applied, Effect, Envelope},
};
use proto::events::v1::OrderCanceled;

use super::{amount, id};
use crate::{
    ledger::{Beneficiary, BonusChange, BonusKey, Command},
    referral::{model::OrderRefund, service::Referrals},
};

/// Revokes the bonus of the buyer and the reward of the buyer's referrer.
#[derive(Debug, Clone)]
pub struct RevokeBonuses(pub Referrals);

impl RevokeBonuses {
    pub async fn handle(&self, event: OrderCanceled) -> Result<Applied, Failure> {
        let bonus = self.revoke_bonus(&event).await?;
        let referral = self.revoke_referral(&event).await?;
        Ok(match (bonus, referral) {
            (Applied::Before, Applied::Before) => Applied::Before,
            _ => Applied::Now,
        })
    }

    async fn revoke_bonus(&self, event: &OrderCanceled) -> Result<Applied, Failure> {
        if event.bonus_revoked.is_empty() {
            return Ok(Applied::Before);
        }
        let revoked = amount(&event.bonus_revoked)?;
        if !revoked.is_positive() {
            return Ok(Applied::Before);
        }
        let ledger = &self.0.ledger;
        let change = BonusChange {
            key: BonusKey {
                order: id(&event.order_id)?,
                beneficiary: Beneficiary::Buyer,
            },
            wallet: id(&event.wallet_id)?,
            asset: ledger.asset(&event.bonus_asset_code).await?,
            granted: None,
            revoked: Some(revoked),
            transaction: None,
        };
        let change = Command::Bonus(change);
        ledger.post(change, "service:orders-svc").await
    }

    async fn revoke_referral(&self, event: &OrderCanceled) -> Result<Applied, Failure> {
        if event.refunded_amount.is_empty() {
            return Ok(Applied::Before);
        }
        let refund = OrderRefund {
            order: id(&event.order_id)?,
            amount: amount(&event.amount)?,
            refunded: amount(&event.refunded_amount)?,
        };
        if !refund.refunded.is_positive() {
            return Ok(Applied::Before);
        }
        self.0.refund(&refund).await
    }
}

impl Effect for RevokeBonuses {
    type Body = OrderCanceled;

    async fn apply(&self, _envelope: &Envelope, event: OrderCanceled) -> Result<Applied, Failure> {
        self.handle(event).await
    }
}
