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

#[cfg(test)]
mod tests {
    use super::*;

    const WALLET: &str = "01920000-0000-7000-8000-00000000000a";

    fn given() -> wire::CreateAddressRequest {
        wire::CreateAddressRequest {
            address: Some("bc1q".to_owned()),
            ..wire::CreateAddressRequest::default()
        }
    }

    fn derived() -> wire::CreateAddressRequest {
        wire::CreateAddressRequest {
            provider: Some("hd".to_owned()),
            asset_code: Some("BTC".to_owned()),
            ..wire::CreateAddressRequest::default()
        }
    }

    fn btc() -> AssetCode {
        AssetCode::stored("btc")
    }

    fn fields(result: Result<NewAddress, Failure>) -> Vec<(String, FieldCode)> {
        let fields = result.unwrap_err().fields.into_iter();
        fields.map(|field| (field.field, field.code)).collect()
    }

    #[test]
    fn an_address_is_given_or_derived() {
        let request = wire::CreateAddressRequest {
            wallet_id: Some(WALLET.to_owned()),
            custom_data: Some(r#"{"n":1.10}"#.to_owned()),
            ..given()
        };
        let new = new_address(request, None).unwrap();
        assert_eq!(new.source, Source::Given("bc1q".to_owned()));
        assert_eq!(new.wallet, WalletId::parse(WALLET).ok());
        assert_eq!((new.asset, &*new.custom_data), (None, r#"{"n":1.10}"#));
        let new = new_address(derived(), Some(btc())).unwrap();
        assert_eq!(new.source, Source::Derived);
        assert_eq!((new.asset, &*new.custom_data), (Some(btc()), "{}"));
    }

    #[test]
    fn an_address_and_a_provider_exclude_each_other() {
        let both = wire::CreateAddressRequest {
            address: Some("bc1q".to_owned()),
            ..derived()
        };
        let expected = [("provider".to_owned(), FieldCode::Duplicate)];
        assert_eq!(fields(new_address(both, Some(btc()))), expected);
        let neither = wire::CreateAddressRequest::default();
        let expected = [("address".to_owned(), FieldCode::Required)];
        assert_eq!(fields(new_address(neither, None)), expected);
    }

    #[test]
    fn a_provider_must_be_known_and_needs_an_asset() {
        let other = wire::CreateAddressRequest {
            provider: Some("coinbase".to_owned()),
            asset_code: None,
            ..derived()
        };
        let expected = [
            ("provider".to_owned(), FieldCode::Enum),
            ("assetCode".to_owned(), FieldCode::Required),
        ];
        assert_eq!(fields(new_address(other, None)), expected);
        let expected = [("assetCode".to_owned(), FieldCode::UnknownReference)];
        assert_eq!(fields(new_address(derived(), None)), expected);
    }
}
