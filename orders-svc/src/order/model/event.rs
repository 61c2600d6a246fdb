//! Domain events of an order.

use std::collections::BTreeMap;

use platform::money::Amount;

use super::TransactionId;

/// A change of an order that is published to other contexts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    /// The order exists and is not a draft.
    Placed,
    PaymentReceived {
        /// In the order's asset.
        amount: Amount,
        transactions: Vec<TransactionId>,
    },
    /// The order became fully paid.
    Paid,
    Fulfilled,
    /// The order was fulfilled and is no longer.
    Unfulfilled,
    Canceled {
        /// Refunded amounts by asset code.
        refunded: BTreeMap<String, Amount>,
        /// Their value in the order's asset.
        refund: Amount,
    },
    Refunded {
        /// Refunded amounts by asset code.
        amounts: BTreeMap<String, Amount>,
        /// Their value in the order's asset.
        refund: Amount,
        transactions: Vec<TransactionId>,
    },
}
