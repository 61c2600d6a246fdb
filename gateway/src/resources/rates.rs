//! `/rates`

use proto::wallet::v1::{
    self as wire, CreateRateRequest, DeleteRateRequest, GetRateRequest, ListRatesRequest,
    UpdateRateRequest,
};
use serde::{Deserialize, Serialize};

use super::{
    dto::{Mask, Raw, Time},
    result::{self, DataResult, EmptyResult, ListResult, Located, Versioned},
};
use crate::extract::{Call, Change, CustomData, ExchangeRate, Json, ListParams, PathParams, Text};

/// The exchange rate of a pair of assets.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the contract names it so")]
pub(crate) struct Rate {
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

/// A rate to create; a pair has at most one.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewRate {
    /// In any case.
    base_asset_code: Text,
    /// In any case; another than the base asset.
    quote_asset_code: Text,
    /// More than 0.
    rate: ExchangeRate,
    custom_data: Option<CustomData>,
}

/// Changes of a rate; fields left out stay.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RatePatch {
    /// More than 0.
    #[serde(default)]
    #[schema(value_type = ExchangeRate)]
    rate: Change<ExchangeRate>,
    #[serde(default)]
    #[schema(value_type = CustomData)]
    custom_data: Change<CustomData>,
}

/// Create a rate.
pub(crate) async fn create(call: Call, Json(body): Json<NewRate>) -> DataResult<Rate> {
    let request = call.request(CreateRateRequest {
        base_asset_code: body.base_asset_code.into(),
        quote_asset_code: body.quote_asset_code.into(),
        rate: body.rate.into(),
        custom_data: body.custom_data.map(Into::into),
    });
    result::created(call.clients.rates().create_rate(request), |response| {
        response.rate
    })
    .await
}

/// List rates.
pub(crate) async fn list(call: Call, ListParams(list): ListParams) -> ListResult<Rate> {
    let request = call.request(ListRatesRequest { list: Some(list) });
    result::list(call.clients.rates().list_rates(request), |response| {
        (response.rates, response.page)
    })
    .await
}

/// Get a rate.
pub(crate) async fn get(call: Call, path: PathParams) -> DataResult<Rate> {
    let (base_asset_code, quote_asset_code) = pair(&path);
    let request = call.request(GetRateRequest {
        base_asset_code,
        quote_asset_code,
    });
    result::versioned(call.clients.rates().get_rate(request), |response| {
        response.rate
    })
    .await
}

/// Update a rate.
pub(crate) async fn update(
    call: Call,
    path: PathParams,
    Json(body): Json<RatePatch>,
) -> DataResult<Rate> {
    let request = call.request(body.into_request(pair(&path)));
    result::versioned(call.clients.rates().update_rate(request), |response| {
        response.rate
    })
    .await
}

/// Delete a rate.
pub(crate) async fn delete(call: Call, path: PathParams) -> EmptyResult {
    let (base_asset_code, quote_asset_code) = pair(&path);
    let request = call.request(DeleteRateRequest {
        base_asset_code,
        quote_asset_code,
    });
    result::empty(call.clients.rates().delete_rate(request)).await
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

impl Versioned for wire::Rate {
    fn version(&self) -> i64 {
        self.version
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
    fn into_request(self, pair: (String, String)) -> UpdateRateRequest {
        let mut mask = Mask::default();
        let (base_asset_code, quote_asset_code) = pair;
        UpdateRateRequest {
            base_asset_code,
            quote_asset_code,
            rate: mask.required("rate", self.rate),
            custom_data: mask.required("custom_data", self.custom_data),
            update_mask: Some(mask.finish()),
        }
    }
}
