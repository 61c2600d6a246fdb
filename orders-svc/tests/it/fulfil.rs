//! Handing units over, and the little that can be written.

use platform::error::Failure;
use proto::orders::v1::{
    FulfillOrderLineRequest, FulfillOrderRequest, Order, OrderLineStatus, OrderStatus,
    UnfulfillOrderLineRequest, UnfulfillOrderRequest, UpdateOrderRequest,
};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::bed::{Bed, new_id, order, refused};

impl Bed {
    async fn fulfill_line(
        &self,
        order_id: &str,
        id: &str,
        quantity: Option<u32>,
    ) -> Result<Order, Failure> {
        let (order_id, id) = (order_id.to_owned(), id.to_owned());
        let request = FulfillOrderLineRequest {
            order_id,
            id,
            quantity,
        };
        let request = self.admin(request);
        let answer = self.fulfilment().fulfill_order_line(request).await;
        order(answer, |answer| answer.order)
    }

    async fn unfulfill_line(
        &self,
        order_id: &str,
        id: &str,
        quantity: Option<u32>,
    ) -> Result<Order, Failure> {
        let (order_id, id) = (order_id.to_owned(), id.to_owned());
        let request = UnfulfillOrderLineRequest {
            order_id,
            id,
            quantity,
        };
        let request = self.admin(request);
        let answer = self.fulfilment().unfulfill_order_line(request).await;
        order(answer, |answer| answer.order)
    }

    async fn fulfill(&self, id: &str, tracking_id: Option<&str>) -> Result<Order, Failure> {
        let request = FulfillOrderRequest {
            id: id.to_owned(),
            tracking_id: tracking_id.map(str::to_owned),
        };
        let answer = self.orders().fulfill_order(self.admin(request)).await;
        order(answer, |answer| answer.order)
    }

    async fn unfulfill(&self, id: &str) -> Result<Order, Failure> {
        let request = UnfulfillOrderRequest { id: id.to_owned() };
        let answer = self.orders().unfulfill_order(self.admin(request)).await;
        order(answer, |answer| answer.order)
    }

    async fn track(&self, id: &str, tracking_id: Option<&str>) -> Result<Order, Failure> {
        let request = UpdateOrderRequest {
            id: id.to_owned(),
            tracking_id: tracking_id.map(str::to_owned),
            update_mask: Some(prost_types::FieldMask {
                paths: vec!["tracking_id".into()],
            }),
        };
        let answer = self.orders().update_order(self.admin(request)).await;
        order(answer, |answer| answer.order)
    }
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn units_have_bounds_and_the_order_follows(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    let product = bed.add_product("1.00", "0", "0");
    let cart = bed.cart(&[(&product, 2), (&product, 1)]);
    let placed = bed.create(cart).await.unwrap();
    let (id, first, second) = (&placed.id, &placed.lines[0].id, &placed.lines[1].id);

    for bad in [3, 0] {
        let answer = refused(bed.fulfill_line(id, first, Some(bad)).await);
        assert_eq!(
            answer,
            ("validation_failed".into(), vec!["quantity".into()])
        );
    }
    let part = bed.fulfill_line(id, first, Some(1)).await.unwrap();
    assert_eq!(part.lines[0].status(), OrderLineStatus::PartiallyFulfilled);
    let whole = bed.fulfill_line(id, first, None).await.unwrap();
    assert_eq!(whole.lines[0].status(), OrderLineStatus::Fulfilled);
    assert!(whole.lines[0].fulfilled_at.is_some() && whole.fulfilled_at.is_none());
    assert_eq!(
        refused(bed.fulfill_line(id, first, Some(1)).await).0,
        "validation_failed"
    );
    // Nothing left, nothing asked for: nothing changes.
    assert_eq!(bed.fulfill_line(id, first, None).await.unwrap(), whole);

    let done = bed.fulfill_line(id, second, Some(1)).await.unwrap();
    assert_eq!(done.order_status(), OrderStatus::Fulfilled);
    assert!(done.fulfilled_at.is_some());
    let over = refused(bed.unfulfill_line(id, second, Some(2)).await);
    assert_eq!(over.0, "validation_failed");
    let undone = bed.unfulfill_line(id, second, None).await.unwrap();
    assert_eq!(
        (undone.order_status(), undone.fulfilled_at),
        (OrderStatus::Unfulfilled, None)
    );
    assert_eq!(undone.lines[1].fulfilled_quantity, 0);
    let events = bed.events(id).await;
    assert_eq!(
        events,
        ["OrderPlaced", "OrderFulfilled", "OrderUnfulfilled"]
    );
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn whole_orders_go_and_come_back(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    let id = bed.place("1.00").await.id;
    bed.world.state().products.clear();
    let tracking_id = new_id();
    let done = bed.fulfill(&id, Some(&tracking_id)).await.unwrap();
    assert_eq!(done.order_status(), OrderStatus::Fulfilled);
    assert_eq!(done.tracking_id, Some(tracking_id));
    assert_eq!(bed.fulfill(&id, None).await.unwrap(), done);
    let undone = bed.unfulfill(&id).await.unwrap();
    assert_eq!(
        (undone.order_status(), undone.lines[0].fulfilled_quantity),
        (OrderStatus::Unfulfilled, 0)
    );
    assert_eq!(bed.get(&id).await, undone);

    let bad = refused(bed.fulfill(&id, Some("x")).await);
    assert_eq!(bad, ("validation_failed".into(), vec!["trackingId".into()]));
    let stranger = bed.fulfill_line(&id, &new_id(), None).await;
    assert_eq!(refused(stranger).0, "order_line_not_found");
    bed.cancel(&id, None).await.unwrap();
    for answer in [
        bed.fulfill(&id, None).await,
        bed.unfulfill(&id).await,
        bed.fulfill_line(&id, &undone.lines[0].id, None).await,
    ] {
        assert_eq!(refused(answer).0, "invalid_state");
    }
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn the_tracking_id_is_written_and_cleared(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    let placed = bed.place("1.00").await;
    let tracking_id = new_id();
    let tracked = bed
        .track(&placed.id, Some(&tracking_id.to_uppercase()))
        .await
        .unwrap();
    assert_eq!(tracked.tracking_id.as_ref(), Some(&tracking_id));
    assert_eq!(
        bed.track(&placed.id, Some(&tracking_id)).await.unwrap(),
        tracked
    );
    assert_eq!(bed.track(&placed.id, None).await.unwrap().tracking_id, None);
    assert_eq!(
        refused(bed.track(&placed.id, Some("x")).await).0,
        "validation_failed"
    );
    assert_eq!(
        refused(bed.track(&new_id(), None).await).0,
        "order_not_found"
    );
}
