//! `OrderService`.

use platform::{
    auth::Caller,
    error::InvalidValue,
    idempotency::{Key, Reply},
    ids::{Id, parse_uuid},
    patch::Patch,
};
use proto::orders::v1::{
    CancelOrderRequest, CancelOrderResponse, CreateOrderRequest, CreateOrderResponse,
    FulfillOrderRequest, FulfillOrderResponse, GetOrderRequest, GetOrderResponse,
    ListOrdersRequest, ListOrdersResponse, PayOrderRequest, PayOrderResponse,
    UnfulfillOrderRequest, UnfulfillOrderResponse, UpdateOrderRequest, UpdateOrderResponse,
    order_service_server,
};
use tonic::{Request, Response, Status};
use uuid::Uuid;

use super::order_id;
use crate::{
    error::Error,
    order::{
        convert,
        fulfilment::{Direction, Units},
        service::Orders,
    },
};

/// Serves orders.
#[derive(Debug, Clone)]
pub struct OrderGrpc(pub Orders);

fn at(field: &'static str) -> impl FnOnce(InvalidValue) -> Error {
    move |invalid| Error::invalid(field, invalid)
}

fn tracking(text: Option<&str>) -> Result<Option<Uuid>, Error> {
    text.map(parse_uuid).transpose().map_err(at("trackingId"))
}

/// The response of an action, marked if it is a replay.
macro_rules! respond {
    ($answer:expr, $response:ident) => {{
        let answer = $answer;
        let order = answer.message.order;
        let replayed = answer.replayed;
        Ok(Reply {
            message: $response { order },
            replayed,
        }
        .into_response())
    }};
}
pub(super) use respond;

#[tonic::async_trait]
impl order_service_server::OrderService for OrderGrpc {
    async fn create_order(
        &self,
        request: Request<CreateOrderRequest>,
    ) -> Result<Response<CreateOrderResponse>, Status> {
        let caller = Caller::of(&request)?.clone();
        let key = Key::from_request(&request)?;
        let request = request.into_inner();
        let dry_run = request.dry_run;
        let new = convert::new_order(request)?;
        let answer = self.0.create(&caller, key.as_ref(), new, dry_run).await?;
        respond!(answer, CreateOrderResponse)
    }

    async fn get_order(
        &self,
        request: Request<GetOrderRequest>,
    ) -> Result<Response<GetOrderResponse>, Status> {
        let caller = Caller::of(&request)?;
        let order = self.0.get(caller, order_id(&request.get_ref().id)?).await?;
        Ok(Response::new(convert::answer(&order)))
    }

    async fn list_orders(
        &self,
        request: Request<ListOrdersRequest>,
    ) -> Result<Response<ListOrdersResponse>, Status> {
        let caller = Caller::of(&request)?.clone();
        let list = request.into_inner().list.unwrap_or_default();
        let (orders, page) = self.0.list(&caller, &list).await?;
        let orders = orders.iter().map(convert::order_with_lines).collect();
        let page = Some(page);
        Ok(Response::new(ListOrdersResponse { orders, page }))
    }

    async fn update_order(
        &self,
        request: Request<UpdateOrderRequest>,
    ) -> Result<Response<UpdateOrderResponse>, Status> {
        let caller = Caller::of(&request)?.clone();
        let request = request.into_inner();
        let mask = request.update_mask.unwrap_or_default().paths;
        let tracking_id = Patch::from_wire("tracking_id", request.tracking_id, &mask)
            .try_map(|text| parse_uuid(&text))
            .map_err(at("trackingId"))?;
        let id = order_id(&request.id)?;
        let order = self.0.update(&caller, id, tracking_id).await?;
        let order = Some(convert::order_with_lines(&order));
        Ok(Response::new(UpdateOrderResponse { order }))
    }

    async fn pay_order(
        &self,
        request: Request<PayOrderRequest>,
    ) -> Result<Response<PayOrderResponse>, Status> {
        let caller = Caller::of(&request)?.clone();
        let key = Key::from_request(&request)?;
        let request = request.get_ref();
        let amount = convert::amount("amount", request.amount.as_deref())?;
        let wallet_id = request.wallet_id.as_deref().map(Id::parse).transpose();
        let what = (amount, wallet_id.map_err(at("walletId"))?);
        let id = order_id(&request.id)?;
        let answer = self.0.pay(&caller, key.as_ref(), id, what).await?;
        respond!(answer, PayOrderResponse)
    }

    async fn cancel_order(
        &self,
        request: Request<CancelOrderRequest>,
    ) -> Result<Response<CancelOrderResponse>, Status> {
        let caller = Caller::of(&request)?.clone();
        let key = Key::from_request(&request)?;
        let request = request.into_inner();
        let refund = convert::amount("refundAmount", request.refund_amount.as_deref())?;
        let what = (refund, convert::reason(request.reason)?);
        let id = order_id(&request.id)?;
        let answer = self.0.cancel(&caller, key.as_ref(), id, what).await?;
        respond!(answer, CancelOrderResponse)
    }

    async fn fulfill_order(
        &self,
        request: Request<FulfillOrderRequest>,
    ) -> Result<Response<FulfillOrderResponse>, Status> {
        let caller = Caller::of(&request)?.clone();
        let key = Key::from_request(&request)?;
        let request = request.get_ref();
        let tracking_id = tracking(request.tracking_id.as_deref())?;
        let (id, what) = (order_id(&request.id)?, (Direction::Fulfill, Units::Order));
        let moved = self
            .0
            .move_units(&caller, key.as_ref(), id, what, tracking_id);
        respond!(moved.await?, FulfillOrderResponse)
    }

    async fn unfulfill_order(
        &self,
        request: Request<UnfulfillOrderRequest>,
    ) -> Result<Response<UnfulfillOrderResponse>, Status> {
        let caller = Caller::of(&request)?.clone();
        let key = Key::from_request(&request)?;
        let id = order_id(&request.get_ref().id)?;
        let what = (Direction::Unfulfill, Units::Order);
        let moved = self.0.move_units(&caller, key.as_ref(), id, what, None);
        respond!(moved.await?, UnfulfillOrderResponse)
    }
}
