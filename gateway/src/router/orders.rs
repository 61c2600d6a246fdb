//! Orders and their lines.

use proto::lists::orders as lists;

use super::route::{Route, get, patch, post};
use crate::{
    access::Access::{Admin, User},
    resources::{
        order_lines::{self, OrderLine, OrderLineDetail, Units},
        orders::{
            self, Cancellation, Fulfilment, NewOrder, Order, OrderHistoryEntry, OrderNote,
            OrderPatch, OrderPayment, OrderReceipt, Payment, Refund,
        },
    },
};

/// Users place, pay and read their own orders; back offices fulfill and cancel them.
pub(super) fn routes() -> Vec<Route> {
    let mut routes = order_routes();
    routes.extend(order_history_routes());
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
            .response::<Order>()
            .versioned(),
        patch("/order/{id}", Admin, orders::update)
            .body::<OrderPatch>()
            .response::<Order>()
            .versioned()
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

fn order_history_routes() -> Vec<Route> {
    vec![
        get("/orders/{id}/payments", User, orders::list_payments)
            .page::<OrderPayment>(&lists::ORDER_PAYMENTS),
        get("/orders/{id}/history", User, orders::list_history)
            .page::<OrderHistoryEntry>(&lists::ORDER_HISTORY),
        get("/orders/{id}/receipt", User, orders::receipt)
            .printable::<OrderReceipt>()
            .query_param(
                "format",
                "`json`, `html` or `pdf`; default by `Accept`.",
                "pdf",
            ),
        post("/orders/{id}/notes", Admin, orders::create_note)
            .body::<OrderNote>()
            .created::<OrderHistoryEntry>(),
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
