//! `TaxRateService`: all callers read, admins write.

use platform::{
    grpc::{Call, precondition::Versions, respond},
    ids::Id,
};
use proto::catalog::v1::{
    CreateTaxRateRequest, CreateTaxRateResponse, DeleteTaxRateRequest, DeleteTaxRateResponse,
    GetTaxRateRequest, GetTaxRateResponse, ListTaxRatesRequest, ListTaxRatesResponse,
    UpdateTaxRateRequest, UpdateTaxRateResponse, tax_rate_service_server::TaxRateService,
};
use tonic::{Request, Response, Status};

use super::{TaxRate, TaxRates, convert};
use crate::error::Error;

#[derive(Debug, Clone)]
pub(crate) struct TaxRateGrpc(pub(crate) TaxRates);

#[tonic::async_trait]
impl TaxRateService for TaxRateGrpc {
    async fn create_tax_rate(
        &self,
        request: Request<CreateTaxRateRequest>,
    ) -> Result<Response<CreateTaxRateResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let new = convert::new_tax_rate(body)?;
        let reply = self.0.create(key.as_ref(), new).await?;
        Ok(respond(reply, |tax_rate| CreateTaxRateResponse {
            tax_rate: Some(tax_rate),
        }))
    }

    async fn get_tax_rate(
        &self,
        request: Request<GetTaxRateRequest>,
    ) -> Result<Response<GetTaxRateResponse>, Status> {
        let Call { body, .. } = Call::of(request)?;
        let tax_rate = self.0.get(path_id(&body.id)?).await?;
        Ok(Response::new(GetTaxRateResponse {
            tax_rate: Some(tax_rate),
        }))
    }

    async fn list_tax_rates(
        &self,
        request: Request<ListTaxRatesRequest>,
    ) -> Result<Response<ListTaxRatesResponse>, Status> {
        let Call { body, .. } = Call::of(request)?;
        let (tax_rates, page) = self.0.list(&body.list.unwrap_or_default()).await?;
        let page = Some(page);
        Ok(Response::new(ListTaxRatesResponse { tax_rates, page }))
    }

    async fn update_tax_rate(
        &self,
        request: Request<UpdateTaxRateRequest>,
    ) -> Result<Response<UpdateTaxRateResponse>, Status> {
        let if_version = Versions::of(&request)?;
        let Call { body, .. } = Call::of(request)?;
        let id = path_id(&body.id)?;
        let tax_rate = self
            .0
            .update(id, convert::patch(body)?, if_version.as_ref())
            .await?;
        Ok(Response::new(UpdateTaxRateResponse {
            tax_rate: Some(tax_rate),
        }))
    }

    async fn delete_tax_rate(
        &self,
        request: Request<DeleteTaxRateRequest>,
    ) -> Result<Response<DeleteTaxRateResponse>, Status> {
        let if_version = Versions::of(&request)?;
        let Call { body, .. } = Call::of(request)?;
        let id = path_id(&body.id)?;
        self.0.delete(id, if_version.as_ref()).await?;
        Ok(Response::new(DeleteTaxRateResponse {}))
    }
}

/// Parses the id in a path; a malformed one is not found.
fn path_id(text: &str) -> Result<Id<TaxRate>, Error> {
    Id::parse(text).map_err(|_| Error::TaxRateNotFound)
}
