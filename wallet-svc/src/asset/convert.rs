//! Converts assets to and from messages.

use platform::{
    clock::to_proto,
    error::{Failure, FieldCode, InvalidValue},
    money::DecimalPlaces,
    text::bounded,
};
use proto::wallet::v1 as wire;

use super::model::{Asset, AssetCode, AssetPatch, AssetType, NewAsset};
use crate::fields::{self, CHECKED, Fields};

const MAX_SYMBOL: usize = 16;
const MAX_LOGO: usize = 2_048;

pub(crate) fn asset(asset: &Asset) -> wire::Asset {
    wire::Asset {
        code: asset.code.to_string(),
        name: asset.name.clone(),
        symbol: asset.symbol.clone(),
        r#type: encode_type(asset.kind).into(),
        decimal_places: asset.decimal_places.get().into(),
        enabled: asset.enabled,
        system: asset.system,
        logo: asset.logo.clone(),
        contract: asset.contract.clone(),
        custom_data: asset.custom_data.clone(),
        metadata: asset.metadata.clone(),
        created_at: Some(to_proto(asset.created_at)),
        updated_at: Some(to_proto(asset.updated_at)),
        version: asset.version,
    }
}

/// Reads a new asset.
pub(crate) fn new_asset(request: wire::CreateAssetRequest) -> Result<NewAsset, Failure> {
    let mut fields = Fields::of_create();
    let code = fields.required("code", request.code, |code| AssetCode::parse(&code));
    let name = fields.required("name", request.name, fields::name);
    let symbol = fields.optional("symbol", request.symbol, symbol);
    let number = Some(request.r#type).filter(|number| *number != 0);
    let kind = fields.optional("type", number, decode_type);
    let decimal_places = fields.optional("decimal_places", request.decimal_places, places);
    let logo = fields.optional("logo", request.logo, logo);
    let contract = fields.optional("contract", request.contract, fields::object);
    let custom_data = fields.optional("custom_data", request.custom_data, fields::object);
    fields.finish()?;
    Ok(NewAsset {
        code: code.expect(CHECKED),
        name: name.expect(CHECKED),
        symbol,
        kind: kind.unwrap_or(AssetType::Custom),
        decimal_places: decimal_places.unwrap_or(DecimalPlaces::MAX),
        enabled: request.enabled.unwrap_or(true),
        logo,
        contract: contract.unwrap_or_else(fields::empty_object),
        custom_data: custom_data.unwrap_or_else(fields::empty_object),
    })
}

/// Reads an update of an asset.
pub(crate) fn asset_patch(request: wire::UpdateAssetRequest) -> Result<AssetPatch, Failure> {
    let mut fields = Fields::of_update(request.update_mask);
    let patch = AssetPatch {
        name: fields.changed("name", request.name, fields::name),
        symbol: fields.patched("symbol", request.symbol, symbol),
        kind: fields.changed("type", request.r#type, decode_type),
        decimal_places: fields.changed("decimal_places", request.decimal_places, places),
        enabled: fields.changed("enabled", request.enabled, Ok),
        logo: fields.patched("logo", request.logo, logo),
        contract: fields.changed("contract", request.contract, fields::object),
        custom_data: fields.changed("custom_data", request.custom_data, fields::object),
    };
    fields.finish()?;
    Ok(patch)
}

fn symbol(text: String) -> Result<String, InvalidValue> {
    bounded(text, 0..=MAX_SYMBOL)
}

fn logo(text: String) -> Result<String, InvalidValue> {
    bounded(text, 0..=MAX_LOGO)
}

fn places(number: u32) -> Result<DecimalPlaces, InvalidValue> {
    DecimalPlaces::new(number.into())
}

const fn encode_type(kind: AssetType) -> wire::AssetType {
    match kind {
        AssetType::Crypto => wire::AssetType::Crypto,
        AssetType::Custom => wire::AssetType::Custom,
        AssetType::Fiat => wire::AssetType::Fiat,
    }
}

fn decode_type(number: i32) -> Result<AssetType, InvalidValue> {
    match wire::AssetType::try_from(number) {
        Ok(wire::AssetType::Crypto) => Ok(AssetType::Crypto),
        Ok(wire::AssetType::Custom) => Ok(AssetType::Custom),
        Ok(wire::AssetType::Fiat) => Ok(AssetType::Fiat),
        Ok(wire::AssetType::Unspecified) | Err(_) => Err(InvalidValue::new(
            FieldCode::Enum,
            "must be one of crypto, custom, fiat",
        )),
    }
}
