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
        )
        .does("order.created"),
        owners(
            "OrderService/PayOrder",
            "orders that they bought, from their wallets",
        )
        .does("order.paid"),
        admins("OrderService/UpdateOrder").does("order.updated"),
        admins("OrderService/CancelOrder").does("order.canceled"),
        admins("OrderService/RefundOrder").does("order.refunded"),
        admins("OrderService/FulfillOrder").does("order.fulfilled"),
        admins("OrderService/UnfulfillOrder").does("order.unfulfilled"),
        owners(
            "OrderHistoryService/ListOrderPayments",
            "payments of orders that they bought",
        ),
        owners(
            "OrderHistoryService/ListOrderHistory",
            "orders that they bought, without notes",
        ),
        owners(
            "OrderHistoryService/GetOrderReceipt",
            "receipts of orders that they bought",
        ),
        admins("OrderHistoryService/CreateOrderNote").does("order.noted"),
        owners(
            "OrderLineService/GetOrderLine",
            "lines of orders that they bought",
        ),
        owners(
            "OrderLineService/ListOrderLines",
            "lines of orders that they bought",
        ),
        admins("OrderLineFulfilmentService/FulfillOrderLine").does("order.fulfilled"),
        admins("OrderLineFulfilmentService/UnfulfillOrderLine").does("order.unfulfilled"),
    ],
};
