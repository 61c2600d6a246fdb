//! `OrderLineService` and `OrderLineFulfilmentService`.

use platform::{
    auth::Caller,
    idempotency::{Key, Reply},
};
use proto::orders::v1::{
    FulfillOrderLineRequest, FulfillOrderLineResponse, GetOrderLineRequest, GetOrderLineResponse,
    ListOrderLinesRequest, ListOrderLinesResponse, UnfulfillOrderLineRequest,
    UnfulfillOrderLineResponse, order_line_fulfilment_service_server, order_line_service_server,
};
use tonic::{Request, Response, Status};

use super::{line_id, order_id, orders::respond};
use crate::{
    error::Error,
    order::{
        convert,
        fulfilment::{Direction, Units},
        service::Orders,
    },
};

/// Serves the lines of orders.
#[derive(Debug, Clone)]
pub struct OrderLineGrpc(pub Orders);

fn units(id: &str, quantity: Option<u32>) -> Result<Units, Error> {
    let id = line_id(id)?;
    let quantity = convert::quantity(quantity)?;
    Ok(quantity.map_or(Units::Line(id), |quantity| Units::Some(id, quantity)))
}

#[tonic::async_trait]
impl order_line_service_server::OrderLineService for OrderLineGrpc {
    async fn get_order_line(
        &self,
        request: Request<GetOrderLineRequest>,
    ) -> Result<Response<GetOrderLineResponse>, Status> {
        let caller = Caller::of(&request)?.clone();
        let request = request.get_ref();
        let (order_id, id) = (order_id(&request.order_id)?, line_id(&request.id)?);
        let line = self.0.get_line(&caller, order_id, id).await?;
        let line = Some(convert::line(&line));
        Ok(Response::new(GetOrderLineResponse { line }))
    }

    async fn list_order_lines(
        &self,
        request: Request<ListOrderLinesRequest>,
    ) -> Result<Response<ListOrderLinesResponse>, Status> {
        let caller = Caller::of(&request)?.clone();
        let request = request.into_inner();
        let list = request.list.unwrap_or_default();
        let order_id = order_id(&request.order_id)?;
        let page = self.0.list_lines(&caller, order_id, &list).await?;
        let lines = page.rows.iter().map(convert::line).collect();
        let page = Some(page.info());
        Ok(Response::new(ListOrderLinesResponse { lines, page }))
    }
}

#[tonic::async_trait]
impl order_line_fulfilment_service_server::OrderLineFulfilmentService for OrderLineGrpc {
    async fn fulfill_order_line(
        &self,
        request: Request<FulfillOrderLineRequest>,
    ) -> Result<Response<FulfillOrderLineResponse>, Status> {
        let caller = Caller::of(&request)?.clone();
        let key = Key::from_request(&request)?;
        let request = request.get_ref();
        let id = order_id(&request.order_id)?;
        let what = (Direction::Fulfill, units(&request.id, request.quantity)?);
        let moved = self.0.move_units(&caller, key.as_ref(), id, what, None);
        respond!(moved.await?, FulfillOrderLineResponse)
    }

    async fn unfulfill_order_line(
        &self,
        request: Request<UnfulfillOrderLineRequest>,
    ) -> Result<Response<UnfulfillOrderLineResponse>, Status> {
        let caller = Caller::of(&request)?.clone();
        let key = Key::from_request(&request)?;
        let request = request.get_ref();
        let id = order_id(&request.order_id)?;
        let what = (Direction::Unfulfill, units(&request.id, request.quantity)?);
        let moved = self.0.move_units(&caller, key.as_ref(), id, what, None);
        respond!(moved.await?, UnfulfillOrderLineResponse)
    }
}
