//! The lists of orders-svc.

use super::{Class, Field, Include, ListTable, asc};

/// `GET /orders`.
pub const ORDERS: ListTable = ListTable::new(
    "orders",
    &[
        Field::new("amount", Class::Money).sortable(),
        Field::new("assetCode", Class::CaselessCode),
        Field::new("bonus", Class::Money),
        Field::new("canceledAt", Class::Time).sort_only().nullable(),
        Field::new("createdAt", Class::Time).sortable(),
        Field::new("fulfilledAt", Class::Time).sortable().nullable(),
        Field::new("hideDrafts", Class::Flag),
        Field::new(
            "orderStatus",
            Class::Enum(&["draft", "unfulfilled", "fulfilled", "canceled"]),
        ),
        Field::new("paidAmount", Class::Money),
        Field::new("paidAt", Class::Time).sortable().nullable(),
        Field::new(
            "paymentStatus",
            Class::Enum(&[
                "unpaid",
                "paid",
                "fully_paid",
                "partially_refunded",
                "fully_refunded",
            ]),
        ),
        Field::new("reference", Class::Code),
        Field::new("trackingId", Class::Id).nullable(),
        Field::new("updatedAt", Class::Time),
        Field::new("userId", Class::Id),
    ],
)
.including(&[Include::new("lines").up_to(100)]);

/// `GET /orders/:id/payments`.
pub const ORDER_PAYMENTS: ListTable = ListTable::new(
    "order_payments",
    &[
        Field::new("amount", Class::Money).sortable(),
        Field::new("assetCode", Class::CaselessCode),
        Field::new("createdAt", Class::Time).sortable(),
        Field::new("type", Class::Enum(&["payment", "refund"])),
        Field::new("walletId", Class::Id),
    ],
);

/// `GET /orders/:id/history`, oldest first.
pub const ORDER_HISTORY: ListTable = ListTable::new(
    "order_history",
    &[
        Field::new(
            "action",
            Class::Enum(&[
                "created",
                "payment_received",
                "paid",
                "refunded",
                "canceled",
                "fulfilled",
                "unfulfilled",
                "updated",
                "note",
            ]),
        ),
        Field::new("createdAt", Class::Time),
        Field::new("sequence", Class::Number).hidden(),
    ],
)
.sorted_by(&[asc("sequence")]);

/// `GET /orders/:orderId/lines`, in the order of the cart.
pub const ORDER_LINES: ListTable = ListTable::new(
    "order_lines",
    &[
        Field::new("assetCode", Class::CaselessCode),
        Field::new("createdAt", Class::Time).sortable(),
        Field::new("fulfilledAt", Class::Time).sortable().nullable(),
        Field::new("fulfilledQuantity", Class::Number),
        Field::new("position", Class::Number).hidden(),
        Field::new("quantity", Class::Number),
        Field::new(
            "status",
            Class::Enum(&[
                "unfulfilled",
                "partially_fulfilled",
                "fulfilled",
                "canceled",
            ]),
        ),
        Field::new("unitPrice", Class::Money),
        Field::new("updatedAt", Class::Time),
    ],
)
.sorted_by(&[asc("position")])
.including(&[Include::new("product")]);
