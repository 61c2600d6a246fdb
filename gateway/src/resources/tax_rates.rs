//! `/tax-rates`

use platform::error::Code;
use proto::catalog::v1::{
    self as wire, CreateTaxRateRequest, DeleteTaxRateRequest, GetTaxRateRequest,
    ListTaxRatesRequest, UpdateTaxRateRequest,
};
use serde::{Deserialize, Serialize};

use super::{
    dto::{Mask, Time},
    result::{self, DataResult, EmptyResult, ListResult, Located, Versioned},
};
use crate::extract::{Call, Change, Json, ListParams, PathParams, Percent, Title};

/// A percentage added to net prices.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaxRate {
    id: String,
    name: String,
    /// Percent, 0 to 100.
    rate: String,
    created_at: Option<Time>,
    updated_at: Option<Time>,
}

/// A tax rate to create.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewTaxRate {
    name: Title,
    rate: Percent,
}

/// Changes of a tax rate; fields left out stay.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct TaxRatePatch {
    #[serde(default)]
    #[schema(value_type = Title)]
    name: Change<Title>,
    #[serde(default)]
    #[schema(value_type = Percent)]
    rate: Change<Percent>,
}

/// Create a tax rate.
pub(crate) async fn create(call: Call, Json(body): Json<NewTaxRate>) -> DataResult<TaxRate> {
    let request = call.request(CreateTaxRateRequest {
        name: body.name.into(),
        rate: body.rate.into(),
    });
    result::created(
        call.clients.tax_rates().create_tax_rate(request),
        |response| response.tax_rate,
    )
    .await
}

/// List tax rates.
pub(crate) async fn list(call: Call, ListParams(list): ListParams) -> ListResult<TaxRate> {
    let request = call.request(ListTaxRatesRequest { list: Some(list) });
    result::list(
        call.clients.tax_rates().list_tax_rates(request),
        |response| (response.tax_rates, response.page),
    )
    .await
}

/// Get a tax rate.
pub(crate) async fn get(call: Call, path: PathParams) -> DataResult<TaxRate> {
    let request = call.request(GetTaxRateRequest {
        id: path.id("id", Code::TaxRateNotFound)?,
    });
    result::versioned(call.clients.tax_rates().get_tax_rate(request), |response| {
        response.tax_rate
    })
    .await
}

/// Update a tax rate.
pub(crate) async fn update(
    call: Call,
    path: PathParams,
    Json(body): Json<TaxRatePatch>,
) -> DataResult<TaxRate> {
    let request = call.request(body.into_request(path.id("id", Code::TaxRateNotFound)?));
    result::versioned(
        call.clients.tax_rates().update_tax_rate(request),
        |response| response.tax_rate,
    )
    .await
}

/// Delete a tax rate.
pub(crate) async fn delete(call: Call, path: PathParams) -> EmptyResult {
    let request = call.request(DeleteTaxRateRequest {
        id: path.id("id", Code::TaxRateNotFound)?,
    });
    result::empty(call.clients.tax_rates().delete_tax_rate(request)).await
}

impl Located for TaxRate {
    fn location(&self) -> String {
        format!("/tax-rates/{}", self.id)
    }
}

impl Versioned for wire::TaxRate {
    fn version(&self) -> i64 {
        self.version
    }
}

impl From<wire::TaxRate> for TaxRate {
    fn from(tax_rate: wire::TaxRate) -> Self {
        Self {
            id: tax_rate.id,
            name: tax_rate.name,
            rate: tax_rate.rate,
            created_at: Time::of(tax_rate.created_at),
            updated_at: Time::of(tax_rate.updated_at),
        }
    }
}

impl TaxRatePatch {
    fn into_request(self, id: String) -> UpdateTaxRateRequest {
        let mut mask = Mask::default();
        UpdateTaxRateRequest {
            id,
            name: mask.required("name", self.name),
            rate: mask.required("rate", self.rate),
            update_mask: Some(mask.finish()),
        }
    }
}
