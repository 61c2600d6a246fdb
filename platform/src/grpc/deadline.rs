//! The deadline of the current request, propagated from hop to hop as `grpc-timeout`.
//!
//! It is task-local: a spawned task does not have it.

use std::{future::Future, time::Duration};

use http::{HeaderMap, HeaderValue};
use tokio::time::Instant;

pub(super) const GRPC_TIMEOUT: &str = "grpc-timeout";

tokio::task_local! {
    static DEADLINE: Option<Instant>;
}

/// Runs `work` with a deadline, which bounds the timeout of its calls to other services.
pub async fn within<F: Future>(deadline: Option<Instant>, work: F) -> F::Output {
    DEADLINE.scope(deadline, work).await
}

/// Returns the time until the deadline; `None` without one.
pub fn remaining() -> Option<Duration> {
    let deadline = DEADLINE.try_with(|deadline| *deadline).ok().flatten()?;
    Some(deadline.saturating_duration_since(Instant::now()))
}

/// Returns the deadline of a request, less a margin in which the response, such as "wallet is
/// unavailable", reaches the caller in time.
pub(super) fn received(headers: &HeaderMap) -> Option<Instant> {
    let limit = parse(headers)?;
    let margin = (limit / 10).min(Duration::from_millis(100));
    Instant::now().checked_add(limit.saturating_sub(margin))
}

/// Parses a request's `grpc-timeout`; a malformed one counts as none.
pub(super) fn parse(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(GRPC_TIMEOUT)?.to_str().ok()?;
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if digits.len() > 8 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let count: u64 = digits.parse().ok()?;
    match unit {
        "H" => Some(Duration::from_secs(count * 3600)),
        "M" => Some(Duration::from_secs(count * 60)),
        "S" => Some(Duration::from_secs(count)),
        "m" => Some(Duration::from_millis(count)),
        "u" => Some(Duration::from_micros(count)),
        "n" => Some(Duration::from_nanos(count)),
        _ => None,
    }
}

/// Formats a `grpc-timeout` in milliseconds.
pub(super) fn format(limit: Duration) -> HeaderValue {
    let millis = limit.as_millis().min(99_999_999);
    HeaderValue::try_from(format!("{millis}m")).expect("digits and a letter are a header value")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Option<Duration> {
        let value = HeaderValue::from_str(text).unwrap();
        parse(&HeaderMap::from_iter([(
            http::HeaderName::from_static(GRPC_TIMEOUT),
            value,
        )]))
    }

    #[test]
    fn timeouts_are_parsed_and_formatted() {
        assert_eq!(parsed("2900m"), Some(Duration::from_millis(2900)));
        assert_eq!(parsed("1H"), Some(Duration::from_hours(1)));
        assert_eq!(parsed("99999999n"), Some(Duration::from_nanos(99_999_999)));
        assert_eq!(format(Duration::from_micros(1500)), "1m");
        assert_eq!(format(Duration::MAX), "99999999m");
        for bad in ["", "m", "1", "1s", "-1m", "+1m", "123456789m", "1.5S"] {
            assert_eq!(parsed(bad), None, "{bad}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_remaining_time_decreases_to_zero() {
        assert_eq!(remaining(), None);
        let deadline = Instant::now() + Duration::from_secs(3);
        within(Some(deadline), async {
            tokio::time::advance(Duration::from_secs(2)).await;
            assert_eq!(remaining(), Some(Duration::from_secs(1)));
            tokio::time::advance(Duration::from_secs(2)).await;
            assert_eq!(remaining(), Some(Duration::ZERO));
        })
        .await;
    }
}
