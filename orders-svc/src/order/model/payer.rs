//! Who may pay an order, and from which wallet.

use platform::auth::Caller;

use super::{Order, UserId, WalletId};
use crate::error::Error;

/// A wallet as wallet-svc shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wallet {
    pub(crate) owner_id: Option<UserId>,
}

/// The wallet that a request names as payer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Payer {
    pub(crate) wallet_id: WalletId,
    /// The wallet; `None` if it does not exist or [`Payer::needs_lookup`] is false.
    pub(crate) wallet: Option<Wallet>,
}

impl Payer {
    /// Returns whether [`Payer::check`] needs the wallet. An admin may always use the wallet that
    /// the order remembers.
    pub(crate) fn needs_lookup(caller: &Caller, order: &Order, wallet_id: WalletId) -> bool {
        !caller.is_admin() || wallet_id != order.wallet_id
    }

    /// Checks that the caller may pay the order from this wallet: it exists, it belongs to the
    /// order's user or the caller is an admin, and it is not the default wallet, which receives
    /// payments. The owner of the wallet that the order remembers may have changed since.
    pub(crate) fn check(
        &self,
        caller: &Caller,
        order: &Order,
        default_wallet_id: WalletId,
    ) -> Result<(), Error> {
        if self.wallet_id == default_wallet_id {
            return Err(Error::PaysItself);
        }
        let may_pay = match self.wallet {
            Some(wallet) => caller.is_admin() || wallet.owner_id == Some(order.user_id),
            None => !Self::needs_lookup(caller, order, self.wallet_id),
        };
        if may_pay {
            return Ok(());
        }
        Err(Error::unknown_reference("walletId", "wallet not found"))
    }
}
