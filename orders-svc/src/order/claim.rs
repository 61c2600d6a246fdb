//! The operation under way on an order: what it asks of the ledger, under which name, and what
//! follows from it. A claim is committed before the ledger is asked, and gone when all is done.

use std::collections::BTreeMap;

use platform::money::{Amount, OutOfRange};
use serde::{Deserialize, Serialize};

use super::model::{OrderId, TransactionId, WalletId};

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "snake_case")]
pub enum Kind {
    /// The immediate payment of a draft: refused, it takes the draft with it.
    Create,
    /// A payment.
    Pay,
    /// A cancellation with a refund.
    Cancel,
}

impl Kind {
    /// The text in operation ids.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Pay => "pay",
            Self::Cancel => "cancel",
        }
    }
}

/// A claim as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The order it is on.
    pub order_id: OrderId,
    /// Which claim on this order it is, from 1.
    pub n: i32,
    /// What is being done.
    pub kind: Kind,
    /// What is asked of the ledger and what follows.
    pub plan: Plan,
    /// The record of the request's idempotency key.
    pub idempotency_scope: Option<Vec<u8>>,
}

/// One transfer between a wallet and the till.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leg {
    /// The wallet on the buyer's side.
    pub wallet_id: WalletId,
    /// What is moved.
    pub asset_code: String,
    /// How much.
    pub amount: Amount,
    /// What that is worth in the order's asset, where it is in another.
    #[serde(default)]
    pub covers: Option<Amount>,
    /// The payment that a refund gives back.
    pub refunds: Option<TransactionId>,
}

impl Leg {
    /// What it is worth in the order's asset.
    pub fn covered(&self) -> Amount {
        self.covers.unwrap_or(self.amount)
    }
}

/// What is asked of the ledger and what follows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The wallet that receives payments and gives refunds.
    pub till: WalletId,
    /// What happens.
    pub step: Step,
}

/// What happens to the order once the ledger has agreed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// Money comes in.
    Charge(Vec<Leg>),
    /// Money goes back and the order is canceled.
    Cancel(Cancellation),
}

/// What canceling gives back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cancellation {
    /// What goes where, the newest payment first.
    pub legs: Vec<Leg>,
    /// What they are worth together, in the order's asset.
    pub refund: Amount,
    /// How much of the bonus is taken back.
    pub bonus_revoked: Amount,
    /// JSON text.
    pub reason: Option<String>,
}

impl Cancellation {
    /// What goes back, by asset.
    pub fn refunded(&self) -> Result<BTreeMap<String, Amount>, OutOfRange> {
        let mut sums = BTreeMap::new();
        for leg in &self.legs {
            let sum = sums.entry(leg.asset_code.clone()).or_insert(Amount::ZERO);
            *sum = sum.add(leg.amount)?;
        }
        Ok(sums)
    }
}

impl Claim {
    /// The name of the operation: the ledger answers a repeat with what it did first.
    pub fn operation_id(&self) -> String {
        let (kind, n) = (self.kind.as_str(), self.n);
        format!("order:{}:{kind}:{n}", self.order_id)
    }

    /// The transfers to post.
    pub fn legs(&self) -> &[Leg] {
        match &self.plan.step {
            Step::Charge(legs) => legs,
            Step::Cancel(cancellation) => &cancellation.legs,
        }
    }
}
