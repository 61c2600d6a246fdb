//! `/rates`

use platform::{error::Failure, patch::Patch};
use proto::wallet::v1::{
    self as wire, CreateRateRequest, DeleteRateRequest, GetRateRequest, ListRatesRequest,
    UpdateRateRequest,
};
use serde::{Deserialize, Serialize};

use super::{
    dto::{Mask, Raw, Time},
    reply::{self, Located, Many, Nothing, One},
};
use crate::extract::{Call, CustomData, Json, ListParams, PathParams};

/// What one unit of the base asset is worth in the quote asset.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the contract names it so")]
pub struct Rate {
    base_asset_code: String,
    quote_asset_code: String,
    /// Units of the quote asset for one of the base asset. Without a rate of its own, a pair is
    /// converted by one over the rate of its inverse.
    rate: String,
    custom_data: Raw,
    metadata: Raw,
    created_at: Option<Time>,
    updated_at: Option<Time>,
}

/// A rate to make; at most one a pair.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewRate {
    /// In any case.
    base_asset_code: String,
    /// In any case; another than the base asset.
    quote_asset_code: String,
    /// More than 0.
    rate: String,
    #[schema(value_type = Option<Object>)]
    custom_data: Option<CustomData>,
}

/// What to change of a rate; what is left out stays.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RatePatch {
    /// More than 0.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    rate: Patch<String>,
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    custom_data: Patch<CustomData>,
}

/// POST /rates
pub async fn create(call: Call, Json(body): Json<NewRate>) -> One<Rate> {
    let request = call.request(CreateRateRequest {
        base_asset_code: body.base_asset_code,
        quote_asset_code: body.quote_asset_code,
        rate: body.rate,
        custom_data: body.custom_data.map(|data| data.0),
    });
    reply::created(call.app.clients.rates().create_rate(request), |a| a.rate).await
}

/// GET /rates
pub async fn list(call: Call, ListParams(list): ListParams) -> Many<Rate> {
    let request = call.request(ListRatesRequest { list: Some(list) });
    let split = |a: wire::ListRatesResponse| (a.rates, a.page);
    reply::many(call.app.clients.rates().list_rates(request), split).await
}

/// GET /rates/:baseAssetCode/:quoteAssetCode
pub async fn get(call: Call, path: PathParams) -> One<Rate> {
    let (base_asset_code, quote_asset_code) = pair(&path);
    let request = call.request(GetRateRequest {
        base_asset_code,
        quote_asset_code,
    });
    reply::one(call.app.clients.rates().get_rate(request), |a| a.rate).await
}

/// PATCH /rates/:baseAssetCode/:quoteAssetCode
pub async fn update(call: Call, path: PathParams, Json(body): Json<RatePatch>) -> One<Rate> {
    let request = call.request(body.into_request(pair(&path))?);
    reply::one(call.app.clients.rates().update_rate(request), |a| a.rate).await
}

/// DELETE /rates/:baseAssetCode/:quoteAssetCode
pub async fn delete(call: Call, path: PathParams) -> Nothing {
    let (base_asset_code, quote_asset_code) = pair(&path);
    let request = call.request(DeleteRateRequest {
        base_asset_code,
        quote_asset_code,
    });
    reply::nothing(call.app.clients.rates().delete_rate(request)).await
}

fn pair(path: &PathParams) -> (String, String) {
    let code = |name| path.text(name).to_owned();
    (code("baseAssetCode"), code("quoteAssetCode"))
}

impl Located for Rate {
    fn location(&self) -> String {
        format!("/rates/{}/{}", self.base_asset_code, self.quote_asset_code)
    }
}

impl From<wire::Rate> for Rate {
    fn from(rate: wire::Rate) -> Self {
        Self {
            base_asset_code: rate.base_asset_code,
            quote_asset_code: rate.quote_asset_code,
            rate: rate.rate,
            custom_data: Raw::of(rate.custom_data),
            metadata: Raw::of(rate.metadata),
            created_at: Time::of(rate.created_at),
            updated_at: Time::of(rate.updated_at),
        }
    }
}

impl RatePatch {
    fn into_request(self, pair: (String, String)) -> Result<UpdateRateRequest, Failure> {
        let mut mask = Mask::default();
        let (base_asset_code, quote_asset_code) = pair;
        Ok(UpdateRateRequest {
            base_asset_code,
            quote_asset_code,
            rate: mask.required("rate", "rate", self.rate),
            custom_data: mask
                .required("custom_data", "customData", self.custom_data)
                .map(|data| data.0),
            update_mask: mask.finish()?,
        })
    }
}
