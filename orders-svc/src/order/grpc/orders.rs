//! `OrderService`.

use platform::grpc::{Call, precondition::Versions, respond};
use proto::orders::v1::{
    CancelOrderRequest, CancelOrderResponse, CreateOrderRequest, CreateOrderResponse,
    FulfillOrderRequest, FulfillOrderResponse, GetOrderRequest, GetOrderResponse,
    ListOrdersRequest, ListOrdersResponse, PayOrderRequest, PayOrderResponse, RefundOrderRequest,
    RefundOrderResponse, UnfulfillOrderRequest, UnfulfillOrderResponse, UpdateOrderRequest,
    UpdateOrderResponse, order_service_server::OrderService,
};
use tonic::{Request, Response, Status};

use crate::order::{
    convert,
    model::{FulfilOrder, FulfilmentDirection, Units},
    service::Orders,
};

#[derive(Debug, Clone)]
pub(crate) struct OrderGrpc(pub(crate) Orders);

#[tonic::async_trait]
impl OrderService for OrderGrpc {
    async fn create_order(
        &self,
        request: Request<CreateOrderRequest>,
    ) -> Result<Response<CreateOrderResponse>, Status> {
        let Call { caller, key, body } = Call::of(request)?;
        let dry_run = body.dry_run;
        let new = convert::new_order(body)?;
        let reply = self.0.create(&caller, key.as_ref(), new, dry_run).await?;
        Ok(respond(reply, |order| CreateOrderResponse {
            order: Some(order),
        }))
    }

    async fn get_order(
        &self,
        request: Request<GetOrderRequest>,
    ) -> Result<Response<GetOrderResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let id = convert::order_id(&body.id)?;
        let order = self.0.get(&caller, id).await?;
        let order = Some(convert::order(&order));
        Ok(Response::new(GetOrderResponse { order }))
    }

    async fn list_orders(
        &self,
        request: Request<ListOrdersRequest>,
    ) -> Result<Response<ListOrdersResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let list = body.list.unwrap_or_default();
        let page = self.0.list(&caller, &list).await?;
        let (orders, page) = page.encode(|order| convert::order(&order));
        let page = Some(page);
        Ok(Response::new(ListOrdersResponse { orders, page }))
    }

    async fn update_order(
        &self,
        request: Request<UpdateOrderRequest>,
    ) -> Result<Response<UpdateOrderResponse>, Status> {
        let if_version = Versions::of(&request)?;
        let Call { body, .. } = Call::of(request)?;
        let mask = body.update_mask.unwrap_or_default().paths;
        let tracking_id = convert::tracking_id_patch(body.tracking_id, &mask)?;
        let id = convert::order_id(&body.id)?;
        let order = self.0.update(id, tracking_id, if_version.as_ref()).await?;
        let order = Some(convert::order(&order));
        Ok(Response::new(UpdateOrderResponse { order }))
    }

    async fn pay_order(
        &self,
        request: Request<PayOrderRequest>,
    ) -> Result<Response<PayOrderResponse>, Status> {
        let Call { caller, key, body } = Call::of(request)?;
        let command = convert::pay_order(&body)?;
        let reply = self.0.pay(&caller, key.as_ref(), command).await?;
        Ok(respond(reply, |order| PayOrderResponse {
            order: Some(order),
        }))
    }

    async fn cancel_order(
        &self,
        request: Request<CancelOrderRequest>,
    ) -> Result<Response<CancelOrderResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let command = convert::cancel_order(body)?;
        let reply = self.0.cancel(key.as_ref(), command).await?;
        Ok(respond(reply, |order| CancelOrderResponse {
            order: Some(order),
        }))
    }

    async fn refund_order(
        &self,
        request: Request<RefundOrderRequest>,
    ) -> Result<Response<RefundOrderResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let command = convert::refund_order(body)?;
        let reply = self.0.refund(key.as_ref(), command).await?;
        Ok(respond(reply, |order| RefundOrderResponse {
            order: Some(order),
        }))
    }

    async fn fulfill_order(
        &self,
        request: Request<FulfillOrderRequest>,
    ) -> Result<Response<FulfillOrderResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let command = FulfilOrder {
            tracking_id: convert::tracking_id(body.tracking_id.as_deref())?,
            order_id: convert::order_id(&body.id)?,
            direction: FulfilmentDirection::Fulfill,
            units: Units::AllLines,
        };
        let reply = self.0.fulfil(key.as_ref(), command).await?;
        Ok(respond(reply, |order| FulfillOrderResponse {
            order: Some(order),
        }))
    }

    async fn unfulfill_order(
        &self,
        request: Request<UnfulfillOrderRequest>,
    ) -> Result<Response<UnfulfillOrderResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let command = FulfilOrder {
            order_id: convert::order_id(&body.id)?,
            direction: FulfilmentDirection::Unfulfill,
            units: Units::AllLines,
            tracking_id: None,
        };
        let reply = self.0.fulfil(key.as_ref(), command).await?;
        Ok(respond(reply, |order| UnfulfillOrderResponse {
            order: Some(order),
        }))
    }
}
