//! Records referral rewards and refunds, and posts what follows from both.

use platform::{error::Failure, messaging::inbox::Applied};
use sqlx::PgPool;

use super::{
    model::{OrderRefund, Path, Referral, ReferralReward, RewardAsset, Skipped, Source},
    repo,
};
use crate::{
    asset::{self, model::AssetCode},
    consumers::Ledger,
    ledger::{Command, OrderId},
    rate,
};

/// Who the changes of transactions name as their actor.
const ACTOR: &str = "service:identity-svc";

/// Pays and takes back referral rewards. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Referrals {
    pub(crate) pool: PgPool,
    pub(crate) ledger: Ledger,
    /// The asset of bonuses; without it a reward is in the asset that it is a share of.
    pub(crate) bonus_asset: Option<AssetCode>,
}

impl Referrals {
    /// Pays the reward of a referral, less what a refund of its order takes back.
    pub(crate) async fn earn(&self, referral: &Referral) -> Result<Applied, Failure> {
        self.record(referral).await?;
        match &referral.source {
            Source::Order(order) => self.settle(*order).await,
            Source::Task { task, completion } => {
                let reward = repo::get_reward(&self.pool, referral.id).await?;
                self.pay(reward, task, completion).await
            }
        }
    }

    /// Takes back the share of a refund from the reward of the order's referrer, if there is one.
    pub(crate) async fn refund(&self, refund: &OrderRefund) -> Result<Applied, Failure> {
        repo::record_refund(&self.pool, refund).await?;
        self.settle(refund.order).await
    }

    /// Converts the share and records it, once: rates may change before a redelivery.
    async fn record(&self, referral: &Referral) -> Result<(), Failure> {
        let asset = self.reward_asset(&referral.base_asset).await?;
        let share = referral.share(&asset);
        let is_new = repo::insert_reward(&self.pool, referral, &asset, share).await?;
        if let (true, Err(skipped)) = (is_new, share) {
            report(referral, &asset, skipped);
        }
        Ok(())
    }

    /// Brings the credit for an order to the reward less the refund's share. Both are recorded and
    /// committed before this reads them, so of two concurrent calls the later one sees both.
    async fn settle(&self, order: OrderId) -> Result<Applied, Failure> {
        let reward = repo::find_reward_of_order(&self.pool, order).await?;
        let Some(reward) = reward.filter(|reward| reward.amount.is_positive()) else {
            return Ok(Applied::Before);
        };
        let refund = repo::find_refund(&self.pool, order).await?;
        let change = reward.change(order, refund.as_ref())?;
        self.ledger.post(Command::Bonus(change), ACTOR).await
    }

    async fn pay(
        &self,
        reward: ReferralReward,
        task: &str,
        completion: &str,
    ) -> Result<Applied, Failure> {
        if !reward.amount.is_positive() {
            return Ok(Applied::Before);
        }
        let reward = reward.reward(task, completion);
        self.ledger.post(Command::Reward(reward), ACTOR).await
    }

    /// Finds the asset of the reward, and the way to it.
    async fn reward_asset(&self, base: &AssetCode) -> Result<RewardAsset, Failure> {
        let code = self.bonus_asset.as_ref().unwrap_or(base);
        let asset = asset::repo::find_asset(&self.pool, code.as_str()).await?;
        let asset = asset.ok_or_else(|| Failure::internal(format!("asset {code} not found")))?;
        let path = if code == base {
            Path::SameAsset
        } else {
            let mut conn = self.pool.acquire().await?;
            Path::Rate(rate::repo::find_conversion(&mut conn, base, code).await?)
        };
        Ok(RewardAsset {
            code: asset.code,
            decimal_places: asset.decimal_places,
            path,
        })
    }
}

fn report(referral: &Referral, asset: &RewardAsset, skipped: Skipped) {
    let reason = skipped.as_str();
    metrics::counter!("wallet_referral_rewards_skipped_total", "reason" => reason).increment(1);
    tracing::warn!(
        referral = %referral.id, from = %referral.base_asset, to = %asset.code, reason,
        "referrals: a share cannot be converted, nothing is paid for it"
    );
}
