//! Request bodies with defaults.

use prost_types::FieldMask;
use proto::{
    common::v1::{Filter, ListRequest, Operator, Sort},
    wallet::v1 as wire,
};

pub(crate) fn deposit(wallet: &str, amount: &str, asset: &str) -> wire::CreateDepositRequest {
    wire::CreateDepositRequest {
        amount: amount.to_owned(),
        asset_code: asset.to_owned(),
        code: "internal".to_owned(),
        data: "{}".to_owned(),
        destination_wallet_id: wallet.to_owned(),
        ..wire::CreateDepositRequest::default()
    }
}

/// A transfer of usd.
pub(crate) fn transfer(
    from: &str,
    to: &str,
    amount: &str,
    commit: bool,
) -> wire::CreateTransferRequest {
    wire::CreateTransferRequest {
        amount: amount.to_owned(),
        asset_code: "usd".to_owned(),
        code: "internal".to_owned(),
        origin_wallet_id: from.to_owned(),
        destination_wallet_id: to.to_owned(),
        commit,
        ..wire::CreateTransferRequest::default()
    }
}

/// A withdrawal of usd.
pub(crate) fn withdrawal(from: &str, amount: &str) -> wire::CreateWithdrawalRequest {
    wire::CreateWithdrawalRequest {
        amount: amount.to_owned(),
        asset_code: "usd".to_owned(),
        code: "bank:wire".to_owned(),
        origin_wallet_id: from.to_owned(),
        ..wire::CreateWithdrawalRequest::default()
    }
}

/// A payment of usd to the default wallet.
pub(crate) fn payment(from: &str, amount: &str) -> wire::CreatePaymentRequest {
    wire::CreatePaymentRequest {
        amount: amount.to_owned(),
        asset_code: "usd".to_owned(),
        origin_wallet_id: from.to_owned(),
        ..wire::CreatePaymentRequest::default()
    }
}

pub(crate) fn exchange(
    wallet: &str,
    base: &str,
    quote: &str,
    amount: &str,
) -> wire::CreateExchangeRequest {
    wire::CreateExchangeRequest {
        wallet_id: wallet.to_owned(),
        base_asset_code: base.to_owned(),
        quote_asset_code: quote.to_owned(),
        base_amount: amount.to_owned(),
        ..wire::CreateExchangeRequest::default()
    }
}

pub(crate) fn rate(base: &str, quote: &str, rate: &str) -> wire::CreateRateRequest {
    wire::CreateRateRequest {
        base_asset_code: base.to_owned(),
        quote_asset_code: quote.to_owned(),
        rate: rate.to_owned(),
        custom_data: None,
    }
}

/// The posting of an order's payment in usd.
pub(crate) fn posting(from: &str, to: &str, amount: &str) -> wire::Posting {
    wire::Posting {
        asset_code: "usd".to_owned(),
        amount: amount.to_owned(),
        origin_wallet_id: from.to_owned(),
        destination_wallet_id: to.to_owned(),
        code: "pay".to_owned(),
        metadata: r#"{"orderId":"o-1"}"#.to_owned(),
        ..wire::Posting::default()
    }
}

/// An operation of these postings.
pub(crate) fn operation(id: &str, postings: Vec<wire::Posting>) -> wire::PostRequest {
    wire::PostRequest {
        operation_id: id.to_owned(),
        postings,
        ..wire::PostRequest::default()
    }
}

pub(crate) fn mask(paths: &[&str]) -> FieldMask {
    FieldMask {
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
    }
}

/// A filter for one value.
pub(crate) fn filter(field: &str, operator: Operator, value: &str) -> Filter {
    Filter {
        field: field.to_owned(),
        operator: operator.into(),
        values: vec![value.to_owned()],
    }
}

/// A filter for equality.
pub(crate) fn equals(field: &str, value: &str) -> Filter {
    filter(field, Operator::Eq, value)
}

pub(crate) fn sort(field: &str, descending: bool) -> Sort {
    Sort {
        field: field.to_owned(),
        descending,
    }
}

/// A list request with these filters.
pub(crate) fn list(filters: Vec<Filter>) -> ListRequest {
    ListRequest {
        filters,
        ..ListRequest::default()
    }
}

/// A list request that embeds these relations.
pub(crate) fn including(names: &[&str]) -> ListRequest {
    ListRequest {
        include: names.iter().map(|name| (*name).to_owned()).collect(),
        ..ListRequest::default()
    }
}
