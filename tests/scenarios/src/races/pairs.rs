//! The pairs of actions, and how an order may end.

use crate::client::Reply;

/// An action on an order.
#[derive(Debug, Clone, Copy)]
pub(super) enum Act {
    Pay,
    Cancel,
    Fulfill,
    /// Of more than half of what is paid.
    Refund,
}

impl Act {
    const fn name(self) -> &'static str {
        match self {
            Self::Pay => "pay",
            Self::Cancel => "cancel",
            Self::Fulfill => "fulfill",
            Self::Refund => "refund",
        }
    }
}

/// An end of an order.
pub(super) struct End {
    /// Whether each of the two actions was accepted.
    accepted: (bool, bool),
    /// Both statuses.
    state: &'static str,
}

const fn end(one: bool, other: bool, state: &'static str) -> End {
    End {
        accepted: (one, other),
        state,
    }
}

/// Two actions, and every end that one of them after the other would lead to.
pub(super) struct Pair {
    pub(super) one: Act,
    pub(super) other: Act,
    /// Whether the order is paid at the start.
    pub(super) starts_paid: bool,
    ends: &'static [End],
}

pub(super) const PAIRS: &[Pair] = &[
    Pair {
        one: Act::Pay,
        other: Act::Pay,
        starts_paid: false,
        ends: &[
            end(true, false, "unfulfilled fully_paid"),
            end(false, true, "unfulfilled fully_paid"),
        ],
    },
    Pair {
        one: Act::Pay,
        other: Act::Cancel,
        starts_paid: false,
        ends: &[
            end(true, false, "unfulfilled fully_paid"),
            end(false, true, "canceled unpaid"),
            end(true, true, "canceled fully_refunded"),
        ],
    },
    Pair {
        one: Act::Cancel,
        other: Act::Cancel,
        starts_paid: true,
        ends: &[
            end(true, false, "canceled fully_refunded"),
            end(false, true, "canceled fully_refunded"),
        ],
    },
    Pair {
        one: Act::Cancel,
        other: Act::Fulfill,
        starts_paid: true,
        ends: &[
            end(true, false, "canceled fully_refunded"),
            end(false, true, "fulfilled fully_paid"),
        ],
    },
    Pair {
        one: Act::Refund,
        other: Act::Refund,
        starts_paid: true,
        ends: &[
            end(true, false, "unfulfilled partially_refunded"),
            end(false, true, "unfulfilled partially_refunded"),
        ],
    },
    Pair {
        one: Act::Refund,
        other: Act::Cancel,
        starts_paid: true,
        ends: &[
            end(true, false, "unfulfilled partially_refunded"),
            end(false, true, "canceled fully_refunded"),
            end(true, true, "canceled fully_refunded"),
        ],
    },
];

/// The answers to an action that comes too late.
const REFUSALS: [&str; 3] = [
    "409 order_busy",
    "409 invalid_state",
    "422 refund_exceeds_paid",
];

impl Pair {
    pub(super) fn name(&self) -> String {
        format!("{} x {}", self.one.name(), self.other.name())
    }

    /// Returns the states that may follow these answers: none if an answer is neither a success nor a
    /// refusal, or if both are what they must not be together. Of a busy machine, the answer may be that
    /// the outcome is unknown.
    pub(super) fn allowed_ends(&self, [one, other]: &[Reply; 2]) -> Vec<&'static str> {
        let ends = self
            .ends
            .iter()
            .filter(|end| fits(one, end.accepted.0) && fits(other, end.accepted.1));
        ends.map(|end| end.state).collect()
    }
}

/// Returns whether an action with this answer may have been accepted, or refused.
fn fits(answer: &Reply, accepted: bool) -> bool {
    let is_refusal = REFUSALS.contains(&answer.outcome().as_str());
    answer.is_transient()
        || if accepted {
            answer.is_success()
        } else {
            is_refusal
        }
}
