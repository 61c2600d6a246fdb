//! Operators and values of each [`Class`] of field.

use chrono::{DateTime, NaiveTime, Utc};
use proto::{common::v1::Operator, lists::Class};
use uuid::Uuid;

use crate::{
    ids::{Id, parse_uuid},
    money::Amount,
};

/// Returns the operators of a class; a plain value means the first.
pub const fn operators(class: Class) -> &'static [Operator] {
    use Operator::{Eq, Gt, Gte, Ilike, In, Like, Lt, Lte, Nin};
    match class {
        Class::Id | Class::Enum(_) | Class::Code | Class::CaselessCode => &[Eq, In, Nin],
        Class::Like | Class::ILike => &[Eq, Like, Ilike],
        Class::Bool | Class::Flag | Class::Search => &[Eq],
        Class::Number | Class::Money | Class::Time => &[Eq, Gt, Gte, Lt, Lte],
    }
}

/// Returns the prefix that an operator is written as, without its colon; `=` for a plain value.
pub const fn symbol(operator: Operator) -> &'static str {
    match operator {
        Operator::Unspecified | Operator::Eq => "=",
        Operator::In => "in",
        Operator::Nin => "nin",
        Operator::Gte => "gte",
        Operator::Lte => "lte",
        Operator::Gt => "gt",
        Operator::Lt => "lt",
        Operator::Like => "like",
        Operator::Ilike => "ilike",
    }
}

/// Returns the operators that are written as a prefix.
pub fn prefixed_operators() -> impl Iterator<Item = Operator> {
    use Operator::{Gt, Gte, Ilike, In, Like, Lt, Lte, Nin};
    [In, Nin, Gte, Lte, Gt, Lt, Like, Ilike].into_iter()
}

/// A value of a filter or cursor, ready to be bound.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Value {
    /// A code, an enum or a text.
    Text(String),
    /// A UUID.
    Id(Uuid),
    /// A boolean or a flag.
    Bool(bool),
    /// A decimal, as written.
    Number(String),
    /// An amount.
    Money(Amount),
    /// A time.
    Time(DateTime<Utc>),
}

impl From<Uuid> for Value {
    fn from(id: Uuid) -> Self {
        Self::Id(id)
    }
}

impl<T> From<Id<T>> for Value {
    fn from(id: Id<T>) -> Self {
        Self::Id(id.uuid())
    }
}

impl From<DateTime<Utc>> for Value {
    fn from(time: DateTime<Utc>) -> Self {
        Self::Time(time)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// Parses a value of this class; the error says what it must be.
pub fn value(class: Class, text: &str) -> Result<Value, String> {
    match class {
        Class::Code | Class::CaselessCode if text.is_empty() => Err("must not be empty".into()),
        Class::Code | Class::CaselessCode | Class::Like | Class::ILike | Class::Search => {
            Ok(Value::Text(text.to_owned()))
        }
        Class::Enum(allowed) if allowed.contains(&text) => Ok(Value::Text(text.to_owned())),
        Class::Enum(allowed) => Err(format!("must be one of {}", quoted(allowed.iter()))),
        Class::Id => parse_uuid(text)
            .map(Value::Id)
            .map_err(|invalid| invalid.message),
        Class::Bool | Class::Flag => match text {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            _ => Err("must be `true` or `false`".into()),
        },
        Class::Number => number(text)
            .map(Value::Number)
            .ok_or_else(|| "must be a number".into()),
        Class::Money => text
            .parse()
            .map(Value::Money)
            .map_err(|_| "must be a decimal with up to 20 digits and 8 decimals".into()),
        Class::Time => time(text).map(Value::Time).ok_or_else(|| {
            "must be a time like `2026-01-31T10:00:00Z` or a date like `2026-01-31`".into()
        }),
    }
}

/// `` `a` `b` ``
pub(super) fn quoted<S: AsRef<str>>(names: impl Iterator<Item = S>) -> String {
    names
        .map(|name| format!("`{}`", name.as_ref()))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Checks a decimal: `^-?[0-9]{1,20}(\.[0-9]{1,40})?$`.
pub(super) fn number(text: &str) -> Option<String> {
    let digits = |part: &str, most: usize| {
        (1..=most).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let valid = match unsigned.split_once('.') {
        Some((integer, decimals)) => digits(integer, 20) && digits(decimals, 40),
        None => digits(unsigned, 20),
    };
    valid.then(|| text.to_owned())
}

/// Parses RFC 3339 with `Z` or an offset, or a bare date. The `+` of an offset may be a space,
/// because clients forget to encode it.
pub(super) fn time(text: &str) -> Option<DateTime<Utc>> {
    if text.len() == 10 {
        let date = text.parse::<chrono::NaiveDate>().ok()?;
        return plain_date(text).then(|| date.and_time(NaiveTime::MIN).and_utc());
    }
    if !text.get(10..11)?.eq_ignore_ascii_case("t") {
        return None;
    }
    let time = DateTime::parse_from_rfc3339(&text.replace(' ', "+")).ok()?;
    Some(time.with_timezone(&Utc))
}

/// Returns whether the text is like `2026-01-31`; chrono also reads `+2026-1-31`.
fn plain_date(text: &str) -> bool {
    text.bytes().enumerate().all(|(at, byte)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_an_offset_or_are_a_date() {
        for (text, utc) in [
            ("2026-01-01T10:00:00.123Z", "2026-01-01T10:00:00.123Z"),
            ("2026-01-01T00:00:00+05:30", "2025-12-31T18:30:00Z"),
            ("2026-01-01T00:00:00 05:30", "2025-12-31T18:30:00Z"),
            ("2026-01-01T00:00:00-02:00", "2026-01-01T02:00:00Z"),
            ("2026-01-01", "2026-01-01T00:00:00Z"),
        ] {
            assert_eq!(time(text), Some(utc.parse().unwrap()), "{text}");
        }
        for text in [
            "",
            "x",
            "2026",
            "2026-1-1",
            "2026-13-01",
            "2026-01-01T10:00:00",
            "1767225600",
            "2026-01-01 10:00:00Z",
            "+2026-1-01",
            "2026-02-30",
            "2026-01-01T25:00:00Z",
            "ééééé",
        ] {
            assert_eq!(time(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_are_plain_decimals() {
        for text in ["0", "-1", "1.5", "00012345678901234567.25"] {
            assert!(number(text).is_some(), "{text}");
        }
        for text in [
            "",
            "-",
            "+1",
            "1e3",
            ".5",
            "5.",
            "NaN",
            "1,5",
            "123456789012345678901",
        ] {
            assert!(number(text).is_none(), "{text}");
        }
    }

    #[test]
    fn classes_read_their_values() {
        assert_eq!(value(Class::Bool, "true"), Ok(Value::Bool(true)));
        assert!(value(Class::Bool, "TRUE").is_err() && value(Class::Flag, "1").is_err());
        assert!(value(Class::Id, "{0192abcd-0000-7000-8000-00000000000f}").is_err());
        assert!(value(Class::Money, "1e3").is_err() && value(Class::Money, "-5.00").is_ok());
        assert_eq!(value(Class::ILike, ""), Ok(Value::Text(String::new())));
        assert!(value(Class::Code, "").is_err());
        let refusal = value(Class::Enum(&["paid", "unpaid"]), "pending").unwrap_err();
        assert_eq!(refusal, "must be one of `paid` `unpaid`");
    }
}
