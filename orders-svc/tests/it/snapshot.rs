//! Reads of an order and its lines while another transaction changes both.

use platform::{pg, testing::eventually};
use proto::{
    common::v1::ListRequest,
    orders::v1::{Order, OrderLineStatus, OrderStatus},
};
use sqlx::PgPool;

use crate::harness::{TIMEOUT, TestApp};

impl TestApp {
    /// Reads while the lines are locked, and fulfils all orders once the read waits for them.
    async fn read_during_fulfilment<T>(&self, read: impl Future<Output = T>) -> T {
        let mut tx = pg::tx(&self.pool).await.unwrap();
        sqlx::query("lock table orders.order_lines in access exclusive mode")
            .execute(&mut *tx)
            .await
            .unwrap();
        let fulfil = async {
            eventually("the read waits for the lines", TIMEOUT, async || {
                self.waits_for_lines().await
            })
            .await;
            sqlx::raw_sql(
                "update orders.orders set order_status = 'fulfilled', fulfilled_at = now();
                 update orders.order_lines
                 set status = 'fulfilled', fulfilled_quantity = quantity, fulfilled_at = now();",
            )
            .execute(&mut *tx)
            .await
            .unwrap();
            tx.commit().await.unwrap();
        };
        let (read, ()) = tokio::join!(read, fulfil);
        read
    }

    async fn waits_for_lines(&self) -> bool {
        sqlx::query_scalar(
            "select exists (
                 select from pg_locks
                 where not granted and relation = 'orders.order_lines'::regclass
                     and database = (select oid from pg_database
                                     where datname = current_database()))",
        )
        .fetch_one(&self.pool)
        .await
        .unwrap()
    }
}

#[track_caller]
fn assert_unfulfilled(order: &Order) {
    assert_eq!(order.order_status(), OrderStatus::Unfulfilled);
    assert_eq!(order.lines.len(), 1);
    assert_eq!(order.lines[0].status(), OrderLineStatus::Unfulfilled);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn an_order_and_its_lines_are_one_snapshot(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.unpaid_order("10.00").await.id;
    let admin = app.admin();
    let order = app.read_during_fulfilment(admin.get(&id)).await.unwrap();
    assert_unfulfilled(&order);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_list_and_its_lines_are_one_snapshot(pool: PgPool) {
    let app = TestApp::start(pool).await;
    app.unpaid_order("10.00").await;
    let admin = app.admin();
    let with_lines = ListRequest {
        include: vec!["lines".into()],
        ..ListRequest::default()
    };
    let list = app.read_during_fulfilment(admin.list(with_lines)).await;
    assert_unfulfilled(&list.unwrap().orders[0]);
}
