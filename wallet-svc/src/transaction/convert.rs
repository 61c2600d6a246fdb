//! Converts transactions to and from messages. An empty text of a request counts as not given.

use platform::{
    clock::to_proto,
    error::{Failure, FieldCode},
};
use proto::wallet::v1 as wire;

use super::{
    exchange::NewExchange,
    model::{Change, Notes, Status, Transaction, TransactionType},
    new::NewTransaction,
    sending::{BY_EMAIL, Sending},
};

pub(crate) fn transaction(tx: &Transaction) -> wire::Transaction {
    let custom_data = tx.notes.custom_data.clone();
    wire::Transaction {
        id: tx.id.to_string(),
        r#type: encode_type(tx.kind).into(),
        code: tx.code.clone(),
        status: encode_status(tx.status).into(),
        asset_code: tx.asset.to_string(),
        amount: tx.amount.to_string(),
        description: tx.notes.description.clone(),
        origin_wallet_id: tx.origin().map(String::from),
        destination_wallet_id: tx.destination().map(String::from),
        origin_address: tx.notes.origin_address.clone(),
        destination_address: tx.notes.destination_address.clone(),
        external_id: tx.external_id.clone(),
        external_reference: tx.notes.external_reference.clone(),
        reference: tx.reference.clone(),
        custom_data: custom_data.unwrap_or_else(|| "{}".to_owned()),
        metadata: tx.metadata.as_str().to_owned(),
        processed_at: tx.processed_at.map(to_proto),
        created_at: Some(to_proto(tx.created_at)),
        updated_at: Some(to_proto(tx.updated_at)),
    }
}

pub(crate) fn change(change: &Change) -> wire::TransactionChange {
    wire::TransactionChange {
        from: change.from.map(|from| encode_status(from).into()),
        to: encode_status(change.to).into(),
        actor: change.actor.clone(),
        created_at: Some(to_proto(change.created_at)),
    }
}

const fn encode_type(kind: TransactionType) -> wire::TransactionType {
    match kind {
        TransactionType::Deposit => wire::TransactionType::Deposit,
        TransactionType::Transfer => wire::TransactionType::Transfer,
        TransactionType::Withdrawal => wire::TransactionType::Withdrawal,
        TransactionType::Exchange => wire::TransactionType::Exchange,
    }
}

const fn encode_status(status: Status) -> wire::TransactionStatus {
    match status {
        Status::Pending => wire::TransactionStatus::Pending,
        Status::Processing => wire::TransactionStatus::Processing,
        Status::Confirmed => wire::TransactionStatus::Confirmed,
        Status::Failed => wire::TransactionStatus::Failed,
        Status::Rejected => wire::TransactionStatus::Rejected,
    }
}

/// Reads a new deposit.
pub(crate) fn deposit(request: wire::CreateDepositRequest) -> NewTransaction {
    NewTransaction {
        kind: TransactionType::Deposit,
        amount: request.amount,
        asset_code: request.asset_code,
        code: request.code,
        origin: None,
        destination: non_empty(request.destination_wallet_id),
        commit: request.commit,
        data: non_empty(request.data),
        notes: Notes {
            description: request.description,
            origin_address: None,
            destination_address: request.destination_address,
            external_reference: request.external_reference,
            custom_data: request.custom_data,
        },
    }
}

/// Reads a new transfer.
pub(crate) fn transfer(request: wire::CreateTransferRequest) -> NewTransaction {
    NewTransaction {
        kind: TransactionType::Transfer,
        amount: request.amount,
        asset_code: request.asset_code,
        code: request.code,
        origin: non_empty(request.origin_wallet_id),
        destination: non_empty(request.destination_wallet_id),
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

/// Reads a new withdrawal.
pub(crate) fn withdrawal(request: wire::CreateWithdrawalRequest) -> NewTransaction {
    NewTransaction {
        kind: TransactionType::Withdrawal,
        amount: request.amount,
        asset_code: request.asset_code,
        code: request.code,
        origin: non_empty(request.origin_wallet_id),
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

/// Reads a payment: a transfer to the default wallet, which the service sets.
pub(crate) fn payment(request: wire::CreatePaymentRequest) -> NewTransaction {
    NewTransaction {
        kind: TransactionType::Transfer,
        amount: request.amount,
        asset_code: request.asset_code,
        code: "internal".to_owned(),
        origin: non_empty(request.origin_wallet_id),
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

/// Reads what is sent, to a wallet or to the user with an email.
pub(crate) fn sending(request: wire::SendMoneyRequest) -> Result<Sending, Failure> {
    let destination = request.destination_wallet_id.and_then(non_empty);
    let email = request.destination_email.and_then(non_empty);
    if destination.is_some() && email.is_some() {
        let message = "must be absent next to destinationWalletId";
        return Err(Failure::invalid(BY_EMAIL, FieldCode::Format, message));
    }
    let new = NewTransaction {
        kind: TransactionType::Transfer,
        amount: request.amount,
        asset_code: request.asset_code,
        code: "internal".to_owned(),
        origin: non_empty(request.origin_wallet_id),
        destination,
        commit: true,
        data: None,
        notes: Notes {
            description: request.description,
            custom_data: request.custom_data,
            ..Notes::default()
        },
    };
    Ok(Sending { new, email })
}

/// Reads a new exchange.
pub(crate) fn exchange(request: wire::CreateExchangeRequest) -> NewExchange {
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

fn non_empty(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_and_status_has_its_number() {
        for (kind, number) in [
            (TransactionType::Deposit, wire::TransactionType::Deposit),
            (TransactionType::Transfer, wire::TransactionType::Transfer),
            (
                TransactionType::Withdrawal,
                wire::TransactionType::Withdrawal,
            ),
            (TransactionType::Exchange, wire::TransactionType::Exchange),
        ] {
            assert_eq!(encode_type(kind), number);
            let name = number.as_str_name().to_lowercase();
            assert_eq!(name, format!("transaction_type_{}", kind.as_str()));
        }
        for (status, number) in [
            (Status::Pending, wire::TransactionStatus::Pending),
            (Status::Processing, wire::TransactionStatus::Processing),
            (Status::Confirmed, wire::TransactionStatus::Confirmed),
            (Status::Failed, wire::TransactionStatus::Failed),
            (Status::Rejected, wire::TransactionStatus::Rejected),
        ] {
            assert_eq!(encode_status(status), number);
            let name = number.as_str_name().to_lowercase();
            assert_eq!(name, format!("transaction_status_{}", status.as_str()));
        }
    }

    #[test]
    fn empty_texts_count_as_not_given() {
        let new = deposit(wire::CreateDepositRequest::default());
        assert_eq!((new.origin, new.destination, new.data), (None, None, None));
        let new = transfer(wire::CreateTransferRequest::default());
        assert_eq!((new.origin, new.destination), (None, None));
        let new = withdrawal(wire::CreateWithdrawalRequest {
            origin_wallet_id: "w".to_owned(),
            ..wire::CreateWithdrawalRequest::default()
        });
        assert_eq!((new.origin.as_deref(), new.destination), (Some("w"), None));
    }

    #[test]
    fn a_payment_is_a_pending_transfer_until_the_service_completes_it() {
        let new = payment(wire::CreatePaymentRequest {
            amount: "1".to_owned(),
            description: Some("coffee".to_owned()),
            ..wire::CreatePaymentRequest::default()
        });
        assert_eq!(new.kind, TransactionType::Transfer);
        assert_eq!((&*new.code, new.commit), ("internal", false));
        assert_eq!(new.notes.description.as_deref(), Some("coffee"));
    }
}
