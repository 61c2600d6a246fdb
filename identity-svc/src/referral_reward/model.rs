//! A referral reward, and the rule of earning. Pure.

use chrono::{DateTime, Utc};
use platform::{
    ids::Id,
    money::{Amount, Percent},
};
use sha2::{Digest as _, Sha256};
use uuid::{Builder, Uuid};

use crate::{
    clients::wallet::WalletId,
    task::{CompletionId, TaskId, TransactionId},
    user::{User, UserId},
};

pub(crate) type ReferralId = Id<ReferralReward>;

pub(crate) type OrderId = Id<Order>;

/// An order of orders-svc, of which only the id is used.
#[derive(Debug)]
pub(crate) struct Order;

/// The shares that referrers earn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Percentages {
    /// Of the rewards of tasks.
    pub(crate) task: Percent,
    /// Of fully paid orders.
    pub(crate) purchase: Percent,
}

/// What the referred user did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Task {
        task: TaskId,
        completion: CompletionId,
    },
    Order(OrderId),
}

impl Source {
    /// Returns the kind in events and in the table.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Task { .. } => "task",
            Self::Order(_) => "order",
        }
    }

    /// Returns the id of the completion or of the order.
    pub(crate) const fn id(&self) -> Uuid {
        match self {
            Self::Task { completion, .. } => completion.uuid(),
            Self::Order(order) => order.uuid(),
        }
    }

    /// Returns the id of the reward for it, a name-based UUID (RFC 9562, version 8 with SHA-256).
    pub(crate) fn referral_id(&self) -> ReferralId {
        let name = format!("referral:{}:{}", self.kind(), self.id());
        let hash: [u8; 32] = Sha256::digest(name).into();
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hash[..16]);
        Id::new(Builder::from_custom_bytes(bytes).into_uuid())
    }
}

/// The amount that a share is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Base {
    pub(crate) amount: Amount,
    pub(crate) asset_code: String,
}

/// A share that a referrer earned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReferralReward {
    pub(crate) id: ReferralId,
    pub(crate) source: Source,
    pub(crate) referrer_id: UserId,
    /// The referrer's primary wallet.
    pub(crate) wallet_id: WalletId,
    /// The user whom the referrer referred.
    pub(crate) user_id: UserId,
    pub(crate) base: Base,
    pub(crate) percent: Percent,
    /// The transaction that credits the reward.
    pub(crate) transaction_id: TransactionId,
    pub(crate) created_at: DateTime<Utc>,
}

impl Percentages {
    /// Returns the share of what this source is worth.
    pub(crate) const fn of(self, source: &Source) -> Percent {
        match source {
            Source::Task { .. } => self.task,
            Source::Order(_) => self.purchase,
        }
    }
}

/// Whether a referrer earns a share: not while it is blocked, of itself, or of nothing.
pub(crate) fn earns(referrer: &User, user_id: UserId, base: Amount, percent: Percent) -> bool {
    !referrer.blocked && referrer.id != user_id && base.is_positive() && percent != Percent::ZERO
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id<T>(n: u128) -> Id<T> {
        Id::new(Uuid::from_u128(n))
    }

    #[test]
    fn a_source_always_has_the_same_referral_id_and_no_other_has_it() {
        let order = Source::Order(id(7));
        let task = Source::Task {
            task: id(1),
            completion: id(7),
        };
        assert_eq!(order.referral_id(), Source::Order(id(7)).referral_id());
        assert_ne!(order.referral_id(), task.referral_id());
        assert_ne!(order.referral_id(), Source::Order(id(8)).referral_id());
        assert_eq!(
            order.referral_id().to_string(),
            "af366160-2ac8-8505-9a8d-f6aa1eeaa544"
        );
    }

    #[test]
    fn tasks_and_purchases_have_their_own_percentages() {
        let percentages = Percentages {
            task: Percent::parse("5").unwrap(),
            purchase: Percent::parse("2.5").unwrap(),
        };
        let task = Source::Task {
            task: id(1),
            completion: id(2),
        };
        assert_eq!(percentages.of(&task), percentages.task);
        assert_eq!(percentages.of(&Source::Order(id(3))), percentages.purchase);
    }
}
