//! Access to orders-svc.

use super::{Table, admins, owners};

/// The access to the RPCs of orders-svc.
pub const TABLE: Table = Table {
    package: "guerdon.orders.v1",
    rows: &[
        owners("OrderService/GetOrder", "orders that they bought"),
        owners("OrderService/ListOrders", "orders that they bought"),
        owners(
            "OrderService/CreateOrder",
            "orders for themselves, paid from their wallets",
        ),
        owners(
            "OrderService/PayOrder",
            "orders that they bought, from their wallets",
        ),
        admins("OrderService/UpdateOrder"),
        admins("OrderService/CancelOrder"),
        admins("OrderService/FulfillOrder"),
        admins("OrderService/UnfulfillOrder"),
        owners(
            "OrderLineService/GetOrderLine",
            "lines of orders that they bought",
        ),
        owners(
            "OrderLineService/ListOrderLines",
            "lines of orders that they bought",
        ),
        admins("OrderLineFulfilmentService/FulfillOrderLine"),
        admins("OrderLineFulfilmentService/UnfulfillOrderLine"),
    ],
};
