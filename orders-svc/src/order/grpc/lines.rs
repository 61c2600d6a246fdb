//! `OrderLineService` and `OrderLineFulfilmentService`.

use platform::grpc::{Call, respond};
use proto::orders::v1::{
    FulfillOrderLineRequest, FulfillOrderLineResponse, GetOrderLineRequest, GetOrderLineResponse,
    ListOrderLinesRequest, ListOrderLinesResponse, UnfulfillOrderLineRequest,
    UnfulfillOrderLineResponse, order_line_fulfilment_service_server::OrderLineFulfilmentService,
    order_line_service_server::OrderLineService,
};
use tonic::{Request, Response, Status};

use crate::order::{
    convert,
    model::{FulfilOrder, FulfilmentDirection},
    service::Orders,
};

#[derive(Debug, Clone)]
pub(crate) struct OrderLineGrpc(pub(crate) Orders);

#[tonic::async_trait]
impl OrderLineService for OrderLineGrpc {
    async fn get_order_line(
        &self,
        request: Request<GetOrderLineRequest>,
    ) -> Result<Response<GetOrderLineResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let order_id = convert::order_id(&body.order_id)?;
        let id = convert::line_id(&body.id)?;
        let line = self.0.get_line(&caller, order_id, id).await?;
        let line = Some(convert::line_with_product(&line));
        Ok(Response::new(GetOrderLineResponse { line }))
    }

    async fn list_order_lines(
        &self,
        request: Request<ListOrderLinesRequest>,
    ) -> Result<Response<ListOrderLinesResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let list = body.list.unwrap_or_default();
        let order_id = convert::order_id(&body.order_id)?;
        let page = self.0.list_lines(&caller, order_id, &list).await?;
        let (lines, page) = page.encode(|line| convert::line_with_product(&line));
        let page = Some(page);
        Ok(Response::new(ListOrderLinesResponse { lines, page }))
    }
}

#[tonic::async_trait]
impl OrderLineFulfilmentService for OrderLineGrpc {
    async fn fulfill_order_line(
        &self,
        request: Request<FulfillOrderLineRequest>,
    ) -> Result<Response<FulfillOrderLineResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let command = FulfilOrder {
            order_id: convert::order_id(&body.order_id)?,
            direction: FulfilmentDirection::Fulfill,
            units: convert::units(&body.id, body.quantity)?,
            tracking_id: None,
        };
        let reply = self.0.fulfil(key.as_ref(), command).await?;
        Ok(respond(reply, |order| FulfillOrderLineResponse {
            order: Some(order),
        }))
    }

    async fn unfulfill_order_line(
        &self,
        request: Request<UnfulfillOrderLineRequest>,
    ) -> Result<Response<UnfulfillOrderLineResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let command = FulfilOrder {
            order_id: convert::order_id(&body.order_id)?,
            direction: FulfilmentDirection::Unfulfill,
            units: convert::units(&body.id, body.quantity)?,
            tracking_id: None,
        };
        let reply = self.0.fulfil(key.as_ref(), command).await?;
        Ok(respond(reply, |order| UnfulfillOrderLineResponse {
            order: Some(order),
        }))
    }
}
