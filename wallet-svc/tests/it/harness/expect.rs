//! What tests compare responses with: balances and rejections, with named fields.

use std::fmt::Debug;

use platform::error::{Code, Failure};
use proto::wallet::v1::BalanceEntry;
use tonic::{Response, Status};

use super::result;

/// A wallet's balance in one asset; amounts without trailing zeros.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Balance {
    asset: String,
    amount: String,
    available: String,
    held: String,
    incoming: String,
}

/// Returns a balance without open transactions, so that all of it is available.
pub(crate) fn balance(asset: &str, amount: &str) -> Balance {
    Balance {
        asset: asset.to_owned(),
        amount: amount.to_owned(),
        available: amount.to_owned(),
        held: "0".to_owned(),
        incoming: "0".to_owned(),
    }
}

/// Returns a balance in usd without open transactions.
pub(crate) fn usd(amount: &str) -> Balance {
    balance("usd", amount)
}

impl Balance {
    pub(crate) fn available(mut self, amount: &str) -> Self {
        amount.clone_into(&mut self.available);
        self
    }

    pub(crate) fn held(mut self, amount: &str) -> Self {
        amount.clone_into(&mut self.held);
        self
    }

    pub(crate) fn incoming(mut self, amount: &str) -> Self {
        amount.clone_into(&mut self.incoming);
        self
    }
}

impl From<BalanceEntry> for Balance {
    fn from(entry: BalanceEntry) -> Self {
        Self {
            asset: entry.asset_code,
            amount: short(&entry.amount),
            available: short(&entry.available_amount),
            held: short(&entry.held_amount),
            incoming: short(&entry.incoming_amount),
        }
    }
}

/// `10.50000000` as `10.5`; every amount of the service has decimals.
fn short(amount: &str) -> String {
    let amount = amount.trim_end_matches('0').trim_end_matches('.');
    if amount.is_empty() { "0" } else { amount }.to_owned()
}

/// The public part of a failed call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rejection {
    pub(crate) code: Code,
    /// The names of the fields that it is about.
    pub(crate) fields: Vec<String>,
}

impl Rejection {
    pub(crate) fn new(code: Code, fields: &[&str]) -> Self {
        Self {
            code,
            fields: fields.iter().map(|field| (*field).to_owned()).collect(),
        }
    }
}

/// Returns the rejection of a request with these invalid fields.
pub(crate) fn invalid(fields: &[&str]) -> Rejection {
    Rejection::new(Code::ValidationFailed, fields)
}

/// Returns why a call failed, from its response.
pub(crate) fn failed<T: Debug>(response: Result<Response<T>, Status>) -> Rejection {
    rejection(result(response))
}

/// Returns why a call failed, and fails the test if it did not.
pub(crate) fn rejection<T: Debug>(result: Result<T, Failure>) -> Rejection {
    let failure = result.unwrap_err();
    let fields = failure.fields.into_iter().map(|field| field.field);
    Rejection {
        code: failure.code,
        fields: fields.collect(),
    }
}
