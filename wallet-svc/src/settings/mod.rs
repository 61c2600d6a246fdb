//! Settings that several services share, and the first start.

pub(crate) mod first_start;
pub(crate) mod grpc;

use crate::{asset::model::AssetCode, wallet::model::WalletId};

/// Settings that several services share; constant while the process runs.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// Receives payments and pays refunds.
    pub(crate) default_wallet: WalletId,
    /// The asset of products without one.
    pub(crate) default_asset: AssetCode,
    /// The asset of bonuses and rewards.
    pub(crate) bonus_asset: Option<AssetCode>,
}
