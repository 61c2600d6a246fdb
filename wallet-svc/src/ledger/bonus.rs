//! The bonuses of an order: the credit is what was granted less what was revoked, in whichever order
//! the two become known.

use chrono::{DateTime, Utc};
use platform::{
    ids::Id,
    money::{Amount, OutOfRange},
};

use super::{BonusChange, LedgerError};
use crate::{asset::model::AssetCode, wallet::model::WalletId};

/// An order, which lives in orders-svc.
pub(crate) struct Order;

/// The id of an order.
pub(crate) type OrderId = Id<Order>;

/// The user who receives a bonus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Beneficiary {
    /// Receives the bonus of the products.
    Buyer,
    /// Referred the buyer, and receives a share of the order's amount.
    Referrer,
}

impl Beneficiary {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Buyer => "buyer",
            Self::Referrer => "referrer",
        }
    }

    pub(crate) fn find(name: &str) -> Option<Self> {
        [Self::Buyer, Self::Referrer]
            .into_iter()
            .find(|beneficiary| beneficiary.as_str() == name)
    }

    /// Returns the reason in the metadata of a credit.
    pub(crate) const fn credit_reason(self) -> &'static str {
        match self {
            Self::Buyer => "bonus",
            Self::Referrer => "referral",
        }
    }

    /// Returns the reason in the metadata of a claw-back.
    pub(super) const fn reversal_reason(self) -> &'static str {
        match self {
            Self::Buyer => "bonus_reversal",
            Self::Referrer => "referral_reversal",
        }
    }
}

/// An order and who receives a bonus for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct BonusKey {
    pub order: OrderId,
    pub beneficiary: Beneficiary,
}

/// The bonus of one order for one user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OrderBonus {
    pub key: BonusKey,
    /// The user's primary wallet.
    pub wallet: WalletId,
    pub asset: AssetCode,
    /// The whole bonus; zero until the order is paid.
    pub granted: Amount,
    /// The part taken back.
    pub revoked: Amount,
    /// The wallet's credit, less what it has been charged or owes.
    pub credited: Amount,
    /// The part that was charged but not available.
    pub owed: Amount,
    /// Number of events about it; none are about a referrer's.
    pub version: i64,
    /// Time of the first change.
    pub created_at: DateTime<Utc>,
}

impl OrderBonus {
    /// Makes an empty bonus for the account that the change names.
    pub(super) fn new(change: &BonusChange, now: DateTime<Utc>) -> Self {
        Self {
            key: change.key,
            wallet: change.wallet,
            asset: change.asset.clone(),
            granted: Amount::ZERO,
            revoked: Amount::ZERO,
            credited: Amount::ZERO,
            owed: Amount::ZERO,
            version: 0,
            created_at: now,
        }
    }

    /// Applies the change; returns by how much the wallet's credit has to change.
    pub(super) fn apply(&mut self, change: &BonusChange) -> Result<Amount, LedgerError> {
        if self.wallet != change.wallet || self.asset != change.asset {
            return Err(LedgerError::BonusAccountMismatch);
        }
        // Both only grow, so that a late or repeated event changes nothing.
        self.granted = self.granted.max(change.granted.unwrap_or_default());
        self.revoked = self.revoked.max(change.revoked.unwrap_or_default());
        let target = self.granted.sub(self.revoked)?.max(Amount::ZERO);
        let difference = target.sub(self.credited)?;
        self.credited = target;
        Ok(difference)
    }

    /// Whether less or more of a buyer's bonus is revoked or owed than before, or than of no bonus.
    /// Changes of a referrer's are not published: orders do not show them.
    pub(super) fn needs_event(&self, before: Option<&Self>) -> bool {
        let amounts = |bonus: &Self| (bonus.revoked, bonus.owed);
        self.key.beneficiary == Beneficiary::Buyer
            && amounts(self) != before.map(amounts).unwrap_or_default()
    }

    /// Adds to the amount owed.
    pub(super) fn add_debt(&mut self, amount: Amount) -> Result<(), OutOfRange> {
        self.owed = self.owed.add(amount)?;
        Ok(())
    }
}
