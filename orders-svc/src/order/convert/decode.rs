//! From the wire to the model: what is wrong with a request's form is refused here.

use platform::{
    error::{FieldCode, InvalidValue, Violations},
    ids::Id,
    money::Amount,
    text,
};
use proto::orders::v1 as wire;
use serde_json::value::RawValue;

use crate::{
    error::Error,
    order::{
        cart::{NewLine, NewOrder},
        model::{DeliveryMethod, ProductId},
    },
};

/// Lines in the longest cart.
const MAX_LINES: usize = 200;
/// Units in the largest line.
const MAX_QUANTITY: u32 = 1_000_000;
/// Characters in the longest free text.
const MAX_TEXT: usize = 2_048;

/// Reads a cart; whatever is wrong with its form is refused at once.
pub fn new_order(request: wire::CreateOrderRequest) -> Result<NewOrder, Error> {
    let mut violations = Violations::default();
    let delivery_method = delivery_method(request.delivery_method());
    if delivery_method == Some(DeliveryMethod::Shipping)
        && request
            .shipping_address_id
            .as_deref()
            .is_none_or(str::is_empty)
    {
        violations.add(
            "shippingAddressId",
            FieldCode::Required,
            "is required with shipping",
        );
    }
    for (field, given) in [
        ("shippingAddressId", &request.shipping_address_id),
        ("chosenPaymentMethod", &request.chosen_payment_method),
        ("userNotes", &request.user_notes),
    ] {
        if let Some(given) = given {
            violations.value(field, text::check(given, 0..=MAX_TEXT));
        }
    }
    let custom_data = request.custom_data.unwrap_or_else(|| "{}".to_owned());
    violations.value("customData", text::check_object(&custom_data));
    let user_id = violations.value("userId", Id::parse(&request.user_id));
    let wallet_id = request.wallet_id.as_deref().map(Id::parse);
    let wallet_id = wallet_id.and_then(|id| violations.value("walletId", id));
    let lines = lines(&mut violations, &request.lines);
    violations.finish()?;
    Ok(NewOrder {
        user_id: user_id.ok_or_else(|| Error::fault("an id that is neither good nor bad"))?,
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

fn lines(violations: &mut Violations, lines: &[wire::NewOrderLine]) -> Vec<NewLine> {
    let fits = (1..=MAX_LINES).contains(&lines.len());
    violations.check("lines", fits, FieldCode::Length, "must hold 1 to 200 lines");
    let line = |(position, line): (usize, &wire::NewOrderLine)| {
        let product_id = violations.value(
            &format!("lines[{position}].productId"),
            ProductId::parse(&line.product_id),
        );
        let quantity = line.quantity.unwrap_or(1);
        let quantity = i32::try_from(quantity)
            .ok()
            .filter(|_| (1..=MAX_QUANTITY).contains(&quantity))
            .ok_or_else(|| InvalidValue::new(FieldCode::Range, "must be 1 to 1000000"));
        let quantity = violations.value(&format!("lines[{position}].quantity"), quantity);
        if let Some(answers) = &line.product_questions_result {
            let field = format!("lines[{position}].productQuestionsResult");
            violations.value(&field, text::check_object(answers));
        }
        Some(NewLine {
            product_id: product_id?,
            quantity: quantity?,
            answers: line.product_questions_result.clone(),
        })
    };
    lines
        .iter()
        .take(MAX_LINES)
        .enumerate()
        .filter_map(line)
        .collect()
}

/// Reads an optional amount of a request.
pub fn amount(field: &'static str, text: Option<&str>) -> Result<Option<Amount>, Error> {
    let parsed = text.map(Amount::parse).transpose();
    parsed.map_err(|invalid| Error::invalid(field, invalid))
}

/// Reads the reason of a cancellation: JSON text of a string or an array.
pub fn reason(json: Option<String>) -> Result<Option<String>, Error> {
    let Some(json) = json else { return Ok(None) };
    let refuse = |code, message| Err(Error::invalid("reason", InvalidValue::new(code, message)));
    if json.len() > MAX_TEXT {
        return refuse(FieldCode::Length, "is at most 2048 bytes");
    }
    let raw: Result<&RawValue, _> = serde_json::from_str(&json);
    match raw.map(|raw| raw.get().as_bytes().first().copied()) {
        Ok(Some(b'"' | b'[')) => Ok(Some(json)),
        _ => refuse(FieldCode::Type, "must be a string or an array"),
    }
}

/// Reads how many units of a line are meant.
pub fn quantity(quantity: Option<u32>) -> Result<Option<i32>, Error> {
    let Some(quantity) = quantity else {
        return Ok(None);
    };
    match i32::try_from(quantity) {
        Ok(quantity @ 1..) => Ok(Some(quantity)),
        _ => Err(Error::invalid(
            "quantity",
            InvalidValue::new(FieldCode::Range, "must be 1 to 1000000"),
        )),
    }
}

const fn delivery_method(wire: wire::DeliveryMethod) -> Option<DeliveryMethod> {
    match wire {
        wire::DeliveryMethod::Unspecified => None,
        wire::DeliveryMethod::Shipping => Some(DeliveryMethod::Shipping),
        wire::DeliveryMethod::Pickup => Some(DeliveryMethod::Pickup),
    }
}
