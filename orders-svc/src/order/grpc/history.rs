//! `OrderHistoryService`.

use platform::grpc::{Call, respond};
use proto::orders::v1::{
    CreateOrderNoteRequest, CreateOrderNoteResponse, GetOrderReceiptRequest,
    GetOrderReceiptResponse, ListOrderHistoryRequest, ListOrderHistoryResponse,
    ListOrderPaymentsRequest, ListOrderPaymentsResponse,
    order_history_service_server::OrderHistoryService,
};
use tonic::{Request, Response, Status};

use crate::order::{convert, service::Orders};

#[derive(Debug, Clone)]
pub(crate) struct OrderHistoryGrpc(pub(crate) Orders);

#[tonic::async_trait]
impl OrderHistoryService for OrderHistoryGrpc {
    async fn list_order_payments(
        &self,
        request: Request<ListOrderPaymentsRequest>,
    ) -> Result<Response<ListOrderPaymentsResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let list = body.list.unwrap_or_default();
        let order_id = convert::order_id(&body.order_id)?;
        let page = self.0.list_payments(&caller, order_id, &list).await?;
        let (payments, page) = page.encode(convert::payment);
        let page = Some(page);
        Ok(Response::new(ListOrderPaymentsResponse { payments, page }))
    }

    async fn list_order_history(
        &self,
        request: Request<ListOrderHistoryRequest>,
    ) -> Result<Response<ListOrderHistoryResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let list = body.list.unwrap_or_default();
        let order_id = convert::order_id(&body.order_id)?;
        let page = self.0.list_history(&caller, order_id, &list).await?;
        let (entries, page) = page.encode(|entry| convert::visible_history_entry(entry, &caller));
        let page = Some(page);
        Ok(Response::new(ListOrderHistoryResponse { entries, page }))
    }

    async fn get_order_receipt(
        &self,
        request: Request<GetOrderReceiptRequest>,
    ) -> Result<Response<GetOrderReceiptResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let order_id = convert::order_id(&body.order_id)?;
        let receipt = self.0.get_receipt(&caller, order_id).await?;
        let receipt = Some(convert::receipt(receipt)?);
        Ok(Response::new(GetOrderReceiptResponse { receipt }))
    }

    async fn create_order_note(
        &self,
        request: Request<CreateOrderNoteRequest>,
    ) -> Result<Response<CreateOrderNoteResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let order_id = convert::order_id(&body.order_id)?;
        let text = convert::note(body.text)?;
        let reply = self.0.create_note(key.as_ref(), order_id, text).await?;
        Ok(respond(reply, |entry| CreateOrderNoteResponse {
            entry: Some(entry),
        }))
    }
}
