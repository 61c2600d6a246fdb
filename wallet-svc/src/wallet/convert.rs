//! Converts wallets and balances to and from messages.

use chrono::{DateTime, Utc};
use platform::{
    clock::to_proto,
    error::{Code, Failure},
    money::Amount,
};
use proto::wallet::v1 as wire;

use super::model::{Balance, NewWallet, UserId, Wallet, WalletPatch};
use crate::fields::{self, Fields};

pub(crate) fn wallet(wallet: &Wallet) -> wire::Wallet {
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

pub(crate) fn balance(balance: &Balance) -> wire::BalanceEntry {
    let available = balance.amount.sub(balance.held).unwrap_or(Amount::ZERO);
    wire::BalanceEntry {
        asset_code: balance.asset.to_string(),
        amount: balance.amount.to_string(),
        available_amount: available.to_string(),
        held_amount: balance.held.to_string(),
        incoming_amount: balance.incoming.to_string(),
    }
}

/// Reads the time of a past balance.
pub(crate) fn time(at: &prost_types::Timestamp) -> Result<DateTime<Utc>, Failure> {
    fields::time(at).map_err(|invalid| {
        let failure = Failure::new(Code::InvalidQuery, format!("at {}", invalid.message));
        failure.field("at", invalid.code, invalid.message)
    })
}

/// Reads the owner of wallets.
pub(crate) fn owner(id: &str) -> Result<UserId, Failure> {
    UserId::parse(id).map_err(|invalid| invalid.at("ownerId"))
}

/// Reads a new wallet.
pub(crate) fn new_wallet(request: wire::CreateWalletRequest) -> Result<NewWallet, Failure> {
    let mut fields = Fields::of_create();
    let name = fields.optional("name", request.name, fields::name_or_empty);
    let owner = fields.optional("owner_id", request.owner_id, |id| UserId::parse(&id));
    fields.finish()?;
    Ok(NewWallet {
        name,
        owner,
        locked: request.locked,
        custom_data: request.custom_data,
        // Services create primary wallets.
        owner_fixed: request.operation_id.is_some(),
        operation_id: request.operation_id,
    })
}

/// Reads an update of a wallet.
pub(crate) fn wallet_patch(request: wire::UpdateWalletRequest) -> Result<WalletPatch, Failure> {
    let mut fields = Fields::of_update(request.update_mask);
    let patch = WalletPatch {
        name: fields.changed("name", request.name, fields::name_or_empty),
        owner: fields.patched("owner_id", request.owner_id, |id| UserId::parse(&id)),
        fixes_owner: false,
        locked: fields.changed("locked", request.locked, Ok),
        custom_data: fields.changed("custom_data", request.custom_data, Ok),
    };
    fields.finish()?;
    Ok(patch)
}

#[cfg(test)]
mod tests {
    use chrono::Datelike as _;
    use platform::patch::Patch;
    use prost_types::{FieldMask, Timestamp};

    use super::*;
    use crate::asset::model::AssetCode;

    fn at(seconds: i64) -> Result<DateTime<Utc>, Failure> {
        time(&Timestamp { seconds, nanos: 0 })
    }

    #[test]
    fn times_have_years_of_four_digits() {
        assert_eq!(at(0).unwrap().to_rfc3339(), "1970-01-01T00:00:00+00:00");
        assert_eq!(at(-62_135_596_800).unwrap().year(), 1);
        assert_eq!(at(253_402_300_799).unwrap().year(), 9999);
        for seconds in [-62_135_596_801, 253_402_300_800, i64::MIN, i64::MAX] {
            let failure = at(seconds).unwrap_err();
            assert_eq!(failure.code, Code::InvalidQuery);
            assert_eq!(failure.detail, "at is not a time");
        }
    }

    #[test]
    fn held_money_is_not_available() {
        let entry = balance(&Balance {
            asset: AssetCode::stored("usd"),
            amount: "10".parse().unwrap(),
            held: "2.5".parse().unwrap(),
            incoming: "1".parse().unwrap(),
        });
        let expected = wire::BalanceEntry {
            asset_code: "usd".to_owned(),
            amount: "10.00000000".to_owned(),
            available_amount: "7.50000000".to_owned(),
            held_amount: "2.50000000".to_owned(),
            incoming_amount: "1.00000000".to_owned(),
        };
        assert_eq!(entry, expected);
    }

    #[test]
    fn an_owner_can_be_removed_and_other_fields_cannot() {
        let update = |paths: &[&str]| wire::UpdateWalletRequest {
            update_mask: Some(FieldMask {
                paths: paths.iter().map(|path| (*path).to_owned()).collect(),
            }),
            ..wire::UpdateWalletRequest::default()
        };
        let patch = wallet_patch(update(&["owner_id"])).unwrap();
        assert_eq!(patch.owner, Patch::Null);
        let failure = wallet_patch(update(&["name", "locked", "custom_data"])).unwrap_err();
        let fields: Vec<_> = failure.fields.iter().map(|field| &*field.field).collect();
        assert_eq!(fields, ["name", "locked", "customData"]);
        assert!(wallet_patch(update(&[])).unwrap().owner.is_absent());
    }
}
