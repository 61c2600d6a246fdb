//! The types of public events, and the patterns that select them.

use platform::error::{FieldCode, InvalidValue};

/// The type of the event that tests a webhook. No subscription selects it.
pub(crate) const PING: &str = "webhook.ping";

/// All types.
pub(crate) const ALL: [&str; 24] = [
    "store.order.created",
    "store.order.paid",
    "store.order.fulfilled",
    "store.order.canceled",
    "store.order.refunded",
    "transaction.deposit.created",
    "transaction.deposit.approved",
    "transaction.deposit.confirmed",
    "transaction.deposit.failed",
    "transaction.deposit.rejected",
    "transaction.transfer.created",
    "transaction.transfer.approved",
    "transaction.transfer.confirmed",
    "transaction.transfer.failed",
    "transaction.transfer.rejected",
    "transaction.withdrawal.created",
    "transaction.withdrawal.approved",
    "transaction.withdrawal.confirmed",
    "transaction.withdrawal.failed",
    "transaction.withdrawal.rejected",
    "user.user.created",
    "user.user.approved",
    "user.user.blocked",
    "task.task.completed",
];

/// Finds the type of this name.
pub(super) fn find(name: &str) -> Option<&'static str> {
    ALL.into_iter().find(|known| *known == name)
}

/// Returns whether a pattern selects a type: the type itself, `*`, or the first parts of it with `.*`.
pub(crate) fn selects(pattern: &str, event_type: &str) -> bool {
    if pattern == "*" || pattern == event_type {
        return true;
    }
    let rest = pattern
        .strip_suffix(".*")
        .and_then(|prefix| event_type.strip_prefix(prefix));
    rest.is_some_and(|rest| rest.starts_with('.'))
}

/// Checks that a pattern selects at least one type.
pub(crate) fn check_pattern(pattern: &str) -> Result<(), InvalidValue> {
    if ALL.iter().any(|event_type| selects(pattern, event_type)) {
        return Ok(());
    }
    let message = "must be a type of events, such as store.order.paid, store.order.* or *";
    Err(InvalidValue::new(FieldCode::Enum, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_selects_whole_parts() {
        for (pattern, event_type, selected) in [
            ("*", "store.order.paid", true),
            ("store.*", "store.order.paid", true),
            ("store.order.*", "store.order.paid", true),
            ("store.order.paid", "store.order.paid", true),
            ("store.order.paid", "store.order.canceled", false),
            ("store.ord*", "store.order.paid", false),
            ("store.ord.*", "store.order.paid", false),
            ("store.order.paid.*", "store.order.paid", false),
            (".*", "store.order.paid", false),
            ("", "store.order.paid", false),
        ] {
            assert_eq!(selects(pattern, event_type), selected, "{pattern}");
        }
    }

    #[test]
    fn a_pattern_that_selects_nothing_is_refused() {
        for pattern in ["*", "task.*", "transaction.deposit.*", "user.user.blocked"] {
            assert_eq!(check_pattern(pattern), Ok(()), "{pattern}");
        }
        for pattern in [
            "",
            "**",
            "store",
            "store.order",
            "Store.*",
            PING,
            "webhook.*",
        ] {
            assert!(check_pattern(pattern).is_err(), "{pattern}");
        }
    }
}
