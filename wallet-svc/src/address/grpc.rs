//! `AddressService`.

use platform::{auth::Caller, idempotency::Key};
use proto::wallet::v1::{
    CreateAddressRequest, CreateAddressResponse, GetAddressRequest, GetAddressResponse,
    ListAddressesRequest, ListAddressesResponse, address_service_server::AddressService,
};
use tonic::{Request, Response, Status};

use super::{convert, service::Addresses};

/// Adapts [`Addresses`] to gRPC.
#[derive(Debug, Clone)]
pub struct AddressGrpc(
    /// The use cases.
    pub Addresses,
);

#[tonic::async_trait]
impl AddressService for AddressGrpc {
    async fn create_address(
        &self,
        request: Request<CreateAddressRequest>,
    ) -> Result<Response<CreateAddressResponse>, Status> {
        Caller::of(&request)?.require_admin()?;
        let key = Key::from_request(&request)?;
        let created = self.0.create(request.into_inner(), key.as_ref()).await?;
        Ok(created.into_response())
    }

    async fn get_address(
        &self,
        request: Request<GetAddressRequest>,
    ) -> Result<Response<GetAddressResponse>, Status> {
        let caller = Caller::of(&request)?;
        let found = self.0.get(caller, &request.get_ref().address).await?;
        let address = Some(convert::address(&found));
        Ok(Response::new(GetAddressResponse { address }))
    }

    async fn list_addresses(
        &self,
        request: Request<ListAddressesRequest>,
    ) -> Result<Response<ListAddressesResponse>, Status> {
        let caller = Caller::of(&request)?.clone();
        let list = request.into_inner().list.unwrap_or_default();
        let page = self.0.list(&caller, &list).await?;
        Ok(Response::new(ListAddressesResponse {
            page: Some(page.info()),
            addresses: page.rows.iter().map(convert::address).collect(),
        }))
    }
}
