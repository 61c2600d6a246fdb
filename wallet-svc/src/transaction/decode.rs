//! New transactions from the wire. What is empty there was not given.

use proto::wallet::v1 as wire;

use super::{
    exchange::NewExchange,
    model::{Notes, TransactionType},
    new::NewTransaction,
};

/// Reads a deposit.
pub fn deposit(request: wire::CreateDepositRequest) -> NewTransaction {
    NewTransaction {
        kind: TransactionType::Deposit,
        amount: request.amount,
        asset_code: request.asset_code,
        code: request.code,
        origin: None,
        destination: given(request.destination_wallet_id),
        commit: request.commit,
        data: given(request.data),
        notes: Notes {
            description: request.description,
            origin_address: None,
            destination_address: request.destination_address,
            external_reference: request.external_reference,
            custom_data: request.custom_data,
        },
    }
}

/// Reads a transfer.
pub fn transfer(request: wire::CreateTransferRequest) -> NewTransaction {
    NewTransaction {
        kind: TransactionType::Transfer,
        amount: request.amount,
        asset_code: request.asset_code,
        code: request.code,
        origin: given(request.origin_wallet_id),
        destination: given(request.destination_wallet_id),
        commit: request.commit,
        data: None,
        notes: Notes {
            description: request.description,
            origin_address: request.origin_address,
            destination_address: request.destination_address,
            external_reference: request.external_reference,
            custom_data: request.custom_data,
        },
    }
}

/// Reads a withdrawal.
pub fn withdrawal(request: wire::CreateWithdrawalRequest) -> NewTransaction {
    NewTransaction {
        kind: TransactionType::Withdrawal,
        amount: request.amount,
        asset_code: request.asset_code,
        code: request.code,
        origin: given(request.origin_wallet_id),
        destination: None,
        commit: request.commit,
        data: None,
        notes: Notes {
            description: request.description,
            origin_address: request.origin_address,
            destination_address: None,
            external_reference: request.external_reference,
            custom_data: request.custom_data,
        },
    }
}

/// Reads a payment: a transfer whose code and destination the service gives.
pub fn payment(request: wire::CreatePaymentRequest) -> NewTransaction {
    NewTransaction {
        kind: TransactionType::Transfer,
        amount: request.amount,
        asset_code: request.asset_code,
        code: "internal".to_owned(),
        origin: given(request.origin_wallet_id),
        destination: None,
        commit: false,
        data: None,
        notes: Notes {
            description: request.description,
            custom_data: request.custom_data,
            ..Notes::default()
        },
    }
}

/// Reads an exchange.
pub fn exchange(request: wire::CreateExchangeRequest) -> NewExchange {
    NewExchange {
        wallet: request.wallet_id,
        base_asset_code: request.base_asset_code,
        quote_asset_code: request.quote_asset_code,
        base_amount: request.base_amount,
        notes: Notes {
            description: request.description,
            custom_data: request.custom_data,
            ..Notes::default()
        },
    }
}

fn given(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}
