//! A new transaction as its creator writes it, and what must hold of it by itself. Pure: what
//! depends on wallets, assets and balances is decided by the ledger.

use platform::{
    error::{Failure, FieldCode, InvalidValue, Violations},
    money::Amount,
};

use super::{
    code::{allows_commit, check_code},
    metadata::Metadata,
    model::{Notes, Sides, Status, TransactionId, TransactionType},
    payload::check_data,
};
use crate::{
    asset::directory::KnownAsset,
    ledger::Create,
    payment_method::model::PaymentMethods,
    wallet::model::{EXTERNAL, UserId, WalletId},
};

const LONGEST_DESCRIPTION: usize = 1_000;
const LONGEST_TEXT: usize = 2_048;
const LONGEST_REASON: usize = 1_024;

/// A new transaction as written.
#[derive(Debug, Clone)]
pub struct NewTransaction {
    /// Where the money goes.
    pub kind: TransactionType,
    /// Decimal.
    pub amount: String,
    /// In any case.
    pub asset_code: String,
    /// `<feature>` or `<feature>:<method>`.
    pub code: String,
    /// Needed unless it is a deposit.
    pub origin: Option<String>,
    /// Needed unless it is a withdrawal.
    pub destination: Option<String>,
    /// Skips `pending`.
    pub commit: bool,
    /// JSON object; needed by deposits.
    pub data: Option<String>,
    /// What its creator says of it.
    pub notes: Notes,
}

impl NewTransaction {
    /// The command that makes it, or everything that is wrong with it.
    pub fn check(
        self,
        id: TransactionId,
        asset: Option<KnownAsset>,
        owner: Option<UserId>,
        methods: &PaymentMethods,
    ) -> Result<Create, Failure> {
        let mut violations = Violations::default();
        let amount = violations.value("amount", positive(&self.amount));
        let exists = asset.is_some();
        violations.check(
            "assetCode",
            exists,
            FieldCode::UnknownReference,
            "there is no such asset",
        );
        let code = check_code(self.kind, &self.code, asset.as_ref(), methods);
        violations.value("code", code);
        let commits =
            !self.commit || self.kind == TransactionType::Transfer || allows_commit(&self.code);
        violations.check(
            "commit",
            commits,
            FieldCode::Enum,
            "only allowed with the features crypto, bank and internal",
        );
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
        let mut wallet = |field: &str, written: &Option<String>| {
            let id = written.as_deref().map_or_else(required, WalletId::parse);
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
        asset: KnownAsset,
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

/// Reads an amount above zero.
pub fn positive(text: &str) -> Result<Amount, InvalidValue> {
    let amount = Amount::parse(text)?;
    if amount.is_positive() {
        Ok(amount)
    } else {
        Err(InvalidValue::new(FieldCode::Range, "must be more than 0"))
    }
}

/// Checks why a transaction failed or was rejected: any JSON, of at most 1 KiB.
pub fn check_reason(reason: Option<&str>) -> Result<(), Failure> {
    match reason {
        Some(reason) if reason.len() > LONGEST_REASON => Err(Failure::invalid(
            "reason",
            FieldCode::Length,
            "has more than 1 KiB",
        )),
        Some(reason) if serde_json::from_str::<serde::de::IgnoredAny>(reason).is_err() => {
            Err(Failure::invalid("reason", FieldCode::Type, "is not JSON"))
        }
        _ => Ok(()),
    }
}

/// Checks the texts of a transaction.
pub(super) fn check_notes(violations: &mut Violations, notes: &Notes) {
    for (field, text, longest) in [
        ("description", &notes.description, LONGEST_DESCRIPTION),
        ("originAddress", &notes.origin_address, LONGEST_TEXT),
        (
            "destinationAddress",
            &notes.destination_address,
            LONGEST_TEXT,
        ),
        ("externalReference", &notes.external_reference, LONGEST_TEXT),
    ] {
        let length = text.as_deref().map_or(0, |text| text.chars().count());
        let message = format!("has more than {longest} characters");
        violations.check(field, length <= longest, FieldCode::Length, &message);
    }
}

fn required<T>() -> Result<T, InvalidValue> {
    Err(InvalidValue::new(FieldCode::Required, "is required"))
}
