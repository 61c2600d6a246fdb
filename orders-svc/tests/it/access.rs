//! Who may do what: a user its own orders, from its own wallets; the rest is admin's.

use platform::error::Failure;
use proto::orders::v1::{
    CancelOrderRequest, FulfillOrderRequest, GetOrderLineRequest, GetOrderRequest,
    ListOrderLinesRequest, ListOrdersRequest, PayOrderRequest, UpdateOrderRequest,
};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use tonic::{Response, Status};

use crate::bed::{Bed, as_user, new_id};

fn code<T: std::fmt::Debug>(answer: Result<Response<T>, Status>) -> String {
    let failure = Failure::from_status(&answer.unwrap_err());
    failure.code.as_str().to_owned()
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_user_does_what_its_own_orders_allow(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    let own = as_user(&bed.user);
    let product = bed.add_product("10.00", "0", "0");
    let request = bed.signed(&own, bed.cart(&[(&product, 1)]));
    let answer = bed.orders().create_order(request).await.unwrap();
    let id = answer.into_inner().order.unwrap().id;

    let foreign = new_id();
    bed.add_wallet(&foreign, &bed.add_user().id);
    bed.world.fund(&foreign, "usd", "10");
    let pay = |wallet_id: Option<String>| PayOrderRequest {
        id: id.clone(),
        amount: None,
        wallet_id,
    };
    let request = bed.signed(&own, pay(Some(foreign)));
    assert_eq!(
        code(bed.orders().pay_order(request).await),
        "validation_failed"
    );
    let purse = new_id();
    bed.add_wallet(&purse, &bed.user.id);
    bed.world.fund(&purse, "usd", "10");
    let request = bed.signed(&own, pay(Some(purse)));
    bed.orders().pay_order(request).await.unwrap();

    let cancel = CancelOrderRequest {
        id: id.clone(),
        ..CancelOrderRequest::default()
    };
    let request = bed.signed(&own, cancel);
    assert_eq!(code(bed.orders().cancel_order(request).await), "forbidden");
    let fulfill = FulfillOrderRequest {
        id: id.clone(),
        tracking_id: None,
    };
    let request = bed.signed(&own, fulfill);
    assert_eq!(code(bed.orders().fulfill_order(request).await), "forbidden");
    let update = UpdateOrderRequest {
        id,
        ..UpdateOrderRequest::default()
    };
    let request = bed.signed(&own, update);
    assert_eq!(code(bed.orders().update_order(request).await), "forbidden");
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn anothers_order_does_not_exist(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    let placed = bed.place("10.00").await;
    let id = placed.id.clone();
    let other = as_user(&bed.add_user());
    let get = GetOrderRequest { id: id.clone() };
    let request = bed.signed(&other, get);
    assert_eq!(
        code(bed.orders().get_order(request).await),
        "order_not_found"
    );
    let pay = PayOrderRequest {
        id: id.clone(),
        ..PayOrderRequest::default()
    };
    let request = bed.signed(&other, pay);
    assert_eq!(
        code(bed.orders().pay_order(request).await),
        "order_not_found"
    );
    let line = GetOrderLineRequest {
        order_id: id.clone(),
        id: placed.lines[0].id.clone(),
    };
    let request = bed.signed(&other, line);
    assert_eq!(
        code(bed.lines().get_order_line(request).await),
        "order_not_found"
    );
    let lines = ListOrderLinesRequest {
        order_id: id,
        list: None,
    };
    let request = bed.signed(&other, lines);
    assert_eq!(
        code(bed.lines().list_order_lines(request).await),
        "order_not_found"
    );
    let product = bed.add_product("10.00", "0", "0");
    let request = bed.signed(&other, bed.cart(&[(&product, 1)]));
    assert_eq!(
        code(bed.orders().create_order(request).await),
        "validation_failed"
    );

    for (caller, total) in [(other, 0), (as_user(&bed.user), 1)] {
        let request = bed.signed(&caller, ListOrdersRequest { list: None });
        let answer = bed
            .orders()
            .list_orders(request)
            .await
            .unwrap()
            .into_inner();
        assert_eq!(
            (answer.orders.len() as u64, answer.page.unwrap().total),
            (total, total)
        );
    }
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn nobody_gets_in_without_a_token(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    let answer = bed
        .orders()
        .list_orders(ListOrdersRequest { list: None })
        .await;
    assert_eq!(code(answer), "unauthenticated");
}
