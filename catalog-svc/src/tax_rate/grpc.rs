//! `TaxRateService`: everybody reads, admins write.

use platform::{auth::Caller, error::Failure, idempotency::Key, ids::Id};
use proto::catalog::v1 as wire;
use tonic::{Request, Response, Status};

use super::{TaxRate, TaxRates, convert};
use crate::error::Error;

/// Serves the tax rates.
#[derive(Debug, Clone)]
pub struct TaxRateGrpc {
    /// The use cases.
    pub tax_rates: TaxRates,
}

#[tonic::async_trait]
impl wire::tax_rate_service_server::TaxRateService for TaxRateGrpc {
    async fn create_tax_rate(
        &self,
        request: Request<wire::CreateTaxRateRequest>,
    ) -> Result<Response<wire::CreateTaxRateResponse>, Status> {
        Caller::of(&request)?.require_admin()?;
        let key = Key::from_request(&request)?;
        let new = convert::new_tax_rate(request.into_inner())?;
        let answer = |tax_rate| wire::CreateTaxRateResponse {
            tax_rate: Some(convert::to_proto(tax_rate)),
        };
        let created = self.tax_rates.create(key.as_ref(), new, answer).await?;
        Ok(created.into_response())
    }

    async fn get_tax_rate(
        &self,
        request: Request<wire::GetTaxRateRequest>,
    ) -> Result<Response<wire::GetTaxRateResponse>, Status> {
        Caller::of(&request)?;
        let tax_rate = self.tax_rates.get(id(&request.get_ref().id)?).await?;
        Ok(Response::new(wire::GetTaxRateResponse {
            tax_rate: Some(convert::to_proto(tax_rate)),
        }))
    }

    async fn list_tax_rates(
        &self,
        request: Request<wire::ListTaxRatesRequest>,
    ) -> Result<Response<wire::ListTaxRatesResponse>, Status> {
        Caller::of(&request)?;
        let list = request.into_inner().list.unwrap_or_default();
        let page = self.tax_rates.list(&list).await?;
        Ok(Response::new(wire::ListTaxRatesResponse {
            page: Some(page.info()),
            tax_rates: page.rows.into_iter().map(convert::to_proto).collect(),
        }))
    }

    async fn update_tax_rate(
        &self,
        request: Request<wire::UpdateTaxRateRequest>,
    ) -> Result<Response<wire::UpdateTaxRateResponse>, Status> {
        Caller::of(&request)?.require_admin()?;
        let id = id(&request.get_ref().id)?;
        let patch = convert::patch(request.into_inner())?;
        let tax_rate = self.tax_rates.update(id, patch).await?;
        Ok(Response::new(wire::UpdateTaxRateResponse {
            tax_rate: Some(convert::to_proto(tax_rate)),
        }))
    }

    async fn delete_tax_rate(
        &self,
        request: Request<wire::DeleteTaxRateRequest>,
    ) -> Result<Response<wire::DeleteTaxRateResponse>, Status> {
        Caller::of(&request)?.require_admin()?;
        self.tax_rates.delete(id(&request.get_ref().id)?).await?;
        Ok(Response::new(wire::DeleteTaxRateResponse {}))
    }
}

/// What is no id is nobody's.
fn id(text: &str) -> Result<Id<TaxRate>, Failure> {
    Id::parse(text).map_err(|_| Error::TaxRateNotFound.into())
}
