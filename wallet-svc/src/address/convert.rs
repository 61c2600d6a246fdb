//! Converts addresses to and from messages.

use platform::{
    clock::to_proto,
    error::{Failure, FieldCode, Violations},
};
use proto::wallet::v1 as wire;

use super::model::{Address, NewAddress, Source, check_address};
use crate::{asset::model::AssetCode, fields, wallet::model::WalletId};

/// The provider that derives addresses from an extended public key.
const HD: &str = "hd";

pub(crate) fn address(address: &Address) -> wire::Address {
    wire::Address {
        address: address.text.clone(),
        asset_code: address.asset.as_ref().map(ToString::to_string),
        wallet_id: address.wallet.map(String::from),
        custom_data: address.custom_data.clone(),
        metadata: address.metadata.clone(),
        created_at: Some(to_proto(address.created_at)),
        // An address never changes.
        updated_at: Some(to_proto(address.created_at)),
    }
}

/// Reads a new address; `asset` is the one that the request's code names.
pub(crate) fn new_address(
    request: wire::CreateAddressRequest,
    asset: Option<AssetCode>,
) -> Result<NewAddress, Failure> {
    let mut violations = Violations::default();
    let names_asset = request.asset_code.is_some();
    if names_asset {
        violations.value("assetCode", fields::existing_asset(asset.as_ref()));
    }
    let source = source(
        &mut violations,
        request.address,
        request.provider,
        names_asset,
    );
    let wallet = request.wallet_id.as_deref().map(WalletId::parse);
    let wallet = wallet.and_then(|wallet| violations.value("walletId", wallet));
    let custom_data = request.custom_data.unwrap_or_else(fields::empty_object);
    let custom_data = violations.value("customData", fields::object(custom_data));
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
            violations.check("provider", provider == HD, FieldCode::Enum, "must be `hd`");
            let message = "is required with a provider";
            violations.check("assetCode", names_asset, FieldCode::Required, message);
            Some(Source::Derived)
        }
        (None, None) => {
            violations.add(
                "address",
                FieldCode::Required,
                "is required without a provider",
            );
            None
        }
        (Some(_), Some(_)) => {
            violations.add(
                "provider",
                FieldCode::Duplicate,
                "must not be given with an address",
            );
            None
        }
    }
}
