//! What tests assert: refusals, states of orders, events, and that nothing is left in progress.

use std::fmt::Debug;

use platform::error::{Code, Failure};
use proto::orders::v1::{Order, OrderStatus, PaymentStatus};

use crate::harness::TestApp;

/// Asserts a refusal with this code that names these fields, in this order.
#[track_caller]
pub(crate) fn assert_refused<T: Debug>(
    result: Result<T, Failure>,
    code: Code,
    fields: &[&str],
) -> Failure {
    let failure = result.unwrap_err();
    let at: Vec<_> = failure.fields.iter().map(|at| at.field.as_str()).collect();
    assert_eq!(failure.code, code, "{failure}");
    assert_eq!(at, fields, "{failure}");
    failure
}

/// The state of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct State<'a> {
    pub(crate) order: OrderStatus,
    pub(crate) payment: PaymentStatus,
    pub(crate) paid_amount: &'a str,
}

impl<'a> State<'a> {
    pub(crate) fn of(order: &'a Order) -> Self {
        Self {
            order: order.order_status(),
            payment: order.payment_status(),
            paid_amount: &order.paid_amount,
        }
    }
}

impl TestApp {
    /// Names of the order's events, oldest first. Asserts that their versions have no gap.
    pub(crate) async fn events(&self, order_id: &str) -> Vec<String> {
        let events: Vec<(String, i64)> = sqlx::query_as(
            "select event_type, aggregate_version from orders.outbox
             where aggregate_id = $1::uuid order by position",
        )
        .bind(order_id)
        .fetch_all(&self.pool)
        .await
        .unwrap();
        (1..)
            .zip(events)
            .map(|(expected, (event_type, version))| {
                assert_eq!(version, expected, "version of {event_type}");
                let (_, name) = event_type.rsplit_once('.').unwrap();
                name.to_owned()
            })
            .collect()
    }

    /// The body of the order's newest event of this name.
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

    /// Asserts that no claim, idempotency record or draft is left in progress.
    pub(crate) async fn assert_settled(&self) {
        assert_eq!(self.count("claims").await, 0);
        let in_progress = self.count("idempotency_keys where response is null").await;
        assert_eq!(in_progress, 0);
        assert_eq!(self.count("orders where order_status = 'draft'").await, 0);
    }
}
