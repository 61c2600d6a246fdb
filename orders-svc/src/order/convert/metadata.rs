//! Encodes the `metadata` of orders and lines, so that nobody has to compute what it holds.

use platform::money::Amount;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::order::model::{DeliveryMethod, Line, Order, TaxSum};

/// The JSON of an order's `metadata`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Metadata<'a> {
    delivery_method: Option<&'static str>,
    shipping_amount: Amount,
    taxes_amount: Amount,
    taxes: &'a [TaxSum],
    #[serde(skip_serializing_if = "Option::is_none")]
    shipping_address_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chosen_payment_method: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_notes: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bonus_skipped: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bonus_shortfall: Option<Amount>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cancel_reason: Option<&'a RawValue>,
}

/// The JSON of a line's `metadata`: amounts of all of its units.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LineMetadata<'a> {
    /// With tax.
    amount: Amount,
    amount_without_taxes: Amount,
    taxes_amount: Amount,
    bonus: Amount,
    refunded_quantity: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    product_questions_result: Option<&'a RawValue>,
}

/// Encodes the metadata of an order.
pub(super) fn of_order(order: &Order) -> String {
    let reason = order.cancel_reason.as_deref();
    let metadata = Metadata {
        delivery_method: order.delivery_method.map(DeliveryMethod::as_str),
        shipping_amount: order.shipping_amount,
        taxes_amount: order.taxes_amount,
        taxes: &order.taxes,
        shipping_address_id: order.shipping_address_id.as_deref(),
        chosen_payment_method: order.chosen_payment_method.as_deref(),
        user_notes: order.user_notes.as_deref(),
        bonus_skipped: order.bonus_skipped.as_deref(),
        bonus_shortfall: order.bonus_owed,
        cancel_reason: reason.and_then(|json| serde_json::from_str(json).ok()),
    };
    serde_json::to_string(&metadata).expect("texts and amounts make JSON")
}

/// Encodes the metadata of a line.
pub(super) fn of_line(line: &Line) -> String {
    let in_range = "the sums of all lines were in range when the order was created";
    let answers = line.answers.as_deref();
    let metadata = LineMetadata {
        amount: line.total().expect(in_range),
        amount_without_taxes: line.total_without_taxes().expect(in_range),
        taxes_amount: line.taxes().expect(in_range),
        bonus: line.bonus().expect(in_range),
        refunded_quantity: line.refunded_quantity,
        product_questions_result: answers.and_then(|json| serde_json::from_str(json).ok()),
    };
    serde_json::to_string(&metadata).expect("JSON text makes JSON")
}
