//! Settings that several contexts share, and what a first start makes.

pub mod first_start;
pub mod grpc;

use crate::{asset::model::AssetCode, wallet::model::WalletId};

/// Settings that several contexts share; fixed while the process runs.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The wallet that receives payments.
    pub default_wallet: WalletId,
    /// Asset of products that name none.
    pub default_asset: AssetCode,
    /// Asset that bonuses and rewards are paid in.
    pub bonus_asset: Option<AssetCode>,
}
