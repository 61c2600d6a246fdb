//! Checks a new transaction by itself. Pure: the ledger checks what depends on wallets, assets and
//! balances.

use platform::{
    error::{Failure, FieldCode, Violations},
    money::Amount,
};

use super::{
    code::{allows_commit, check_code},
    metadata::Metadata,
    model::{Notes, Sides, Status, TransactionId, TransactionType},
    payload::check_data,
};
use crate::{
    asset::directory::ResolvedAsset,
    fields::{self, check_length, required},
    ledger::Create,
    payment_method::model::PaymentMethods,
    wallet::model::{EXTERNAL, UserId, WalletId},
};

const MAX_DESCRIPTION: usize = 1_000;
const MAX_TEXT: usize = 2_048;
const MAX_REASON_BYTES: usize = 1_024;

/// A new transaction as the request has it.
#[derive(Debug, Clone)]
pub(crate) struct NewTransaction {
    pub(crate) kind: TransactionType,
    pub(crate) amount: String,
    /// In any case.
    pub(crate) asset_code: String,
    /// `<feature>` or `<feature>:<method>`.
    pub(crate) code: String,
    /// Required except for deposits.
    pub(crate) origin: Option<String>,
    /// Required except for withdrawals.
    pub(crate) destination: Option<String>,
    /// Skips `pending`.
    pub(crate) commit: bool,
    /// JSON object; required for deposits.
    pub(crate) data: Option<String>,
    pub(crate) notes: Notes,
}

impl NewTransaction {
    /// Returns the ledger's command, or everything that is wrong with the request. With an `owner`, the
    /// wallet debited must be theirs.
    pub(crate) fn check(
        self,
        id: TransactionId,
        asset: Option<ResolvedAsset>,
        owner: Option<UserId>,
        methods: &PaymentMethods,
    ) -> Result<Create, Failure> {
        let mut violations = Violations::default();
        let amount = violations.value("amount", Amount::parse_positive(&self.amount));
        let asset = violations.value("assetCode", fields::existing_asset(asset));
        let code = check_code(self.kind, &self.code, asset.as_ref(), methods);
        violations.value("code", code);
        let commits =
            !self.commit || self.kind == TransactionType::Transfer || allows_commit(&self.code);
        let message = "only allowed with the features crypto, bank and internal";
        violations.check("commit", commits, FieldCode::Enum, message);
        let sides = self.sides(&mut violations);
        if self.kind == TransactionType::Deposit {
            let data = self.data.as_deref().map_or_else(required, check_data);
            violations.value("data", data);
        }
        check_notes(&mut violations, &self.notes);
        match (amount, asset, sides) {
            (Some(amount), Some(asset), Some(sides)) if violations.is_empty() => {
                Ok(self.create(id, amount, asset, sides, owner))
            }
            _ => Err(violations.into_failure()),
        }
    }

    fn sides(&self, violations: &mut Violations) -> Option<Sides> {
        let mut wallet = |field: &str, id: &Option<String>| {
            let id = id.as_deref().map_or_else(required, WalletId::parse);
            violations.value(field, id)
        };
        let (debit, credit) = match self.kind {
            TransactionType::Deposit => (
                Some(EXTERNAL),
                wallet("destinationWalletId", &self.destination),
            ),
            TransactionType::Transfer | TransactionType::Exchange => (
                wallet("originWalletId", &self.origin),
                wallet("destinationWalletId", &self.destination),
            ),
            TransactionType::Withdrawal => (wallet("originWalletId", &self.origin), Some(EXTERNAL)),
        };
        Some(Sides {
            debit: debit?,
            credit: credit?,
        })
    }

    fn create(
        self,
        id: TransactionId,
        amount: Amount,
        asset: ResolvedAsset,
        sides: Sides,
        owner: Option<UserId>,
    ) -> Create {
        let status = match (self.commit, self.kind) {
            (false, _) => Status::Pending,
            (true, TransactionType::Transfer) => Status::Confirmed,
            (true, _) => Status::Processing,
        };
        let metadata = match &self.data {
            Some(data) => Metadata::default().with_raw("data", data),
            None => Metadata::default(),
        };
        Create {
            id,
            kind: self.kind,
            code: self.code,
            asset: asset.code,
            amount,
            sides,
            status,
            notes: self.notes,
            metadata,
            owner,
        }
    }
}

/// Checks the reason of a failed or rejected transaction: any JSON of at most 1 KiB.
pub(crate) fn check_reason(reason: Option<&str>) -> Result<(), Failure> {
    match reason {
        Some(reason) if reason.len() > MAX_REASON_BYTES => Err(Failure::invalid(
            "reason",
            FieldCode::Length,
            "must have at most 1 KiB",
        )),
        Some(reason) if serde_json::from_str::<serde::de::IgnoredAny>(reason).is_err() => {
            Err(Failure::invalid("reason", FieldCode::Type, "must be JSON"))
        }
        _ => Ok(()),
    }
}

/// Checks the lengths of a transaction's texts.
pub(super) fn check_notes(violations: &mut Violations, notes: &Notes) {
    for (field, text, max) in [
        ("description", &notes.description, MAX_DESCRIPTION),
        ("originAddress", &notes.origin_address, MAX_TEXT),
        ("destinationAddress", &notes.destination_address, MAX_TEXT),
        ("externalReference", &notes.external_reference, MAX_TEXT),
    ] {
        check_length(violations, field, text.as_ref(), max);
    }
}

#[cfg(test)]
mod tests;
