//! A client of the three gRPC services, with the rights of one caller.

mod history;

use std::{
    cell::{Cell, RefCell},
    time::Duration,
};

use platform::{
    auth::Caller,
    error::Failure,
    grpc::precondition::{IF_VERSION, Versions},
    idempotency::{HASH, KEY, PATH, is_replay},
};
use prost_types::FieldMask;
use proto::{
    common::v1::ListRequest,
    orders::v1::{
        CancelOrderRequest, CreateOrderRequest, FulfillOrderLineRequest, FulfillOrderRequest,
        GetOrderLineRequest, GetOrderRequest, ListOrderLinesRequest, ListOrderLinesResponse,
        ListOrdersRequest, ListOrdersResponse, Order, OrderLine, OrderUser, PayOrderRequest,
        RefundOrderRequest, RefundedLine, UnfulfillOrderLineRequest, UnfulfillOrderRequest,
        UpdateOrderRequest, order_line_fulfilment_service_client::OrderLineFulfilmentServiceClient,
        order_line_service_client::OrderLineServiceClient,
        order_service_client::OrderServiceClient,
    },
};
use tonic::{Request, Response, Status, transport::Channel};

use crate::harness::TestApp;

type Result<T> = std::result::Result<T, Failure>;

pub(crate) struct Client<'a> {
    app: &'a TestApp,
    caller: Option<Caller>,
    key: RefCell<Option<Key>>,
    if_version: Option<Versions>,
    replayed: Cell<bool>,
    shown_user: RefCell<Option<OrderUser>>,
    timeout: Option<Duration>,
    /// `None`: the newest process.
    channel: Option<Channel>,
}

#[derive(Clone)]
struct Key {
    key: String,
    hash: String,
}

impl<'a> Client<'a> {
    pub(crate) fn new(app: &'a TestApp, caller: Option<Caller>) -> Self {
        Self {
            app,
            caller,
            key: RefCell::default(),
            if_version: None,
            replayed: Cell::new(false),
            shown_user: RefCell::default(),
            timeout: None,
            channel: None,
        }
    }

    /// Calls the process behind this channel.
    pub(crate) fn through(mut self, channel: Channel) -> Self {
        self.channel = Some(channel);
        self
    }

    fn channel(&self) -> Channel {
        self.channel.clone().unwrap_or_else(|| self.app.channel())
    }

    /// Sends this idempotency key with every request.
    pub(crate) fn with_key(self, key: &str) -> Self {
        self.with_key_of_body(key, "00")
    }

    /// Sends this idempotency key and hash of the body with every request.
    pub(crate) fn with_key_of_body(self, key: &str, hash: &str) -> Self {
        let (key, hash) = (key.to_owned(), hash.to_owned());
        self.key.replace(Some(Key { key, hash }));
        self
    }

    /// Gives every request this much time.
    pub(crate) const fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Makes every change for this version only.
    pub(crate) fn only(mut self, version: i64) -> Self {
        self.if_version = Versions::new(vec![version]);
        self
    }

    /// Whether the last response was a replay.
    pub(crate) fn was_replayed(&self) -> bool {
        self.replayed.get()
    }

    /// The user in the last response with an order.
    pub(crate) fn shown_user(&self) -> Option<OrderUser> {
        self.shown_user.borrow().clone()
    }

    fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        if let Some(timeout) = self.timeout {
            request.set_timeout(timeout);
        }
        let metadata = request.metadata_mut();
        if let Some(caller) = &self.caller {
            let bearer = format!("Bearer {}", self.app.token(caller));
            metadata.insert("authorization", bearer.parse().unwrap());
        }
        if let Some(versions) = &self.if_version {
            metadata.insert(IF_VERSION, versions.metadata());
        }
        if let Some(Key { key, hash }) = &*self.key.borrow() {
            for (name, value) in [(KEY, key.as_str()), (PATH, "POST /orders"), (HASH, hash)] {
                metadata.insert(name, value.parse().unwrap());
            }
        }
        request
    }

    fn message<T>(&self, response: std::result::Result<Response<T>, Status>) -> Result<T> {
        let response = response.map_err(|status| Failure::from_status(&status))?;
        self.replayed.set(is_replay(response.metadata()));
        Ok(response.into_inner())
    }

    /// Takes the user out of an order, so that reads and changes return the same.
    fn order(&self, order: Option<Order>) -> Order {
        let mut order = order.unwrap();
        self.shown_user.replace(order.user.take());
        order
    }

    fn orders(&self) -> OrderServiceClient<Channel> {
        // As platform's clients take messages.
        OrderServiceClient::new(self.channel()).max_decoding_message_size(32 * 1024 * 1024)
    }

    fn lines(&self) -> OrderLineServiceClient<Channel> {
        OrderLineServiceClient::new(self.channel())
    }

    fn fulfilment(&self) -> OrderLineFulfilmentServiceClient<Channel> {
        OrderLineFulfilmentServiceClient::new(self.channel())
    }

    pub(crate) async fn create(&self, cart: CreateOrderRequest) -> Result<Order> {
        let response = self.orders().create_order(self.request(cart)).await;
        Ok(self.order(self.message(response)?.order))
    }

    pub(crate) async fn get(&self, id: &str) -> Result<Order> {
        let request = self.request(GetOrderRequest { id: id.to_owned() });
        let response = self.orders().get_order(request).await;
        Ok(self.order(self.message(response)?.order))
    }

    pub(crate) async fn list(&self, list: ListRequest) -> Result<ListOrdersResponse> {
        let request = self.request(ListOrdersRequest { list: Some(list) });
        let response = self.orders().list_orders(request).await;
        self.message(response)
    }

    /// Writes the tracking id, or clears it.
    pub(crate) async fn track(&self, id: &str, tracking_id: Option<&str>) -> Result<Order> {
        self.update(UpdateOrderRequest {
            id: id.to_owned(),
            tracking_id: tracking_id.map(str::to_owned),
            update_mask: Some(FieldMask {
                paths: vec!["tracking_id".into()],
            }),
        })
        .await
    }

    pub(crate) async fn update(&self, request: UpdateOrderRequest) -> Result<Order> {
        let response = self.orders().update_order(self.request(request)).await;
        Ok(self.order(self.message(response)?.order))
    }

    /// Pays from the primary wallet.
    pub(crate) async fn pay(&self, id: &str, amount: Option<&str>) -> Result<Order> {
        self.pay_order(PayOrderRequest {
            id: id.to_owned(),
            amount: amount.map(str::to_owned),
            wallet_id: None,
        })
        .await
    }

    /// Pays everything that is unpaid from this wallet.
    pub(crate) async fn pay_from(&self, id: &str, wallet_id: &str) -> Result<Order> {
        self.pay_order(PayOrderRequest {
            id: id.to_owned(),
            amount: None,
            wallet_id: Some(wallet_id.to_owned()),
        })
        .await
    }

    pub(crate) async fn pay_order(&self, request: PayOrderRequest) -> Result<Order> {
        let response = self.orders().pay_order(self.request(request)).await;
        Ok(self.order(self.message(response)?.order))
    }

    pub(crate) async fn cancel(&self, id: &str, refund_amount: Option<&str>) -> Result<Order> {
        self.cancel_order(CancelOrderRequest {
            id: id.to_owned(),
            reason: None,
            refund_amount: refund_amount.map(str::to_owned),
        })
        .await
    }

    pub(crate) async fn cancel_order(&self, request: CancelOrderRequest) -> Result<Order> {
        let response = self.orders().cancel_order(self.request(request)).await;
        Ok(self.order(self.message(response)?.order))
    }

    /// Refunds an amount.
    pub(crate) async fn refund(&self, id: &str, amount: &str) -> Result<Order> {
        self.refund_order(RefundOrderRequest {
            id: id.to_owned(),
            amount: Some(amount.to_owned()),
            ..RefundOrderRequest::default()
        })
        .await
    }

    /// Refunds units of lines.
    pub(crate) async fn refund_lines(&self, id: &str, lines: &[(&str, u32)]) -> Result<Order> {
        let lines = lines.iter().map(|(line_id, quantity)| RefundedLine {
            line_id: (*line_id).to_owned(),
            quantity: *quantity,
        });
        self.refund_order(RefundOrderRequest {
            id: id.to_owned(),
            lines: lines.collect(),
            ..RefundOrderRequest::default()
        })
        .await
    }

    pub(crate) async fn refund_order(&self, request: RefundOrderRequest) -> Result<Order> {
        let response = self.orders().refund_order(self.request(request)).await;
        Ok(self.order(self.message(response)?.order))
    }

    pub(crate) async fn fulfil(&self, id: &str, tracking_id: Option<&str>) -> Result<Order> {
        let request = self.request(FulfillOrderRequest {
            id: id.to_owned(),
            tracking_id: tracking_id.map(str::to_owned),
        });
        let response = self.orders().fulfill_order(request).await;
        Ok(self.order(self.message(response)?.order))
    }

    pub(crate) async fn unfulfil(&self, id: &str) -> Result<Order> {
        let request = self.request(UnfulfillOrderRequest { id: id.to_owned() });
        let response = self.orders().unfulfill_order(request).await;
        Ok(self.order(self.message(response)?.order))
    }

    pub(crate) async fn get_line(&self, order_id: &str, id: &str) -> Result<OrderLine> {
        let request = self.request(GetOrderLineRequest {
            order_id: order_id.to_owned(),
            id: id.to_owned(),
        });
        let response = self.lines().get_order_line(request).await;
        Ok(self.message(response)?.line.unwrap())
    }

    pub(crate) async fn list_lines(
        &self,
        order_id: &str,
        list: ListRequest,
    ) -> Result<ListOrderLinesResponse> {
        let request = self.request(ListOrderLinesRequest {
            order_id: order_id.to_owned(),
            list: Some(list),
        });
        let response = self.lines().list_order_lines(request).await;
        self.message(response)
    }

    pub(crate) async fn fulfil_line(
        &self,
        order_id: &str,
        id: &str,
        quantity: Option<u32>,
    ) -> Result<Order> {
        let request = self.request(FulfillOrderLineRequest {
            order_id: order_id.to_owned(),
            id: id.to_owned(),
            quantity,
        });
        let response = self.fulfilment().fulfill_order_line(request).await;
        Ok(self.order(self.message(response)?.order))
    }

    pub(crate) async fn unfulfil_line(
        &self,
        order_id: &str,
        id: &str,
        quantity: Option<u32>,
    ) -> Result<Order> {
        let request = self.request(UnfulfillOrderLineRequest {
            order_id: order_id.to_owned(),
            id: id.to_owned(),
            quantity,
        });
        let response = self.fulfilment().unfulfill_order_line(request).await;
        Ok(self.order(self.message(response)?.order))
    }
}
