//! The resource that is recorded under a posting's idempotency key.

use platform::idempotency::{self, Reply};
use proto::wallet::v1 as wire;

use super::PostingOutcome;
use crate::transaction::{convert, model::Transaction};

/// The transactions of a posting.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct TransactionList {
    /// In the order of the command.
    #[prost(message, repeated, tag = "1")]
    pub transactions: Vec<wire::Transaction>,
}

impl TransactionList {
    /// Encodes transactions.
    pub(crate) fn of(transactions: &[Transaction]) -> Self {
        let transactions = transactions.iter().map(convert::transaction).collect();
        Self { transactions }
    }
}

impl PostingOutcome {
    /// Returns the transactions, decoded from the record if they are a replay.
    pub(crate) fn into_reply(self) -> Result<Reply<TransactionList>, idempotency::Error> {
        match self {
            Self::Committed { transactions, .. } => {
                Ok(Reply::fresh(TransactionList::of(&transactions)))
            }
            Self::Replayed(record) => Reply::replay(&record),
        }
    }
}
