//! Orders and their lines.

use proto::lists::orders as order_lists;

use super::route::{Route, get, patch, post};
use crate::{
    access::Access::{Admin, User},
    resources::{order_lines, orders},
};

/// Their routes.
pub(super) fn routes() -> Vec<Route> {
    use {order_lines as l, orders as o};
    vec![
        get("/orders", User, "List orders", o::list).page::<o::Order>(&order_lists::ORDERS),
        get("/orders/{id}", User, "Read an order with its lines", o::get).one::<o::Order>(),
        get(
            "/orders/{orderId}/lines",
            User,
            "List the lines of an order",
            l::list,
        )
        .page::<l::OrderLine>(&order_lists::ORDER_LINES),
        get(
            "/orders/{orderId}/lines/{id}",
            User,
            "Read a line with its order",
            l::get,
        )
        .one::<l::OrderLineDetail>(),
        post("/orders", User, "Place an order", o::create)
            .takes::<o::NewOrder>()
            .creates::<o::Order>(),
        patch("/orders/{id}", Admin, "Change an order", o::update)
            .takes::<o::OrderPatch>()
            .one::<o::Order>(),
        patch("/order/{id}", Admin, "Change an order (alias)", o::update)
            .takes::<o::OrderPatch>()
            .one::<o::Order>(),
        post(
            "/orders/{id}/cancel",
            Admin,
            "Cancel and refund an order",
            o::cancel,
        )
        .takes::<o::Cancellation>()
        .one::<o::Order>(),
        post(
            "/orders/{id}",
            Admin,
            "Cancel and refund an order (alias of older clients)",
            o::cancel,
        )
        .takes::<o::Cancellation>()
        .one::<o::Order>(),
        post(
            "/orders/{id}/fulfill",
            Admin,
            "Fulfil all that is left",
            o::fulfill,
        )
        .takes::<o::Fulfilment>()
        .one::<o::Order>(),
        post(
            "/orders/{id}/unfulfill",
            Admin,
            "Unfulfil an order",
            o::unfulfill,
        )
        .one::<o::Order>(),
        post(
            "/orders/{id}/pay",
            User,
            "Pay an order, or a part of it",
            o::pay,
        )
        .takes::<o::Payment>()
        .one::<o::Order>(),
        post(
            "/orders/{orderId}/lines/{id}/fulfill",
            Admin,
            "Fulfil units of a line",
            l::fulfill,
        )
        .takes::<l::Units>()
        .one::<o::Order>(),
        post(
            "/orders/{orderId}/lines/{id}/unfulfill",
            Admin,
            "Unfulfil units of a line",
            l::unfulfill,
        )
        .takes::<l::Units>()
        .one::<o::Order>(),
    ]
}
