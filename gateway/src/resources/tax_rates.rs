//! `/tax-rates`

use platform::{
    error::{Code, Failure},
    patch::Patch,
};
use proto::catalog::v1::{
    self as wire, CreateTaxRateRequest, DeleteTaxRateRequest, GetTaxRateRequest,
    ListTaxRatesRequest, UpdateTaxRateRequest,
};
use serde::{Deserialize, Serialize};

use super::{
    dto::{Mask, Time},
    reply::{self, Located, Many, Nothing, One},
};
use crate::extract::{Call, Json, ListParams, PathParams};

/// A percentage added to net prices.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaxRate {
    id: String,
    name: String,
    /// Percent, 0 to 100.
    rate: String,
    created_at: Option<Time>,
    updated_at: Option<Time>,
}

/// A tax rate to make.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewTaxRate {
    name: String,
    rate: String,
}

/// What to change of a tax rate; what is left out stays.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaxRatePatch {
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    name: Patch<String>,
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    rate: Patch<String>,
}

/// POST /tax-rates
pub async fn create(call: Call, Json(body): Json<NewTaxRate>) -> One<TaxRate> {
    let request = call.request(CreateTaxRateRequest {
        name: body.name,
        rate: body.rate,
    });
    reply::created(call.app.clients.tax_rates().create_tax_rate(request), |a| {
        a.tax_rate
    })
    .await
}

/// GET /tax-rates
pub async fn list(call: Call, ListParams(list): ListParams) -> Many<TaxRate> {
    let request = call.request(ListTaxRatesRequest { list: Some(list) });
    let split = |a: wire::ListTaxRatesResponse| (a.tax_rates, a.page);
    reply::many(call.app.clients.tax_rates().list_tax_rates(request), split).await
}

/// GET /tax-rates/:id
pub async fn get(call: Call, path: PathParams) -> One<TaxRate> {
    let request = call.request(GetTaxRateRequest {
        id: path.id("id", Code::TaxRateNotFound)?,
    });
    reply::one(call.app.clients.tax_rates().get_tax_rate(request), |a| {
        a.tax_rate
    })
    .await
}

/// PATCH /tax-rates/:id
pub async fn update(call: Call, path: PathParams, Json(body): Json<TaxRatePatch>) -> One<TaxRate> {
    let request = call.request(body.into_request(path.id("id", Code::TaxRateNotFound)?)?);
    reply::one(call.app.clients.tax_rates().update_tax_rate(request), |a| {
        a.tax_rate
    })
    .await
}

/// DELETE /tax-rates/:id
pub async fn delete(call: Call, path: PathParams) -> Nothing {
    let request = call.request(DeleteTaxRateRequest {
        id: path.id("id", Code::TaxRateNotFound)?,
    });
    reply::nothing(call.app.clients.tax_rates().delete_tax_rate(request)).await
}

impl Located for TaxRate {
    fn location(&self) -> String {
        format!("/tax-rates/{}", self.id)
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
    fn into_request(self, id: String) -> Result<UpdateTaxRateRequest, Failure> {
        let mut mask = Mask::default();
        Ok(UpdateTaxRateRequest {
            id,
            name: mask.required("name", "name", self.name),
            rate: mask.required("rate", "rate", self.rate),
            update_mask: mask.finish()?,
        })
    }
}
