//! Converts the results of operations to messages.

use platform::error::Failure;
use proto::wallet::v1 as wire;
use wire::post_result::Result as Outcome;

use crate::{error::Error, posting::TransactionList};

/// Converts the result of an operation of several.
pub(super) fn result(result: Result<TransactionList, Error>) -> wire::PostResult {
    let outcome = match result {
        Ok(TransactionList { transactions }) => {
            Outcome::Posted(wire::PostResponse { transactions })
        }
        Err(error) => Outcome::Error(Failure::from(error).into_item_status()),
    };
    wire::PostResult {
        result: Some(outcome),
    }
}
