//! Wallets and balances on the wire.

use chrono::{DateTime, Datelike as _, Utc};
use platform::{
    clock::{from_proto, to_proto},
    error::{Code, Failure, FieldCode, Violations},
    money::Amount,
    patch::Patch,
};
use proto::wallet::v1 as wire;

use super::model::{Balance, NewWallet, UserId, Wallet, WalletPatch};

const LONGEST_NAME: usize = 255;

/// As the wire has it.
pub fn wallet(wallet: &Wallet) -> wire::Wallet {
    wire::Wallet {
        id: wallet.id.to_string(),
        name: wallet.name.clone(),
        description: wallet.description.clone(),
        owner_id: wallet.owner.map(String::from),
        locked: wallet.locked,
        reference: wallet.reference.clone(),
        custom_data: wallet.custom_data.clone(),
        metadata: wallet.metadata.clone(),
        created_at: Some(to_proto(wallet.created_at)),
        updated_at: Some(to_proto(wallet.updated_at)),
    }
}

/// As the wire has it.
pub fn balance(balance: &Balance) -> wire::BalanceEntry {
    let available = balance.amount.sub(balance.held).unwrap_or(Amount::ZERO);
    wire::BalanceEntry {
        asset_code: balance.asset.to_string(),
        amount: balance.amount.to_string(),
        available_amount: available.to_string(),
        held_amount: balance.held.to_string(),
        incoming_amount: balance.incoming.to_string(),
    }
}

/// Reads the moment of a balance.
pub fn moment(at: &prost_types::Timestamp) -> Result<DateTime<Utc>, Failure> {
    // RFC 3339 knows these years only, and so does Postgres.
    let known = from_proto(at).filter(|at| (1..=9999).contains(&at.year()));
    known.ok_or_else(|| {
        let message = "is not a moment";
        Failure::new(Code::InvalidQuery, format!("at {message}")).field(
            "at",
            FieldCode::Range,
            message,
        )
    })
}

/// Reads what a new wallet starts with.
pub fn new_wallet(request: wire::CreateWalletRequest) -> Result<NewWallet, Failure> {
    let mut violations = Violations::default();
    check_name(&mut violations, request.name.as_deref());
    let owner = request.owner_id.as_deref().map(UserId::parse);
    let owner = owner.and_then(|owner| violations.value("ownerId", owner));
    violations.finish()?;
    Ok(NewWallet {
        name: request.name,
        owner,
        locked: request.locked,
        custom_data: request.custom_data,
        operation_id: request.operation_id,
    })
}

/// Reads a change of a wallet.
pub fn wallet_patch(request: wire::UpdateWalletRequest) -> Result<WalletPatch, Failure> {
    let mask = request.update_mask.unwrap_or_default().paths;
    let mut violations = Violations::default();
    let owner = Patch::from_wire("owner_id", request.owner_id, &mask);
    let owner = match owner.try_map(|id| UserId::parse(&id)) {
        Ok(owner) => owner,
        Err(invalid) => {
            violations.add("ownerId", invalid.code, invalid.message);
            Patch::Absent
        }
    };
    let patch = WalletPatch {
        name: not_null(
            &mut violations,
            "name",
            Patch::from_wire("name", request.name, &mask),
        ),
        owner,
        locked: not_null(
            &mut violations,
            "locked",
            Patch::from_wire("locked", request.locked, &mask),
        ),
        custom_data: not_null(
            &mut violations,
            "customData",
            Patch::from_wire("custom_data", request.custom_data, &mask),
        ),
    };
    check_name(&mut violations, patch.name.as_deref());
    violations.finish()?;
    Ok(patch)
}

fn not_null<T>(violations: &mut Violations, field: &str, patch: Patch<T>) -> Option<T> {
    violations.check(
        field,
        !matches!(patch, Patch::Null),
        FieldCode::Type,
        "must not be null",
    );
    patch.or(None)
}

fn check_name(violations: &mut Violations, name: Option<&str>) {
    violations.check(
        "name",
        name.is_none_or(|name| name.chars().count() <= LONGEST_NAME),
        FieldCode::Length,
        "has more than 255 characters",
    );
}
