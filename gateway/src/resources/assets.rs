//! `/assets`

use platform::{error::Failure, patch::Patch};
use proto::wallet::v1::{
    self as wire, CreateAssetRequest, GetAssetRequest, ListAssetsRequest, UpdateAssetRequest,
};
use serde::{Deserialize, Serialize};

use super::{
    dto::{self, Mask, Raw, Time},
    result::{self, DataResult, ListResult, Located},
};
use crate::extract::{Call, CustomData, Json, ListParams, PathParams};

/// A currency, token or kind of points.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Asset {
    /// Unique and found without regard to case.
    code: String,
    name: String,
    symbol: Option<String>,
    /// `crypto`, `custom` or `fiat`.
    r#type: String,
    /// Decimals that amounts of the asset may have, 0 to 8; raised, never lowered.
    decimal_places: u32,
    /// A disabled asset accepts no new transaction; those in progress can be settled.
    enabled: bool,
    /// Created by Guerdon; only `enabled`, `customData` and `logo` change.
    system: bool,
    logo: Option<String>,
    contract: Raw,
    custom_data: Raw,
    metadata: Raw,
    created_at: Option<Time>,
    updated_at: Option<Time>,
}

/// The type of an asset.
#[derive(Debug, Clone, Copy, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AssetType {
    Crypto,
    Custom,
    Fiat,
}

/// An asset to create.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewAsset {
    /// 1 to 16 letters and digits; kept as written, unique without regard to case.
    code: String,
    /// 1 to 255 characters.
    name: String,
    /// At most 16 characters.
    symbol: Option<String>,
    /// Default `custom`.
    r#type: Option<AssetType>,
    /// 0 to 8, default 8.
    decimal_places: Option<u32>,
    /// Default `true`.
    enabled: Option<bool>,
    /// At most 2048 characters.
    logo: Option<String>,
    /// At most 16 KiB.
    #[schema(value_type = Option<Object>)]
    contract: Option<CustomData>,
    #[schema(value_type = Option<Object>)]
    custom_data: Option<CustomData>,
}

/// Changes of an asset; fields left out stay. A system asset changes only in `enabled`,
/// `customData` and `logo`.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AssetPatch {
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    name: Patch<String>,
    /// `null` clears it.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    symbol: Patch<String>,
    #[serde(default)]
    #[schema(value_type = Option<AssetType>)]
    r#type: Patch<AssetType>,
    /// Never lowered once the asset has a transaction.
    #[serde(default)]
    #[schema(value_type = Option<u32>)]
    decimal_places: Patch<u32>,
    #[serde(default)]
    #[schema(value_type = Option<bool>)]
    enabled: Patch<bool>,
    /// `null` clears it.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    logo: Patch<String>,
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    contract: Patch<CustomData>,
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    custom_data: Patch<CustomData>,
}

/// Create an asset.
pub(crate) async fn create(call: Call, Json(body): Json<NewAsset>) -> DataResult<Asset> {
    let request = call.request(body.into());
    result::created(call.clients.assets().create_asset(request), |response| {
        response.asset
    })
    .await
}

/// List assets.
pub(crate) async fn list(call: Call, ListParams(list): ListParams) -> ListResult<Asset> {
    let request = call.request(ListAssetsRequest { list: Some(list) });
    result::list(call.clients.assets().list_assets(request), |response| {
        (response.assets, response.page)
    })
    .await
}

/// Get an asset.
pub(crate) async fn get(call: Call, path: PathParams) -> DataResult<Asset> {
    let request = call.request(GetAssetRequest {
        code: path.text("code").to_owned(),
    });
    result::data(call.clients.assets().get_asset(request), |response| {
        response.asset
    })
    .await
}

/// Update an asset.
pub(crate) async fn update(
    call: Call,
    path: PathParams,
    Json(body): Json<AssetPatch>,
) -> DataResult<Asset> {
    let request = call.request(body.into_request(path.text("code").to_owned())?);
    result::data(call.clients.assets().update_asset(request), |response| {
        response.asset
    })
    .await
}

impl Located for Asset {
    fn location(&self) -> String {
        format!("/assets/{}", self.code)
    }
}

impl From<wire::Asset> for Asset {
    fn from(asset: wire::Asset) -> Self {
        Self {
            r#type: dto::text(asset.r#type().as_str_name(), "ASSET_TYPE_"),
            code: asset.code,
            name: asset.name,
            symbol: asset.symbol,
            decimal_places: asset.decimal_places,
            enabled: asset.enabled,
            system: asset.system,
            logo: asset.logo,
            contract: Raw::of(asset.contract),
            custom_data: Raw::of(asset.custom_data),
            metadata: Raw::of(asset.metadata),
            created_at: Time::of(asset.created_at),
            updated_at: Time::of(asset.updated_at),
        }
    }
}

impl From<AssetType> for wire::AssetType {
    fn from(kind: AssetType) -> Self {
        match kind {
            AssetType::Crypto => Self::Crypto,
            AssetType::Custom => Self::Custom,
            AssetType::Fiat => Self::Fiat,
        }
    }
}

impl From<NewAsset> for CreateAssetRequest {
    fn from(body: NewAsset) -> Self {
        let kind = body.r#type.map_or(wire::AssetType::Unspecified, Into::into);
        Self {
            code: body.code,
            name: body.name,
            symbol: body.symbol,
            r#type: kind.into(),
            decimal_places: body.decimal_places,
            enabled: body.enabled,
            logo: body.logo,
            contract: body.contract.map(|contract| contract.0),
            custom_data: body.custom_data.map(|data| data.0),
        }
    }
}

impl AssetPatch {
    fn into_request(self, code: String) -> Result<UpdateAssetRequest, Failure> {
        let mut mask = Mask::default();
        let places = self.decimal_places;
        Ok(UpdateAssetRequest {
            code,
            name: mask.required("name", "name", self.name),
            symbol: mask.nullable("symbol", self.symbol),
            r#type: mask
                .required("type", "type", self.r#type)
                .map(|kind| wire::AssetType::from(kind).into()),
            decimal_places: mask.required("decimal_places", "decimalPlaces", places),
            enabled: mask.required("enabled", "enabled", self.enabled),
            logo: mask.nullable("logo", self.logo),
            contract: mask
                .required("contract", "contract", self.contract)
                .map(|contract| contract.0),
            custom_data: mask
                .required("custom_data", "customData", self.custom_data)
                .map(|data| data.0),
            update_mask: mask.finish()?,
        })
    }
}
