//! `PaymentMethodService`.

use proto::wallet::v1::{
    GetPaymentMethodRequest, GetPaymentMethodResponse, ListPaymentMethodsRequest,
    ListPaymentMethodsResponse, payment_method_service_server::PaymentMethodService,
};
use tonic::{Request, Response, Status};

use super::{convert, model::PaymentMethods, select::select};
use crate::error::Error;

/// Adapts [`PaymentMethods`] to gRPC; everybody may read them.
#[derive(Debug, Clone)]
pub(crate) struct PaymentMethodGrpc(pub(crate) PaymentMethods);

#[tonic::async_trait]
impl PaymentMethodService for PaymentMethodGrpc {
    async fn get_payment_method(
        &self,
        request: Request<GetPaymentMethodRequest>,
    ) -> Result<Response<GetPaymentMethodResponse>, Status> {
        let method = self
            .0
            .find(&request.get_ref().slug)
            .ok_or(Error::PaymentMethodNotFound)?;
        let payment_method = Some(convert::payment_method(method));
        Ok(Response::new(GetPaymentMethodResponse { payment_method }))
    }

    async fn list_payment_methods(
        &self,
        request: Request<ListPaymentMethodsRequest>,
    ) -> Result<Response<ListPaymentMethodsResponse>, Status> {
        let list = request.into_inner().list.unwrap_or_default();
        let found = select(self.0.all(), &list)?;
        let payment_methods = found.into_iter().map(convert::payment_method).collect();
        Ok(Response::new(ListPaymentMethodsResponse {
            payment_methods,
        }))
    }
}
