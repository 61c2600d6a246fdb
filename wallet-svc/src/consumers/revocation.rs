//! Takes back the bonuses of an order that was refunded, in proportion.

use platform::{error::Failure, messaging::inbox::Applied};

use super::{amount, id};
use crate::{
    ledger::{Beneficiary, BonusChange, BonusKey, Command},
    referral::{model::OrderRefund, service::Referrals},
};

/// What an event says of the bonuses of a refunded order. Its fields are those of the event.
#[derive(Debug)]
pub(super) struct Revocation {
    pub(super) order_id: String,
    pub(super) wallet_id: String,
    pub(super) bonus_revoked: String,
    pub(super) bonus_asset_code: String,
    pub(super) amount: String,
    pub(super) unearned_amount: String,
}

impl Revocation {
    /// Revokes the bonus of the buyer and the reward of the buyer's referrer.
    pub(super) async fn apply(&self, referrals: &Referrals) -> Result<Applied, Failure> {
        let bonus = self.revoke_bonus(referrals).await?;
        let referral = self.revoke_referral(referrals).await?;
        Ok(match (bonus, referral) {
            (Applied::Before, Applied::Before) => Applied::Before,
            _ => Applied::Now,
        })
    }

    async fn revoke_bonus(&self, referrals: &Referrals) -> Result<Applied, Failure> {
        if self.bonus_revoked.is_empty() {
            return Ok(Applied::Before);
        }
        let revoked = amount(&self.bonus_revoked)?;
        if !revoked.is_positive() {
            return Ok(Applied::Before);
        }
        let ledger = &referrals.ledger;
        let change = BonusChange {
            key: BonusKey {
                order: id(&self.order_id)?,
                beneficiary: Beneficiary::Buyer,
            },
            wallet: id(&self.wallet_id)?,
            asset: ledger.asset(&self.bonus_asset_code).await?,
            granted: None,
            revoked: Some(revoked),
            transaction: None,
        };
        let change = Command::Bonus(change);
        ledger.post(change, "service:orders-svc").await
    }

    async fn revoke_referral(&self, referrals: &Referrals) -> Result<Applied, Failure> {
        if self.unearned_amount.is_empty() {
            return Ok(Applied::Before);
        }
        let refund = OrderRefund {
            order: id(&self.order_id)?,
            amount: amount(&self.amount)?,
            refunded: amount(&self.unearned_amount)?,
        };
        if !refund.refunded.is_positive() {
            return Ok(Applied::Before);
        }
        referrals.refund(&refund).await
    }
}
