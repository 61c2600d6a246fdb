//! Records of referral rewards, which are inserted once and never change, and of refunds, which only grow.

use platform::money::{Amount, DecimalPlaces};
use sqlx::PgPool;

use super::model::{OrderRefund, Referral, ReferralId, ReferralReward, RewardAsset, Skipped};
use crate::{
    asset::model::AssetCode, ledger::OrderId, transaction::model::TransactionId,
    wallet::model::WalletId,
};

struct RewardRow {
    order_id: Option<OrderId>,
    wallet_id: WalletId,
    asset_code: String,
    decimal_places: DecimalPlaces,
    amount: Amount,
    transaction_id: TransactionId,
}

impl From<RewardRow> for ReferralReward {
    fn from(row: RewardRow) -> Self {
        Self {
            order: row.order_id,
            wallet: row.wallet_id,
            asset: AssetCode::stored(&row.asset_code),
            decimal_places: row.decimal_places,
            amount: row.amount,
            transaction: row.transaction_id,
        }
    }
}

/// Records what a referral earns, unless it is recorded. Returns whether it was not. The same referral that is recorded
/// at the same time may be found by its order first.
pub(super) async fn insert_reward(
    pool: &PgPool,
    referral: &Referral,
    asset: &RewardAsset,
    share: Result<Amount, Skipped>,
) -> Result<bool, sqlx::Error> {
    let inserted = sqlx::query!(
        "insert into wallet.referral_rewards
             (referral_id, order_id, wallet_id, base_amount, base_asset_code, percent, asset_code,
              decimal_places, amount, skipped, transaction_id)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
         on conflict do nothing",
        referral.id as _,
        referral.source.order() as _,
        referral.wallet as _,
        referral.base as _,
        referral.base_asset.as_str(),
        referral.percent as _,
        asset.code.as_str(),
        asset.decimal_places as _,
        share.unwrap_or_default() as _,
        share.err().map(Skipped::as_str),
        referral.transaction as _,
    )
    .execute(pool)
    .await?;
    Ok(inserted.rows_affected() == 1)
}

/// Returns what a referral earned.
pub(super) async fn get_reward(
    pool: &PgPool,
    id: ReferralId,
) -> Result<ReferralReward, sqlx::Error> {
    let row = sqlx::query_as!(
        RewardRow,
        "select order_id, wallet_id, asset_code, decimal_places, amount, transaction_id
         from wallet.referral_rewards where referral_id = $1",
        id as _,
    )
    .fetch_one(pool)
    .await?;
    Ok(row.into())
}

/// Finds what the referrer of an order's buyer earned.
pub(super) async fn find_reward_of_order(
    pool: &PgPool,
    order: OrderId,
) -> Result<Option<ReferralReward>, sqlx::Error> {
    let row = sqlx::query_as!(
        RewardRow,
        "select order_id, wallet_id, asset_code, decimal_places, amount, transaction_id
         from wallet.referral_rewards where order_id = $1",
        order as _,
    )
    .fetch_optional(pool)
    .await?;
    Ok(row.map(ReferralReward::from))
}

/// Records a refund. The largest one of an order counts, in whichever order they arrive.
pub(super) async fn record_refund(pool: &PgPool, refund: &OrderRefund) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into wallet.order_refunds (order_id, amount, refunded) values ($1, $2, $3)
         on conflict (order_id) do update
         set refunded = greatest(order_refunds.refunded, excluded.refunded)",
        refund.order as _,
        refund.amount as _,
        refund.refunded as _,
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Finds how much of an order was refunded.
pub(super) async fn find_refund(
    pool: &PgPool,
    order: OrderId,
) -> Result<Option<OrderRefund>, sqlx::Error> {
    sqlx::query_as!(
        OrderRefund,
        "select order_id as \"order\", amount, refunded from wallet.order_refunds
         where order_id = $1",
        order as _,
    )
    .fetch_optional(pool)
    .await
}
