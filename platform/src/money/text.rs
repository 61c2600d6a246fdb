//! The two grammars of an amount: the one of clients, and the one of stored text.

use super::{Amount, amount::ONE};
use crate::error::{Code, FieldCode, InvalidValue};

/// Parses `^(0|[1-9][0-9]{0,18})(\.[0-9]{1,8})?$` to units.
pub(super) fn parse_public(text: &str) -> Result<i128, InvalidValue> {
    let (integer, decimals) = split(text).ok_or_else(malformed)?;
    if integer.len() > 1 && integer.starts_with('0') {
        return Err(malformed());
    }
    if integer.len() > 19 {
        return Err(InvalidValue::new(
            Code::AmountOutOfRange,
            "has more than 19 integer digits",
        ));
    }
    if decimals.len() > 8 {
        return Err(InvalidValue::new(
            FieldCode::Precision,
            "has more than 8 decimals",
        ));
    }
    Ok(units(integer, decimals))
}

/// Parses `^-?[0-9]{1,20}(\.[0-9]{1,8})?$` to units.
pub(super) fn parse_stored(text: &str) -> Result<i128, InvalidValue> {
    let (negative, digits) = text
        .strip_prefix('-')
        .map_or((false, text), |rest| (true, rest));
    let (integer, decimals) = split(digits).ok_or_else(malformed)?;
    if integer.len() > 20 || decimals.len() > 8 {
        return Err(malformed());
    }
    let units = units(integer, decimals);
    let amount = Amount::from_units(if negative { -units } else { units });
    amount.map(Amount::units).map_err(|_| malformed())
}

/// Splits a text into the digits before and after the point; `None` if it has other characters.
fn split(text: &str) -> Option<(&str, &str)> {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    match text.split_once('.') {
        Some((integer, decimals)) => {
            (digits(integer) && digits(decimals)).then_some((integer, decimals))
        }
        None => digits(text).then_some((text, "")),
    }
}

/// Returns the units of up to 20 and 8 digits, which cannot overflow.
fn units(integer: &str, decimals: &str) -> i128 {
    let number = |digits: &str| {
        digits.bytes().fold(0_i128, |number, digit| {
            number * 10 + i128::from(digit - b'0')
        })
    };
    let scale = decimals.bytes().fold(ONE, |scale, _| scale / 10);
    number(integer) * ONE + number(decimals) * scale
}

fn malformed() -> InvalidValue {
    InvalidValue::new(FieldCode::Format, "must be a decimal like \"12.50\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_decimals_are_accepted_from_clients() {
        for text in [
            "", ".", ".5", "5.", "00005", "1_000", "1,000", "0x10", " 5", "5 ", "+5", "--5", "-5",
            "-0", "１２", "٣", "1e3", "1E3", "1e-2", "NaN", "Infinity", "1.2.3", "1.+5", "1.-5",
            "01",
        ] {
            assert_eq!(
                parse_public(text).unwrap_err().code,
                FieldCode::Format,
                "{text}"
            );
        }
        assert_eq!(
            parse_public("0.000000001").unwrap_err().code,
            FieldCode::Precision
        );
        let long = parse_public("10000000000000000000").unwrap_err();
        assert_eq!(long.code, FieldCode::Domain(Code::AmountOutOfRange));
    }

    #[test]
    fn amounts_of_clients_are_parsed_exactly() {
        assert_eq!(parse_public("0"), Ok(0));
        assert_eq!(parse_public("0.00000001"), Ok(1));
        assert_eq!(parse_public("5.0"), Ok(500_000_000));
        assert_eq!(
            parse_public("9999999999999999999.99999999"),
            Ok(999_999_999_999_999_999_999_999_999)
        );
    }
}
