//! Orders and their lines.

use proto::lists::orders as lists;

use super::route::{Route, get, patch, post};
use crate::{
    access::Access::{Admin, User},
    resources::{
        order_lines::{self, OrderLine, OrderLineDetail, Units},
        orders::{self, Cancellation, Fulfilment, NewOrder, Order, OrderPatch, Payment, Refund},
    },
};

/// Users place, pay and read their own orders; back offices fulfill and cancel them.
pub(super) fn routes() -> Vec<Route> {
    let mut routes = order_routes();
    routes.extend(order_line_routes());
    routes
}

fn order_routes() -> Vec<Route> {
    vec![
        get("/orders", User, orders::list).page::<Order>(&lists::ORDERS),
        get("/orders/{id}", User, orders::get)
            .response::<Order>()
            .includes(&lists::ORDERS),
        post("/orders", User, orders::create)
            .body::<NewOrder>()
            .created::<Order>(),
        patch("/orders/{id}", Admin, orders::update)
            .body::<OrderPatch>()
            .response::<Order>(),
        patch("/order/{id}", Admin, orders::update)
            .body::<OrderPatch>()
            .response::<Order>()
            .alias_of("/orders/{id}"),
        post("/orders/{id}/cancel", Admin, orders::cancel)
            .body::<Cancellation>()
            .response::<Order>(),
        // Used by the public client libraries, with a body; one without is a slip.
        post("/orders/{id}", Admin, orders::cancel_by_client)
            .body::<Cancellation>()
            .needs_body()
            .response::<Order>()
            .alias_of("/orders/{id}/cancel"),
        post("/orders/{id}/refund", Admin, orders::refund)
            .body::<Refund>()
            .response::<Order>(),
        post("/orders/{id}/fulfill", Admin, orders::fulfill)
            .body::<Fulfilment>()
            .response::<Order>(),
        post("/orders/{id}/unfulfill", Admin, orders::unfulfill).response::<Order>(),
        post("/orders/{id}/pay", User, orders::pay)
            .body::<Payment>()
            .response::<Order>(),
    ]
}

fn order_line_routes() -> Vec<Route> {
    vec![
        get("/orders/{orderId}/lines", User, order_lines::list)
            .page::<OrderLine>(&lists::ORDER_LINES),
        get("/orders/{orderId}/lines/{id}", User, order_lines::get)
            .response::<OrderLineDetail>()
            .includes(&lists::ORDER_LINES),
        post(
            "/orders/{orderId}/lines/{id}/fulfill",
            Admin,
            order_lines::fulfill,
        )
        .body::<Units>()
        .response::<Order>(),
        post(
            "/orders/{orderId}/lines/{id}/unfulfill",
            Admin,
            order_lines::unfulfill,
        )
        .body::<Units>()
        .response::<Order>(),
    ]
}
