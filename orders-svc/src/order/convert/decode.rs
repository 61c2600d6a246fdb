//! Decodes requests, and refuses malformed ones.

use std::collections::HashSet;

use platform::{
    error::{FieldCode, InvalidValue, Violations},
    ids::{Id, parse_uuid},
    money::Amount,
    patch::Patch,
    text,
};
use proto::orders::v1 as wire;
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::{
    error::Error,
    order::model::{
        CancelOrder, DeliveryMethod, LineId, LineUnits, NewLine, NewOrder, OrderId, PayOrder,
        ProductId, RefundOrder, RefundedPart, Units,
    },
};

/// Lines of a cart.
const MAX_LINES: usize = 200;
/// Units of a line.
const MAX_QUANTITY: u32 = 1_000_000;
/// Characters of a free text.
const MAX_TEXT: usize = 2_048;
/// Characters of a note.
const MAX_NOTE: usize = 10_000;

/// Decodes a cart, and reports all of its faults together.
pub(in crate::order) fn new_order(request: wire::CreateOrderRequest) -> Result<NewOrder, Error> {
    let mut violations = Violations::default();
    let delivery_method = delivery_method(request.delivery_method());
    check_delivery(&mut violations, &request, delivery_method);
    for (field, text) in [
        ("shippingAddressId", &request.shipping_address_id),
        ("chosenPaymentMethod", &request.chosen_payment_method),
        ("userNotes", &request.user_notes),
    ] {
        if let Some(text) = text {
            violations.value(field, text::check(text, 0..=MAX_TEXT));
        }
    }
    let custom_data = request.custom_data.unwrap_or_else(|| "{}".to_owned());
    violations.value("customData", text::check_object(&custom_data));
    let user_id = violations.value("userId", Id::parse(&request.user_id));
    let wallet_id = request
        .wallet_id
        .and_then(|id| violations.value("walletId", Id::parse(&id)));
    let lines = lines(&mut violations, &request.lines);
    violations.finish()?;
    Ok(NewOrder {
        user_id: user_id.ok_or_else(|| Error::internal("a missing id without a violation"))?,
        lines,
        delivery_method,
        shipping_address_id: request.shipping_address_id,
        chosen_payment_method: request.chosen_payment_method,
        user_notes: request.user_notes,
        custom_data,
        use_bonus: request.use_bonus,
        wallet_id,
    })
}

fn check_delivery(
    violations: &mut Violations,
    request: &wire::CreateOrderRequest,
    method: Option<DeliveryMethod>,
) {
    let address = request.shipping_address_id.as_deref();
    let missing = method == Some(DeliveryMethod::Shipping) && address.is_none_or(str::is_empty);
    violations.check(
        "shippingAddressId",
        !missing,
        FieldCode::Required,
        "is required with shipping",
    );
}

fn lines(violations: &mut Violations, lines: &[wire::NewOrderLine]) -> Vec<NewLine> {
    let fits = (1..=MAX_LINES).contains(&lines.len());
    violations.check("lines", fits, FieldCode::Length, "must hold 1 to 200 lines");
    lines
        .iter()
        .take(MAX_LINES)
        .enumerate()
        .filter_map(|(position, line)| new_line(violations, position, line))
        .collect()
}

fn new_line(
    violations: &mut Violations,
    position: usize,
    line: &wire::NewOrderLine,
) -> Option<NewLine> {
    let product_id = violations.value(
        &format!("lines[{position}].productId"),
        ProductId::parse(&line.product_id),
    );
    let quantity = violations.value(
        &format!("lines[{position}].quantity"),
        quantity(line.quantity.unwrap_or(1), MAX_QUANTITY),
    );
    if let Some(answers) = &line.product_questions_result {
        let field = format!("lines[{position}].productQuestionsResult");
        violations.value(&field, text::check_object(answers));
    }
    Some(NewLine {
        product_id: product_id?,
        quantity: quantity?,
        answers: line.product_questions_result.clone(),
    })
}

fn quantity(quantity: u32, max: u32) -> Result<i32, InvalidValue> {
    i32::try_from(quantity)
        .ok()
        .filter(|_| (1..=max).contains(&quantity))
        .ok_or_else(|| InvalidValue::new(FieldCode::Range, "must be 1 to 1000000"))
}

const fn delivery_method(wire: wire::DeliveryMethod) -> Option<DeliveryMethod> {
    match wire {
        wire::DeliveryMethod::Unspecified => None,
        wire::DeliveryMethod::Shipping => Some(DeliveryMethod::Shipping),
        wire::DeliveryMethod::Pickup => Some(DeliveryMethod::Pickup),
    }
}

pub(in crate::order) fn pay_order(request: &wire::PayOrderRequest) -> Result<PayOrder, Error> {
    Ok(PayOrder {
        amount: amount("amount", request.amount.as_deref())?,
        wallet_id: optional("walletId", request.wallet_id.as_deref(), Id::parse)?,
        order_id: order_id(&request.id)?,
    })
}

pub(in crate::order) fn cancel_order(
    request: wire::CancelOrderRequest,
) -> Result<CancelOrder, Error> {
    Ok(CancelOrder {
        refund: amount("refundAmount", request.refund_amount.as_deref())?,
        reason: request.reason.map(reason).transpose()?,
        order_id: order_id(&request.id)?,
    })
}

pub(in crate::order) fn refund_order(
    request: wire::RefundOrderRequest,
) -> Result<RefundOrder, Error> {
    let amount = amount("amount", request.amount.as_deref())?;
    let part = match amount {
        Some(amount) if request.lines.is_empty() => RefundedPart::Amount(amount),
        None if !request.lines.is_empty() => RefundedPart::Lines(refunded_lines(&request.lines)?),
        _ => {
            let either = "give either an amount or 1 to 200 lines";
            let mut violations = Violations::default();
            violations.add("amount", FieldCode::Required, either);
            violations.add("lines", FieldCode::Required, either);
            return Err(violations.into_failure().into());
        }
    };
    Ok(RefundOrder {
        part,
        reason: request.reason.map(reason).transpose()?,
        order_id: order_id(&request.id)?,
    })
}

/// Decodes the units of a refund, and reports all of their faults together.
fn refunded_lines(lines: &[wire::RefundedLine]) -> Result<Vec<LineUnits>, Error> {
    let mut violations = Violations::default();
    let fits = lines.len() <= MAX_LINES;
    violations.check("lines", fits, FieldCode::Length, "must hold 1 to 200 lines");
    let mut named = HashSet::new();
    let mut decoded = Vec::new();
    for (index, line) in lines.iter().take(MAX_LINES).enumerate() {
        let field = format!("lines[{index}].lineId");
        let line_id = violations.value(&field, LineId::parse(&line.line_id));
        let quantity = violations.value(
            &format!("lines[{index}].quantity"),
            quantity(line.quantity, MAX_QUANTITY),
        );
        let (Some(line_id), Some(quantity)) = (line_id, quantity) else {
            continue;
        };
        let is_new = named.insert(line_id);
        violations.check(&field, is_new, FieldCode::Duplicate, "names a line again");
        decoded.push(LineUnits { line_id, quantity });
    }
    violations.finish()?;
    Ok(decoded)
}

/// Checks the reason of a cancellation or refund: JSON text of a string or an array.
fn reason(json: String) -> Result<String, Error> {
    let invalid = |code, message| Error::invalid("reason", InvalidValue::new(code, message));
    if json.len() > MAX_TEXT {
        return Err(invalid(FieldCode::Length, "must be at most 2048 bytes"));
    }
    let raw: Result<&RawValue, _> = serde_json::from_str(&json);
    match raw.map(|raw| raw.get().as_bytes().first().copied()) {
        Ok(Some(b'"' | b'[')) => Ok(json),
        _ => Err(invalid(FieldCode::Type, "must be a string or an array")),
    }
}

/// Checks the text of a note.
pub(in crate::order) fn note(text: String) -> Result<String, Error> {
    let text = text::bounded(text, 1..=MAX_NOTE);
    text.map_err(|invalid| Error::invalid("text", invalid))
}

/// Decodes the units of a line; without a quantity, all that remain.
pub(in crate::order) fn units(id: &str, requested: Option<u32>) -> Result<Units, Error> {
    let id = line_id(id)?;
    // A quantity above the line's own is refused by the model.
    let quantity = requested.map(|requested| quantity(requested, i32::MAX.unsigned_abs()));
    let quantity = quantity
        .transpose()
        .map_err(|invalid| Error::invalid("quantity", invalid))?;
    Ok(Units::Line { id, quantity })
}

pub(in crate::order) fn tracking_id(text: Option<&str>) -> Result<Option<Uuid>, Error> {
    optional("trackingId", text, parse_uuid)
}

pub(in crate::order) fn tracking_id_patch(
    text: Option<String>,
    mask: &[String],
) -> Result<Patch<Uuid>, Error> {
    Patch::from_wire("tracking_id", text, mask)
        .try_map(|text| parse_uuid(&text))
        .map_err(|invalid| Error::invalid("trackingId", invalid))
}

/// Decodes an id of the path: a malformed one is not found.
pub(in crate::order) fn order_id(text: &str) -> Result<OrderId, Error> {
    Id::parse(text).map_err(|_| Error::OrderNotFound)
}

/// Decodes an id of the path: a malformed one is not found.
pub(in crate::order) fn line_id(text: &str) -> Result<LineId, Error> {
    Id::parse(text).map_err(|_| Error::OrderLineNotFound)
}

fn amount(field: &'static str, text: Option<&str>) -> Result<Option<Amount>, Error> {
    optional(field, text, Amount::parse)
}

fn optional<T>(
    field: &'static str,
    text: Option<&str>,
    parse: impl FnOnce(&str) -> Result<T, InvalidValue>,
) -> Result<Option<T>, Error> {
    text.map(parse)
        .transpose()
        .map_err(|invalid| Error::invalid(field, invalid))
}
