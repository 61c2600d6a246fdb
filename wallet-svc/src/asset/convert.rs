//! Assets on the wire.

use platform::clock::to_proto;
use proto::wallet::v1 as wire;

use super::model::{Asset, AssetType};

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
