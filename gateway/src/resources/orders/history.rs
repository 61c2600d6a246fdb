//! `/orders/:id/payments`, `/orders/:id/history` and `/orders/:id/notes`

use proto::orders::v1::{
    self as wire, CreateOrderNoteRequest, ListOrderHistoryRequest, ListOrderPaymentsRequest,
    OrderStatus, PaymentStatus,
};
use serde::{Deserialize, Serialize};

use super::id;
use crate::{
    extract::{Call, Json, ListParams, OrderNoteText, PathParams, TextOrList},
    resources::{
        dto::{self, Raw, Time},
        result::{self, DataResult, ListResult, Located},
    },
};

/// A transaction that paid an order, or that gave a payment back.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OrderPayment {
    transaction_id: String,
    order_id: String,
    /// `payment` or `refund`.
    pub(super) r#type: String,
    pub(super) amount: String,
    pub(super) asset_code: String,
    /// The value in the order's asset.
    order_amount: String,
    /// The wallet that paid, or was refunded.
    wallet_id: String,
    /// Whether it is the part of `useBonus`.
    pub(super) bonus: bool,
    /// What was refunded of a payment; `null` of a refund.
    refunded_amount: Option<String>,
    /// The transaction of the payment that a refund gives back.
    payment_id: Option<String>,
    /// Transactions of one refund have the same.
    refund_id: Option<String>,
    /// Text or a list.
    #[schema(value_type = Option<TextOrList>)]
    pub(super) reason: Option<Raw>,
    pub(super) created_at: Option<Time>,
}

/// A change of an order, or a note.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OrderHistoryEntry {
    id: String,
    order_id: String,
    /// `created`, `payment_received`, `paid`, `refunded`, `canceled`, `fulfilled`, `unfulfilled`, `updated`
    /// or `note`.
    action: String,
    /// `user:<id>`, `key:<id>` or `service:<name>`; for users `staff` or `system`, unless it is themselves.
    actor: String,
    /// `null` where the order did not exist.
    from_order_status: Option<String>,
    order_status: String,
    /// `null` where the order did not exist.
    from_payment_status: Option<String>,
    payment_status: String,
    /// What was paid or refunded.
    amount: Option<String>,
    asset_code: String,
    /// Text or a list.
    #[schema(value_type = Option<TextOrList>)]
    reason: Option<Raw>,
    /// The text of a note.
    note: Option<String>,
    /// `lines` with `lineId` and `quantity`, `fields`, `transactionIds`, where there are any.
    details: Raw,
    created_at: Option<Time>,
}

/// A note on an order, for admins.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OrderNote {
    /// 1 to 10 000 characters.
    text: OrderNoteText,
}

/// List the payments and refunds of an order.
///
/// One for each transaction.
pub(crate) async fn list_payments(
    call: Call,
    path: PathParams,
    ListParams(list): ListParams,
) -> ListResult<OrderPayment> {
    let request = call.request(ListOrderPaymentsRequest {
        order_id: id(&path)?,
        list: Some(list),
    });
    let mut history = call.clients.order_history();
    result::list(history.list_order_payments(request), |response| {
        (response.payments, response.page)
    })
    .await
}

/// List what happened to an order.
///
/// The oldest first. A user sees neither notes nor which admin acted.
pub(crate) async fn list_history(
    call: Call,
    path: PathParams,
    ListParams(list): ListParams,
) -> ListResult<OrderHistoryEntry> {
    let request = call.request(ListOrderHistoryRequest {
        order_id: id(&path)?,
        list: Some(list),
    });
    let mut history = call.clients.order_history();
    result::list(history.list_order_history(request), |response| {
        (response.entries, response.page)
    })
    .await
}

/// Add a note to the history of an order.
pub(crate) async fn create_note(
    call: Call,
    path: PathParams,
    Json(body): Json<OrderNote>,
) -> DataResult<OrderHistoryEntry> {
    let request = call.request(CreateOrderNoteRequest {
        order_id: id(&path)?,
        text: body.text.into(),
    });
    let mut history = call.clients.order_history();
    result::created(history.create_order_note(request), |response| {
        response.entry
    })
    .await
}

impl Located for OrderHistoryEntry {
    fn location(&self) -> String {
        format!("/orders/{}/history", self.order_id)
    }
}

impl From<wire::OrderPayment> for OrderPayment {
    fn from(payment: wire::OrderPayment) -> Self {
        Self {
            r#type: dto::text(payment.r#type().as_str_name(), "ORDER_PAYMENT_TYPE_"),
            transaction_id: payment.transaction_id,
            order_id: payment.order_id,
            amount: payment.amount,
            asset_code: payment.asset_code,
            order_amount: payment.order_amount,
            wallet_id: payment.wallet_id,
            bonus: payment.bonus,
            refunded_amount: payment.refunded_amount,
            payment_id: payment.payment_id,
            refund_id: payment.refund_id,
            reason: payment.reason.map(Raw::text_or_list),
            created_at: Time::of(payment.created_at),
        }
    }
}

impl From<wire::OrderHistoryEntry> for OrderHistoryEntry {
    fn from(entry: wire::OrderHistoryEntry) -> Self {
        let (from_order, from_payment) = (entry.from_order_status(), entry.from_payment_status());
        Self {
            from_order_status: (from_order != OrderStatus::Unspecified)
                .then(|| dto::text(from_order.as_str_name(), "ORDER_STATUS_")),
            order_status: dto::text(entry.order_status().as_str_name(), "ORDER_STATUS_"),
            from_payment_status: (from_payment != PaymentStatus::Unspecified)
                .then(|| dto::text(from_payment.as_str_name(), "PAYMENT_STATUS_")),
            payment_status: dto::text(entry.payment_status().as_str_name(), "PAYMENT_STATUS_"),
            id: entry.id,
            order_id: entry.order_id,
            action: entry.action,
            actor: entry.actor,
            amount: entry.amount,
            asset_code: entry.asset_code,
            reason: entry.reason.map(Raw::text_or_list),
            note: entry.note,
            details: Raw::of(entry.details),
            created_at: Time::of(entry.created_at),
        }
    }
}
