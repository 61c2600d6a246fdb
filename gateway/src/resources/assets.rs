//! `/assets`

use proto::wallet::v1::{self as wire, GetAssetRequest, ListAssetsRequest};
use serde::Serialize;

use super::{
    dto::{self, Raw, Time},
    reply::{self, Many, One},
};
use crate::extract::{Call, ListParams, PathParams};

/// A currency, token or kind of points.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Asset {
    code: String,
    name: String,
    symbol: Option<String>,
    /// `crypto`, `custom` or `fiat`.
    r#type: String,
    /// Decimals that amounts of the asset may have, 0 to 8.
    decimal_places: u32,
    enabled: bool,
    system: bool,
    logo: Option<String>,
    contract: Raw,
    custom_data: Raw,
    metadata: Raw,
    created_at: Option<Time>,
    updated_at: Option<Time>,
}

/// GET /assets
pub async fn list(call: Call, ListParams(list): ListParams) -> Many<Asset> {
    let request = call.request(ListAssetsRequest { list: Some(list) });
    let split = |a: wire::ListAssetsResponse| (a.assets, a.page);
    reply::many(call.app.clients.assets().list_assets(request), split).await
}

/// GET /assets/:code
pub async fn get(call: Call, path: PathParams) -> One<Asset> {
    let request = call.request(GetAssetRequest {
        code: path.text("code").to_owned(),
    });
    reply::one(call.app.clients.assets().get_asset(request), |a| a.asset).await
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
