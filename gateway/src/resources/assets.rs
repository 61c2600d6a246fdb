//! `/assets`

use platform::patch::Patch;
use proto::wallet::v1::{
    self as wire, CreateAssetRequest, GetAssetRequest, ListAssetsRequest, UpdateAssetRequest,
};
use serde::{Deserialize, Serialize};

use super::{
    dto::{self, Mask, Raw, Time},
    result::{self, DataResult, ListResult, Located, Versioned},
};
use crate::extract::{
    AssetCode, Call, Change, CustomData, DecimalPlaces, Json, ListParams, PathParams, Symbol, Text,
    Title,
};

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
    code: AssetCode,
    /// 1 to 255 characters.
    name: Title,
    /// At most 16 characters.
    symbol: Option<Symbol>,
    /// Default `custom`.
    r#type: Option<AssetType>,
    /// 0 to 8, default 8.
    decimal_places: Option<DecimalPlaces>,
    /// Default `true`.
    enabled: Option<bool>,
    /// At most 2048 characters.
    logo: Option<Text>,
    /// At most 16 KiB.
    contract: Option<CustomData>,
    custom_data: Option<CustomData>,
}

/// Changes of an asset; fields left out stay. A system asset changes only in `enabled`,
/// `customData` and `logo`.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AssetPatch {
    #[serde(default)]
    #[schema(value_type = Title)]
    name: Change<Title>,
    /// `null` clears it.
    #[serde(default)]
    #[schema(value_type = Option<Symbol>)]
    symbol: Patch<Symbol>,
    #[serde(default)]
    #[schema(value_type = AssetType)]
    r#type: Change<AssetType>,
    /// Never lowered once the asset has a transaction.
    #[serde(default)]
    #[schema(value_type = DecimalPlaces)]
    decimal_places: Change<DecimalPlaces>,
    #[serde(default)]
    #[schema(value_type = bool)]
    enabled: Change<bool>,
    /// `null` clears it.
    #[serde(default)]
    #[schema(value_type = Option<Text>)]
    logo: Patch<Text>,
    #[serde(default)]
    #[schema(value_type = CustomData)]
    contract: Change<CustomData>,
    #[serde(default)]
    #[schema(value_type = CustomData)]
    custom_data: Change<CustomData>,
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
    result::versioned(call.clients.assets().get_asset(request), |response| {
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
    let request = call.request(body.into_request(path.text("code").to_owned()));
    result::versioned(call.clients.assets().update_asset(request), |response| {
        response.asset
    })
    .await
}

impl Located for Asset {
    fn location(&self) -> String {
        format!("/assets/{}", self.code)
    }
}

impl Versioned for wire::Asset {
    fn version(&self) -> i64 {
        self.version
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
            code: body.code.into(),
            name: body.name.into(),
            symbol: body.symbol.map(Into::into),
            r#type: kind.into(),
            decimal_places: body.decimal_places.map(Into::into),
            enabled: body.enabled,
            logo: body.logo.map(Into::into),
            contract: body.contract.map(Into::into),
            custom_data: body.custom_data.map(Into::into),
        }
    }
}

impl AssetPatch {
    fn into_request(self, code: String) -> UpdateAssetRequest {
        let mut mask = Mask::default();
        UpdateAssetRequest {
            code,
            name: mask.required("name", self.name),
            symbol: mask.nullable("symbol", self.symbol),
            r#type: mask
                .required("type", self.r#type)
                .map(|kind: AssetType| wire::AssetType::from(kind).into()),
            decimal_places: mask.required("decimal_places", self.decimal_places),
            enabled: mask.required("enabled", self.enabled),
            logo: mask.nullable("logo", self.logo),
            contract: mask.required("contract", self.contract),
            custom_data: mask.required("custom_data", self.custom_data),
            update_mask: Some(mask.finish()),
        }
    }
}
