//! What an order's bonus came to: the credit is always what was granted less what was revoked,
//! in whichever order the two become known.

use chrono::{DateTime, Utc};
use platform::{
    ids::Id,
    money::{Amount, OutOfRange},
};

use super::{BonusChange, Refusal};
use crate::{asset::model::AssetCode, wallet::model::WalletId};

/// An order, which lives in orders-svc.
pub struct Order;

/// The id of an order.
pub type OrderId = Id<Order>;

/// The bonus of one order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderBonus {
    /// The order.
    pub order: OrderId,
    /// The buyer's primary wallet.
    pub wallet: WalletId,
    /// The bonus asset.
    pub asset: AssetCode,
    /// The whole bonus; zero until the order is paid.
    pub granted: Amount,
    /// What was taken back of it.
    pub revoked: Amount,
    /// What the wallet was credited, less what it has been charged or owes.
    pub credited: Amount,
    /// What it was charged but did not hold.
    pub owed: Amount,
    /// When it was first heard of.
    pub created_at: DateTime<Utc>,
}

impl OrderBonus {
    /// Before anything is known.
    pub(super) fn new(change: &BonusChange, now: DateTime<Utc>) -> Self {
        Self {
            order: change.order,
            wallet: change.wallet,
            asset: change.asset.clone(),
            granted: Amount::ZERO,
            revoked: Amount::ZERO,
            credited: Amount::ZERO,
            owed: Amount::ZERO,
            created_at: now,
        }
    }

    /// Learns the change; answers by how much the credit has to change.
    pub(super) fn learn(&mut self, change: &BonusChange) -> Result<Amount, Refusal> {
        if self.wallet != change.wallet || self.asset != change.asset {
            return Err(Refusal::BonusElsewhere);
        }
        // Both only grow, so that old news changes nothing.
        self.granted = self.granted.max(change.granted.unwrap_or_default());
        self.revoked = self.revoked.max(change.revoked.unwrap_or_default());
        let target = self.granted.sub(self.revoked)?.max(Amount::ZERO);
        let difference = target.sub(self.credited)?;
        self.credited = target;
        Ok(difference)
    }

    /// Adds to what is owed.
    pub(super) fn owe(&mut self, amount: Amount) -> Result<(), OutOfRange> {
        self.owed = self.owed.add(amount)?;
        Ok(())
    }
}
