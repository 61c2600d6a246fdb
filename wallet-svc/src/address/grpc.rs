//! `AddressService`.

use platform::grpc::{Call, respond};
use proto::wallet::v1::{
    CreateAddressRequest, CreateAddressResponse, GetAddressRequest, GetAddressResponse,
    ListAddressesRequest, ListAddressesResponse, address_service_server::AddressService,
};
use tonic::{Request, Response, Status};

use super::{convert, service::Addresses};

/// Adapts [`Addresses`] to gRPC.
#[derive(Debug, Clone)]
pub(crate) struct AddressGrpc(pub(crate) Addresses);

#[tonic::async_trait]
impl AddressService for AddressGrpc {
    async fn create_address(
        &self,
        request: Request<CreateAddressRequest>,
    ) -> Result<Response<CreateAddressResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let reply = self.0.create(body, key.as_ref()).await?;
        Ok(respond(reply, |address| CreateAddressResponse {
            address: Some(address),
        }))
    }

    async fn get_address(
        &self,
        request: Request<GetAddressRequest>,
    ) -> Result<Response<GetAddressResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let address = self.0.get(&caller, &body.address).await?;
        let address = Some(convert::address(&address));
        Ok(Response::new(GetAddressResponse { address }))
    }

    async fn list_addresses(
        &self,
        request: Request<ListAddressesRequest>,
    ) -> Result<Response<ListAddressesResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let list = body.list.unwrap_or_default();
        let page = self.0.list(&caller, &list).await?;
        let (addresses, page) = page.encode(|address| convert::address(&address));
        let page = Some(page);
        Ok(Response::new(ListAddressesResponse { addresses, page }))
    }
}
