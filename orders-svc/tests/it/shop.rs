//! Short words for what tests do with a [`Bed`] and look at.

use platform::error::Failure;
use proto::{
    catalog::v1::QuoteLine,
    identity::v1::User,
    orders::v1::{CancelOrderRequest, CreateOrderRequest, NewOrderLine, Order, PayOrderRequest},
    wallet::v1::Wallet,
};

use crate::bed::{Bed, new_id, order, quote};

impl Bed {
    /// A user that may buy, with an empty wallet.
    pub(crate) fn add_user(&self) -> User {
        let user = User {
            id: new_id(),
            approved: true,
            primary_wallet_id: new_id(),
            ..User::default()
        };
        self.add_wallet(&user.primary_wallet_id, &user.id);
        let mut state = self.world.state();
        state.users.insert(user.id.clone(), user.clone());
        user
    }

    pub(crate) fn add_wallet(&self, id: &str, owner_id: &str) {
        let wallet = Wallet {
            id: id.to_owned(),
            owner_id: Some(owner_id.to_owned()),
            ..Wallet::default()
        };
        self.world.state().wallets.insert(id.to_owned(), wallet);
    }

    /// A product that costs this much net, in usd.
    pub(crate) fn add_product(&self, price: &str, tax: &str, bonus: &str) -> String {
        self.add_quote(quote(price, tax, bonus))
    }

    pub(crate) fn add_quote(&self, mut quote: QuoteLine) -> String {
        let id = new_id();
        let product = quote.product.as_mut().unwrap();
        product.id.clone_from(&id);
        self.world.state().products.insert(id.clone(), quote);
        id
    }

    /// A cart of the bed's user.
    pub(crate) fn cart(&self, lines: &[(&str, u32)]) -> CreateOrderRequest {
        let line = |(product_id, quantity): &(&str, u32)| NewOrderLine {
            product_id: (*product_id).to_owned(),
            quantity: Some(*quantity),
            product_questions_result: None,
        };
        CreateOrderRequest {
            user_id: self.user.id.clone(),
            lines: lines.iter().map(line).collect(),
            ..CreateOrderRequest::default()
        }
    }

    /// An unpaid order of this amount, with a bonus of 3.00.
    pub(crate) async fn place(&self, price: &str) -> Order {
        let product = self.add_product(price, "0", "3.00");
        let cart = self.cart(&[(&product, 1)]);
        self.create(cart).await.unwrap()
    }

    pub(crate) async fn create(&self, cart: CreateOrderRequest) -> Result<Order, Failure> {
        let answer = self.orders().create_order(self.admin(cart)).await;
        order(answer, |answer| answer.order)
    }

    pub(crate) async fn get(&self, id: &str) -> Order {
        let request = proto::orders::v1::GetOrderRequest { id: id.to_owned() };
        let answer = self.orders().get_order(self.admin(request)).await;
        order(answer, |answer| answer.order).unwrap()
    }

    pub(crate) async fn pay(&self, id: &str, amount: Option<&str>) -> Result<Order, Failure> {
        let request = PayOrderRequest {
            id: id.to_owned(),
            amount: amount.map(str::to_owned),
            wallet_id: None,
        };
        let answer = self.orders().pay_order(self.admin(request)).await;
        order(answer, |answer| answer.order)
    }

    pub(crate) async fn cancel(&self, id: &str, refund: Option<&str>) -> Result<Order, Failure> {
        let request = CancelOrderRequest {
            id: id.to_owned(),
            reason: None,
            refund_amount: refund.map(str::to_owned),
        };
        let answer = self.orders().cancel_order(self.admin(request)).await;
        order(answer, |answer| answer.order)
    }

    /// What the buyer's primary wallet holds in usd.
    pub(crate) fn money(&self) -> String {
        self.world.balance(&self.user.primary_wallet_id, "usd")
    }

    /// The events about an order, in their order.
    pub(crate) async fn events(&self, order_id: &str) -> Vec<String> {
        let events: Vec<(String, i64)> = sqlx::query_as(
            "select event_type, aggregate_version from orders.outbox
             where aggregate_id = $1::uuid order by position",
        )
        .bind(order_id)
        .fetch_all(&self.pool)
        .await
        .unwrap();
        for (at, (_, version)) in (1..).zip(&events) {
            assert_eq!(*version, at, "versions have no hole");
        }
        let name = |(event, _): (String, i64)| event.rsplit('.').next().unwrap().to_owned();
        events.into_iter().map(name).collect()
    }

    /// The body of the newest event of this name about an order.
    pub(crate) async fn event<T: prost::Message + Default>(&self, order_id: &str, name: &str) -> T {
        let body: Vec<u8> = sqlx::query_scalar(
            "select body from orders.outbox where aggregate_id = $1::uuid and event_type = $2
             order by position desc limit 1",
        )
        .bind(order_id)
        .bind(format!("guerdon.orders.v1.{name}"))
        .fetch_one(&self.pool)
        .await
        .unwrap();
        T::decode(&*body).unwrap()
    }

    pub(crate) async fn count(&self, table: &str) -> i64 {
        let sql = sqlx::AssertSqlSafe(format!("select count(*) from orders.{table}"));
        sqlx::query_scalar(sql).fetch_one(&self.pool).await.unwrap()
    }

    /// Nothing is left under way.
    pub(crate) async fn assert_settled(&self) {
        assert_eq!(self.count("claims").await, 0);
        let in_progress = self.count("idempotency_keys where response is null").await;
        assert_eq!(in_progress, 0);
        assert_eq!(self.count("orders where order_status = 'draft'").await, 0);
    }
}
