//! Addresses on the wire.

use platform::{
    clock::to_proto,
    error::{Failure, FieldCode, InvalidValue, Violations},
};
use proto::wallet::v1 as wire;

use super::model::{Address, NewAddress, Source, check_address};
use crate::{asset::model::AssetCode, text, wallet::model::WalletId};

/// The provider whose addresses are derived.
const HD: &str = "hd";

/// As the wire has it.
pub fn address(address: &Address) -> wire::Address {
    wire::Address {
        address: address.address.clone(),
        asset_code: address.asset.as_ref().map(ToString::to_string),
        wallet_id: address.wallet.map(String::from),
        custom_data: address.custom_data.clone(),
        metadata: address.metadata.clone(),
        created_at: Some(to_proto(address.created_at)),
        // Nothing of an address changes.
        updated_at: Some(to_proto(address.created_at)),
    }
}

/// Reads what a new address starts with; `asset` is the one that its code names.
pub fn new_address(
    request: wire::CreateAddressRequest,
    asset: Option<AssetCode>,
) -> Result<NewAddress, Failure> {
    let mut violations = Violations::default();
    let named = request.asset_code.is_some();
    violations.check(
        "assetCode",
        asset.is_some() || !named,
        FieldCode::UnknownReference,
        "there is no such asset",
    );
    let source = source(&mut violations, request.address, request.provider, named);
    let wallet = request.wallet_id.as_deref().map(WalletId::parse);
    let wallet = wallet.and_then(|wallet| violations.value("walletId", wallet));
    let custom_data = request.custom_data.unwrap_or_else(text::empty_object);
    let custom_data = violations.value("customData", text::object(custom_data));
    match (source, custom_data) {
        (Some(source), Some(custom_data)) if violations.is_empty() => Ok(NewAddress {
            source,
            asset,
            wallet,
            custom_data,
        }),
        _ => Err(violations.into_failure()),
    }
}

fn source(
    violations: &mut Violations,
    address: Option<String>,
    provider: Option<String>,
    names_asset: bool,
) -> Option<Source> {
    match (address, provider) {
        (Some(address), None) => {
            violations.value("address", check_address(&address))?;
            Some(Source::Given(address))
        }
        (None, Some(provider)) => {
            let known = provider == HD;
            violations.check("provider", known, FieldCode::Enum, "must be `hd`");
            let message = "is required with a provider";
            violations.check("assetCode", names_asset, FieldCode::Required, message);
            Some(Source::Derived)
        }
        (None, None) => {
            let message = "is required without a provider";
            violations.value("address", required(message))
        }
        (Some(_), Some(_)) => {
            let message = "goes without an address";
            let both = InvalidValue::new(FieldCode::Duplicate, message);
            violations.value("provider", Err(both))
        }
    }
}

fn required<T>(message: &str) -> Result<T, InvalidValue> {
    Err(InvalidValue::new(FieldCode::Required, message))
}
