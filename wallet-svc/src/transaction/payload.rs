//! Checks a deposit's `data`: any JSON object without a card number. Pure.

use platform::error::{FieldCode, InvalidValue};
use serde_json::Value;

/// Refuses data that is not an object, or has a value that looks like a card number.
pub(crate) fn check_data(text: &str) -> Result<(), InvalidValue> {
    let Ok(Value::Object(object)) = serde_json::from_str(text) else {
        return Err(InvalidValue::new(FieldCode::Type, "must be an object"));
    };
    if object.values().any(holds_card_number) {
        return Err(InvalidValue::new(
            FieldCode::Format,
            "must not hold a card number",
        ));
    }
    Ok(())
}

fn holds_card_number(value: &Value) -> bool {
    match value {
        Value::String(text) => is_card_number(text),
        Value::Array(items) => items.iter().any(holds_card_number),
        Value::Object(entries) => entries.values().any(holds_card_number),
        _ => false,
    }
}

/// Returns whether a text is 13 to 19 digits, grouped or not, with a valid check digit: the Luhn
/// formula of ISO/IEC 7812-1, annex B.
fn is_card_number(text: &str) -> bool {
    let is_separator = |c: &char| matches!(c, ' ' | '-');
    let digits: Option<Vec<u32>> = text
        .chars()
        .filter(|c| !is_separator(c))
        .map(|c| c.to_digit(10))
        .collect();
    let Some(digits) = digits.filter(|digits| (13..=19).contains(&digits.len())) else {
        return false;
    };
    let weighted = digits.iter().rev().enumerate().map(|(place, digit)| {
        let doubled = digit * 2;
        match (place % 2, doubled) {
            (0, _) => *digit,
            (_, 10..) => doubled - 9,
            _ => doubled,
        }
    });
    weighted.sum::<u32>().is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn card_numbers_are_refused_at_any_depth() {
        for data in [
            "{}",
            r#"{"a":"4111111111111112"}"#,
            r#"{"a":{"b":["411111111111"]}}"#,
        ] {
            assert!(check_data(data).is_ok(), "{data}");
        }
        for data in [
            r#"{"a":"4111111111111111"}"#,
            r#"{"a":{"b":["5500 0000-0000 0004"]}}"#,
            r#"{"a":"6304000000000000"}"#,
            "[]",
            "\"x\"",
            "",
            "{",
        ] {
            assert!(check_data(data).is_err(), "{data}");
        }
    }
}
