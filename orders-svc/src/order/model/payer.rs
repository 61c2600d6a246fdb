//! Who may pay an order, and from which wallet.

use platform::auth::Caller;

use super::{Order, UserId, WalletId};
use crate::error::Error;

/// A wallet as wallet-svc shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wallet {
    pub(crate) owner_id: Option<UserId>,
    /// A locked wallet takes part in no transaction.
    pub(crate) locked: bool,
}

/// The wallet that a request names as payer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Payer {
    pub(crate) wallet_id: WalletId,
    /// The wallet, unless it does not exist or is the order's own, which needs no lookup.
    pub(crate) wallet: Option<Wallet>,
}

impl Payer {
    /// Checks that the caller may pay the order from this wallet: it exists, it belongs to the
    /// caller or the caller is an admin, and it is not the default wallet, which receives payments.
    pub(crate) fn check(
        &self,
        caller: &Caller,
        order: &Order,
        default_wallet_id: WalletId,
    ) -> Result<(), Error> {
        if self.wallet_id == default_wallet_id {
            return Err(Error::PaysItself);
        }
        if self.wallet_id == order.wallet_id {
            return Ok(());
        }
        if self
            .wallet
            .is_some_and(|wallet| wallet.is_usable_by(caller))
        {
            return Ok(());
        }
        Err(Error::unknown_reference("walletId", "wallet not found"))
    }
}

impl Wallet {
    fn is_usable_by(self, caller: &Caller) -> bool {
        let is_owner = |owner_id| caller.require_self_or_admin(owner_id).is_ok();
        caller.is_admin() || self.owner_id.is_some_and(is_owner)
    }
}
