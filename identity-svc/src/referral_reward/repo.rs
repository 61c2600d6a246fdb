//! SQL of referral rewards.

use sqlx::PgConnection;

use super::model::ReferralReward;
use crate::error::Result;

/// Inserts a reward, unless its source has one. Returns whether it was inserted.
pub(super) async fn insert_in_tx(conn: &mut PgConnection, reward: &ReferralReward) -> Result<bool> {
    let inserted = sqlx::query!(
        "insert into identity.referral_rewards
             (id, source_kind, source_id, referrer_user_id, user_id, base_amount, base_asset_code,
              percent, transaction_id, created_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
         on conflict (id) do nothing",
        reward.id as _,
        reward.source.kind(),
        reward.source.id(),
        reward.referrer_id as _,
        reward.user_id as _,
        reward.base.amount as _,
        reward.base.asset_code,
        reward.percent as _,
        reward.transaction_id as _,
        reward.created_at,
    )
    .execute(conn)
    .await?;
    Ok(inserted.rows_affected() == 1)
}
