//! Claims: the operation in progress on an order. A claim is committed before the ledger is called
//! and deleted together with the settlement, so that a crash in between leaves a trace to resume.

use std::{collections::BTreeMap, time::Duration};

use chrono::{DateTime, Utc};
use platform::{
    idempotency::Scope,
    money::{Amount, OutOfRange},
};
use serde::{Deserialize, Serialize};

use super::{LineId, OrderId, TransactionId, WalletId};

/// How long after its claim the ledger may accept an operation. A process that crashed has time to
/// start again and complete what it began, and every claim ends within a minute.
pub(crate) const VALIDITY: Duration = Duration::from_secs(30);

/// The time from the end of an operation's validity until the ledger reports it as expired.
const EXPIRY_DELAY: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) order_id: OrderId,
    /// Numbers the claims of an order, from 1.
    pub(crate) sequence: i32,
    pub(crate) intent: Intent,
    /// Scope of the request's idempotency record, if the request had a key.
    pub(crate) idempotency_scope: Option<Scope>,
}

/// What tells claims apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClaimId {
    pub(crate) order_id: OrderId,
    pub(crate) sequence: i32,
}

/// A claim that is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenClaim {
    pub(crate) claim: Claim,
    /// The latest time at which the ledger may accept it, the same in every call.
    pub(crate) not_after: DateTime<Utc>,
}

/// The transfers that a claim posts, and the change of the order that follows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Intent {
    /// The shop's wallet: it receives payments and pays refunds.
    pub(crate) default_wallet_id: WalletId,
    /// Who asked for it, as the audit log names them.
    pub(crate) actor: String,
    pub(crate) action: Action,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Action {
    /// Pays a draft, which then becomes an order. A refusal deletes the draft.
    PlaceAndCharge(Vec<Leg>),
    /// Pays an order, or a part of it.
    Charge(Vec<Leg>),
    /// Refunds an order and cancels it.
    Cancel(Refund),
    /// Refunds an order, or a part of it.
    Refund(Refund),
}

/// One transfer between the buyer's side and the default wallet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Leg {
    /// The wallet on the buyer's side.
    pub(crate) wallet_id: WalletId,
    pub(crate) asset_code: String,
    pub(crate) amount: Amount,
    /// Value in the order's asset, if `asset_code` is another.
    pub(crate) order_amount: Option<Amount>,
    /// The payment that a refund gives back.
    pub(crate) refunded_payment: Option<TransactionId>,
    /// Whether it is the part of `useBonus`.
    pub(crate) is_bonus: bool,
}

/// The direction of an action's transfers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TransferDirection {
    /// From the buyer to the default wallet.
    Payment,
    /// From the default wallet to the buyer.
    Refund,
}

/// The effect of a refund, also of the one that comes with a cancellation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Refund {
    /// The newest payment first.
    pub(crate) legs: Vec<Leg>,
    /// Parts of payments in another asset that are worth less than its smallest unit. They are not
    /// posted, and their amount is 0.
    pub(crate) rounded_off: Vec<Leg>,
    /// Value of both in the order's asset.
    pub(crate) amount: Amount,
    /// The part of the order's bonus that is taken back, with what earlier refunds took.
    pub(crate) bonus_revoked: Amount,
    /// The refunded units; empty if an amount was refunded.
    pub(crate) lines: Vec<LineUnits>,
    /// JSON text.
    pub(crate) reason: Option<String>,
}

/// Units of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LineUnits {
    pub(crate) line_id: LineId,
    pub(crate) quantity: i32,
}

impl Leg {
    /// Returns the value in the order's asset.
    pub(crate) fn value(&self) -> Amount {
        self.order_amount.unwrap_or(self.amount)
    }
}

impl Refund {
    /// Returns the refunded amounts by asset code.
    pub(crate) fn refunded(&self) -> Result<BTreeMap<String, Amount>, OutOfRange> {
        sums_by(&self.legs, |leg| leg.asset_code.clone())
    }
}

impl Action {
    /// Returns the name used in operation ids, failpoints and the `action` column.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::PlaceAndCharge(_) => "create",
            Self::Charge(_) => "pay",
            Self::Cancel(_) => "cancel",
            Self::Refund(_) => "refund",
        }
    }

    /// Returns the transfers to post.
    pub(crate) fn legs(&self) -> &[Leg] {
        match self {
            Self::PlaceAndCharge(legs) | Self::Charge(legs) => legs,
            Self::Cancel(refund) | Self::Refund(refund) => &refund.legs,
        }
    }

    /// Returns the refund that it makes, if any.
    pub(crate) const fn refund(&self) -> Option<&Refund> {
        match self {
            Self::PlaceAndCharge(_) | Self::Charge(_) => None,
            Self::Cancel(refund) | Self::Refund(refund) => Some(refund),
        }
    }

    pub(crate) const fn direction(&self) -> TransferDirection {
        match self {
            Self::PlaceAndCharge(_) | Self::Charge(_) => TransferDirection::Payment,
            Self::Cancel(_) | Self::Refund(_) => TransferDirection::Refund,
        }
    }

    /// Returns its word in the audit log.
    pub(crate) const fn done(&self) -> &'static str {
        match self {
            Self::PlaceAndCharge(_) => "created",
            Self::Charge(_) => "paid",
            Self::Cancel(_) => "canceled",
            Self::Refund(_) => "refunded",
        }
    }

    /// Returns the request's field that a refusal of the ledger is reported on.
    pub(crate) const fn field(&self) -> &'static str {
        match self {
            Self::PlaceAndCharge(_) | Self::Charge(_) => "walletId",
            Self::Cancel(_) => "refundAmount",
            Self::Refund(refund) if refund.lines.is_empty() => "amount",
            Self::Refund(_) => "lines",
        }
    }
}

impl Claim {
    pub(crate) const fn id(&self) -> ClaimId {
        ClaimId {
            order_id: self.order_id,
            sequence: self.sequence,
        }
    }

    pub(crate) const fn action(&self) -> &Action {
        &self.intent.action
    }

    /// Returns the operation's id on the ledger, which returns the first call's result to a repeat.
    pub(crate) fn operation_id(&self) -> String {
        let (action, sequence) = (self.action().name(), self.sequence);
        format!("order:{}:{action}:{sequence}", self.order_id)
    }
}

impl OpenClaim {
    /// Returns the time from which the ledger reports it as expired, unless it was accepted.
    pub(crate) fn expires_at(&self) -> DateTime<Utc> {
        self.not_after + EXPIRY_DELAY
    }
}

/// Sums the amounts of legs with the same key.
pub(crate) fn sums_by<K: Ord>(
    legs: &[Leg],
    key: impl Fn(&Leg) -> K,
) -> Result<BTreeMap<K, Amount>, OutOfRange> {
    let mut amounts: BTreeMap<K, Vec<Amount>> = BTreeMap::new();
    for leg in legs {
        amounts.entry(key(leg)).or_default().push(leg.amount);
    }
    amounts
        .into_iter()
        .map(|(key, amounts)| Ok((key, Amount::sum(amounts)?)))
        .collect()
}
