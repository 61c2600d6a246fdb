//! `OrderCanceled`: revokes the bonuses of a canceled order in proportion to its refunds.

use platform::{
    error::Failure,
    messaging::inbox::{Applied, Effect, Envelope},
};
use proto::events::v1::OrderCanceled;

use super::revocation::Revocation;
use crate::referral::service::Referrals;

/// Revokes the bonus of the buyer and the reward of the buyer's referrer.
#[derive(Debug, Clone)]
pub struct RevokeBonuses(pub Referrals);

impl RevokeBonuses {
    pub async fn handle(&self, event: OrderCanceled) -> Result<Applied, Failure> {
        let revocation = Revocation {
            order_id: event.order_id,
            wallet_id: event.wallet_id,
            bonus_revoked: event.bonus_revoked,
            bonus_asset_code: event.bonus_asset_code,
            amount: event.amount,
            unearned_amount: event.unearned_amount,
        };
        revocation.apply(&self.0).await
    }
}

impl Effect for RevokeBonuses {
    type Body = OrderCanceled;

    async fn apply(&self, _envelope: &Envelope, event: OrderCanceled) -> Result<Applied, Failure> {
        self.handle(event).await
    }
}
