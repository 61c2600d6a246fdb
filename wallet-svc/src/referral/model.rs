//! What a referral earns. Pure.

use platform::{
    ids::Id,
    money::{Amount, Conversion, DecimalPlaces, OutOfRange, Percent, Rounding},
};

use crate::{
    asset::model::AssetCode,
    ledger::{Beneficiary, BonusChange, BonusKey, OrderId, Reward},
    transaction::{metadata::Metadata, model::TransactionId},
    wallet::model::WalletId,
};

/// The id of a referral, which identity-svc makes from its source.
pub(crate) type ReferralId = Id<Referral>;

/// A referral as identity-svc publishes it.
#[derive(Debug, Clone)]
pub(crate) struct Referral {
    pub id: ReferralId,
    pub source: Source,
    /// The referrer's primary wallet.
    pub wallet: WalletId,
    /// The whole reward of the task, or the whole amount of the order.
    pub base: Amount,
    pub base_asset: AssetCode,
    pub percent: Percent,
    /// The transaction that credits the reward.
    pub transaction: TransactionId,
}

/// What the referred user did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    Task {
        /// The task, as its id is written in metadata.
        task: String,
        completion: String,
    },
    Order(OrderId),
}

impl Source {
    pub(crate) const fn order(&self) -> Option<OrderId> {
        match self {
            Self::Order(order) => Some(*order),
            Self::Task { .. } => None,
        }
    }
}

/// The asset that rewards are paid in, and the way to it from the base asset.
#[derive(Debug, Clone)]
pub(crate) struct RewardAsset {
    pub code: AssetCode,
    pub decimal_places: DecimalPlaces,
    pub path: Path,
}

/// The way from the base asset to that of the reward.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Path {
    SameAsset,
    /// By a rate; `None` where no rate leads there.
    Rate(Option<Conversion>),
}

/// Why nothing is paid for a referral.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Skipped {
    RateNotFound,
    OutOfRange,
}

impl Skipped {
    /// Returns the code in the table and in the metric.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::RateNotFound => "rate_not_found",
            Self::OutOfRange => "amount_out_of_range",
        }
    }
}

/// What a referral earns, fixed when it was first handled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReferralReward {
    /// The order; `None` where a task was completed.
    pub order: Option<OrderId>,
    pub wallet: WalletId,
    pub asset: AssetCode,
    pub decimal_places: DecimalPlaces,
    /// Zero where it rounds to zero or was skipped.
    pub amount: Amount,
    pub transaction: TransactionId,
}

/// How much of an order was refunded, in the order's asset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OrderRefund {
    pub order: OrderId,
    /// The whole amount of the order; above zero.
    pub amount: Amount,
    /// The part that was refunded and earns nothing any more; above zero.
    pub refunded: Amount,
}

impl Referral {
    /// Computes the reward: the share of the base amount in the asset of the reward, rounded down once.
    pub(crate) fn share(&self, asset: &RewardAsset) -> Result<Amount, Skipped> {
        let (percent, places) = (self.percent, asset.decimal_places);
        let share = match asset.path {
            Path::SameAsset => self.base.percent(percent, places, Rounding::Down),
            Path::Rate(None) => return Err(Skipped::RateNotFound),
            Path::Rate(Some(conversion)) => conversion.credited_percent(self.base, percent, places),
        };
        share.map_err(|OutOfRange| Skipped::OutOfRange)
    }
}

impl ReferralReward {
    /// Returns the change that brings the credit for an order to this reward, less the share of the
    /// refund, which is rounded up.
    pub(crate) fn change(
        &self,
        order: OrderId,
        refund: Option<&OrderRefund>,
    ) -> Result<BonusChange, OutOfRange> {
        let revoked = refund.map(|refund| {
            self.amount.mul_div(
                refund.refunded,
                refund.amount,
                self.decimal_places,
                Rounding::Up,
            )
        });
        let revoked = revoked.transpose()?;
        Ok(BonusChange {
            key: BonusKey {
                order,
                beneficiary: Beneficiary::Referrer,
            },
            wallet: self.wallet,
            asset: self.asset.clone(),
            granted: Some(self.amount),
            revoked: revoked.map(|revoked| revoked.min(self.amount)),
            transaction: Some(self.transaction),
        })
    }

    /// Returns the credit for a completed task.
    pub(crate) fn reward(self, task: &str, completion: &str) -> Reward {
        let metadata = Metadata::default()
            .with_text("reason", Beneficiary::Referrer.credit_reason())
            .with_text("taskId", task)
            .with_text("taskCompletionId", completion);
        Reward {
            id: self.transaction,
            wallet: self.wallet,
            asset: self.asset,
            amount: self.amount,
            metadata,
        }
    }
}

#[cfg(test)]
mod tests {
    use platform::money::Rate;
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    fn id<T>(n: u128) -> Id<T> {
        Id::new(Uuid::from_u128(n))
    }

    fn amount(text: &str) -> Amount {
        Amount::parse(text).unwrap()
    }

    fn cents(n: i64) -> Amount {
        Amount::from_units(i128::from(n) * 1_000_000).unwrap()
    }

    fn referral(base: Amount, percent: &str) -> Referral {
        Referral {
            id: id(1),
            source: Source::Order(id(2)),
            wallet: id(3),
            base,
            base_asset: AssetCode::stored("usd"),
            percent: Percent::parse(percent).unwrap(),
            transaction: id(4),
        }
    }

    fn asset(path: Path) -> RewardAsset {
        RewardAsset {
            code: AssetCode::stored("points"),
            decimal_places: DecimalPlaces::new(2).unwrap(),
            path,
        }
    }

    fn rate(text: &str, inverse: bool) -> Path {
        let rate = Rate::parse(text).unwrap();
        Path::Rate(Some(Conversion { rate, inverse }))
    }

    fn reward(amount: Amount) -> ReferralReward {
        ReferralReward {
            order: Some(id(2)),
            wallet: id(3),
            asset: AssetCode::stored("points"),
            decimal_places: DecimalPlaces::new(2).unwrap(),
            amount,
            transaction: id(4),
        }
    }

    fn revoked(granted: Amount, refunded: Amount, whole: Amount) -> Amount {
        let refund = OrderRefund {
            order: id(2),
            amount: whole,
            refunded,
        };
        let change = reward(granted).change(id(2), Some(&refund)).unwrap();
        change.revoked.unwrap()
    }

    #[test]
    fn a_share_is_converted_and_rounded_down_once() {
        for (base, percent, path, expected) in [
            ("39.60", "10", Path::SameAsset, "3.96"),
            ("0.99", "1", Path::SameAsset, "0.00"),
            ("39.60", "10", rate("100", false), "396.00"),
            ("39.60", "10", rate("0.01", true), "396.00"),
            ("9.99", "2.5", rate("3", false), "0.74"),
            ("1", "0.00000001", rate("100000000", false), "0.01"),
            ("100", "0", Path::SameAsset, "0"),
        ] {
            let share = referral(amount(base), percent).share(&asset(path));
            assert_eq!(share, Ok(amount(expected)), "{base} {percent}");
        }
    }

    #[test]
    fn without_a_rate_or_beyond_the_range_nothing_is_paid() {
        let share = referral(amount("39.60"), "10").share(&asset(Path::Rate(None)));
        assert_eq!(share, Err(Skipped::RateNotFound));
        let most = amount("9999999999999999999");
        let share = referral(most, "100").share(&asset(rate("9999999999999999999", false)));
        assert_eq!(share, Err(Skipped::OutOfRange));
    }

    #[test]
    fn a_refund_revokes_its_share_rounded_up() {
        for (granted, refunded, whole, expected) in [
            ("3.96", "19.80", "39.60", "1.98"),
            ("3.96", "39.60", "39.60", "3.96"),
            ("0.01", "0.01", "39.60", "0.01"),
            ("10", "1", "3", "3.34"),
        ] {
            let revoked = revoked(amount(granted), amount(refunded), amount(whole));
            assert_eq!(revoked, amount(expected), "{granted} {refunded}/{whole}");
        }
        let change = reward(amount("3.96")).change(id(2), None).unwrap();
        assert_eq!(
            (change.granted, change.revoked),
            (Some(amount("3.96")), None)
        );
    }

    proptest! {
        #[test]
        fn a_referrer_never_gets_more_than_the_share(base in 1..10_000_000_i64, percent in 0..=10_000_u32) {
            let text = format!("{}.{:02}", percent / 100, percent % 100);
            let share = referral(cents(base), &text).share(&asset(Path::SameAsset)).unwrap();
            let exact = i128::from(base) * i128::from(percent);
            let paid = share.units() / 1_000_000;
            prop_assert!(paid * 10_000 <= exact && exact < (paid + 1) * 10_000);
        }

        #[test]
        fn what_is_kept_is_at_most_the_share_of_what_stays_paid(
            granted in 1..1_000_000_i64, whole in 1..1_000_000_i64, part in 0..=1_000_000_i64,
        ) {
            let refunded = (whole * part / 1_000_000).clamp(1, whole);
            let revoked = revoked(cents(granted), cents(refunded), cents(whole));
            let kept = cents(granted).sub(revoked).unwrap().units() / 1_000_000;
            let exact = i128::from(granted) * i128::from(whole - refunded);
            prop_assert!(kept * i128::from(whole) <= exact);
            prop_assert!(exact < (kept + 1) * i128::from(whole));
        }
    }
}
