//! Assets on the wire.

use platform::{
    clock::to_proto,
    error::{Failure, FieldCode, InvalidValue, Violations},
    money::DecimalPlaces,
    patch::Patch,
};
use proto::wallet::v1 as wire;

use super::model::{Asset, AssetCode, AssetPatch, AssetType, NewAsset};
use crate::text;

const LONGEST_SYMBOL: usize = 16;
const LONGEST_LOGO: usize = 2_048;
/// Why a value is there once no fault was found.
const CHECKED: &str = "a field without a fault has a value";

/// As the wire has it.
pub fn asset(asset: &Asset) -> wire::Asset {
    wire::Asset {
        code: asset.code.to_string(),
        name: asset.name.clone(),
        symbol: asset.symbol.clone(),
        r#type: kind(asset.kind).into(),
        decimal_places: asset.decimal_places.get().into(),
        enabled: asset.enabled,
        system: asset.system,
        logo: asset.logo.clone(),
        contract: asset.contract.clone(),
        custom_data: asset.custom_data.clone(),
        metadata: asset.metadata.clone(),
        created_at: Some(to_proto(asset.created_at)),
        updated_at: Some(to_proto(asset.updated_at)),
    }
}

const fn kind(kind: AssetType) -> wire::AssetType {
    match kind {
        AssetType::Crypto => wire::AssetType::Crypto,
        AssetType::Custom => wire::AssetType::Custom,
        AssetType::Fiat => wire::AssetType::Fiat,
    }
}

/// Reads what a new asset starts with.
pub fn new_asset(request: wire::CreateAssetRequest) -> Result<NewAsset, Failure> {
    let mut fields = Violations::default();
    let places = request
        .decimal_places
        .map_or(Ok(DecimalPlaces::MAX), places);
    let kind = match request.r#type {
        0 => Ok(AssetType::Custom),
        written => read_kind(written),
    };
    let (code, name) = (
        fields.value("code", AssetCode::parse(&request.code)),
        fields.value("name", required_name(request.name)),
    );
    let symbol = optional(&mut fields, "symbol", request.symbol, symbol);
    let kind = fields.value("type", kind);
    let decimal_places = fields.value("decimalPlaces", places);
    let logo = optional(&mut fields, "logo", request.logo, logo);
    let contract = optional(&mut fields, "contract", request.contract, text::object);
    let custom_data = optional(&mut fields, "customData", request.custom_data, text::object);
    fields.finish()?;
    Ok(NewAsset {
        code: code.expect(CHECKED),
        name: name.expect(CHECKED),
        symbol,
        kind: kind.expect(CHECKED),
        decimal_places: decimal_places.expect(CHECKED),
        enabled: request.enabled.unwrap_or(true),
        logo,
        contract: contract.unwrap_or_else(text::empty_object),
        custom_data: custom_data.unwrap_or_else(text::empty_object),
    })
}

/// Reads a change of an asset.
pub fn asset_patch(request: wire::UpdateAssetRequest) -> Result<AssetPatch, Failure> {
    let mut fields = Patched {
        mask: request.update_mask.unwrap_or_default().paths,
        violations: Violations::default(),
    };
    let patch = AssetPatch {
        name: fields.kept("name", "name", request.name, text::name),
        symbol: fields.cleared("symbol", request.symbol, symbol),
        kind: fields.kept("type", "type", request.r#type, read_kind),
        decimal_places: fields.kept(
            "decimal_places",
            "decimalPlaces",
            request.decimal_places,
            places,
        ),
        enabled: fields.kept("enabled", "enabled", request.enabled, Ok),
        logo: fields.cleared("logo", request.logo, logo),
        contract: fields.kept("contract", "contract", request.contract, text::object),
        custom_data: fields.kept(
            "custom_data",
            "customData",
            request.custom_data,
            text::object,
        ),
    };
    fields.violations.finish()?;
    Ok(patch)
}

/// The fields of an update.
struct Patched {
    mask: Vec<String>,
    violations: Violations,
}

impl Patched {
    /// A field that must keep a value; `path` is its name in the mask, `field` its public one.
    fn kept<W, T>(
        &mut self,
        path: &str,
        field: &str,
        written: Option<W>,
        read: impl FnOnce(W) -> Result<T, InvalidValue>,
    ) -> Option<T> {
        match Patch::from_wire(path, written, &self.mask) {
            Patch::Absent => None,
            Patch::Null => {
                self.violations
                    .add(field, FieldCode::Type, "must not be null");
                None
            }
            Patch::Set(written) => self.violations.value(field, read(written)),
        }
    }

    /// A field that can be cleared.
    fn cleared<W, T>(
        &mut self,
        field: &str,
        written: Option<W>,
        read: impl FnOnce(W) -> Result<T, InvalidValue>,
    ) -> Patch<T> {
        match Patch::from_wire(field, written, &self.mask).try_map(read) {
            Ok(patch) => patch,
            Err(invalid) => {
                self.violations.add(field, invalid.code, invalid.message);
                Patch::Absent
            }
        }
    }
}

fn optional<T>(
    fields: &mut Violations,
    field: &str,
    written: Option<String>,
    read: impl FnOnce(String) -> Result<T, InvalidValue>,
) -> Option<T> {
    fields.value(field, read(written?))
}

fn required_name(name: String) -> Result<String, InvalidValue> {
    if name.is_empty() {
        return Err(InvalidValue::new(FieldCode::Required, "is required"));
    }
    text::name(name)
}

fn symbol(written: String) -> Result<String, InvalidValue> {
    text::at_most(LONGEST_SYMBOL)(written)
}

fn logo(written: String) -> Result<String, InvalidValue> {
    text::at_most(LONGEST_LOGO)(written)
}

fn places(written: u32) -> Result<DecimalPlaces, InvalidValue> {
    DecimalPlaces::new(written.into())
}

fn read_kind(written: i32) -> Result<AssetType, InvalidValue> {
    match wire::AssetType::try_from(written) {
        Ok(wire::AssetType::Crypto) => Ok(AssetType::Crypto),
        Ok(wire::AssetType::Custom) => Ok(AssetType::Custom),
        Ok(wire::AssetType::Fiat) => Ok(AssetType::Fiat),
        Ok(wire::AssetType::Unspecified) | Err(_) => Err(InvalidValue::new(
            FieldCode::Enum,
            "must be one of crypto, custom, fiat",
        )),
    }
}
