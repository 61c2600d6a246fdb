//! `OrderRefunded`: revokes the bonuses of an order in proportion to its refunds.

use platform::{
    error::Failure,
    messaging::inbox::{Applied, Effect, Envelope},
};
use proto::events::v1::OrderRefunded;

use super::revocation::Revocation;
use crate::referral::service::Referrals;

/// Reduces the bonus of the buyer and the reward of the buyer's referrer. A cancellation publishes this
/// event beside its own, with the same totals.
#[derive(Debug, Clone)]
pub struct ReduceBonuses(pub Referrals);

impl ReduceBonuses {
    pub async fn handle(&self, event: OrderRefunded) -> Result<Applied, Failure> {
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

impl Effect for ReduceBonuses {
    type Body = OrderRefunded;

    async fn apply(&self, _envelope: &Envelope, event: OrderRefunded) -> Result<Applied, Failure> {
        self.handle(event).await
    }
}
