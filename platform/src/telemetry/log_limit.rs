//! Log lines that many requests would write at once.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

const INTERVAL: Duration = Duration::from_secs(1);

/// Lets one line a second be logged, and counts the others: while a dependency is down or a process sheds
/// load, each request would write the same.
///
/// ```
/// static UNAVAILABLE: platform::telemetry::LogLimit = platform::telemetry::LogLimit::new();
/// if let Some(left_out) = UNAVAILABLE.admit() {
///     tracing::warn!(left_out, "rpc unavailable");
/// }
/// ```
#[derive(Debug)]
pub struct LogLimit(Mutex<State>);

#[derive(Debug)]
struct State {
    logged_at: Option<Instant>,
    left_out: u64,
}

impl LogLimit {
    /// Creates the limit of one kind of line.
    pub const fn new() -> Self {
        Self(Mutex::new(State {
            logged_at: None,
            left_out: 0,
        }))
    }

    /// Returns the number of lines that were left out since the last one, if this one is to be logged.
    pub fn admit(&self) -> Option<u64> {
        self.admit_at(Instant::now())
    }

    fn admit_at(&self, now: Instant) -> Option<u64> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_too_soon = |last: Instant| now.saturating_duration_since(last) < INTERVAL;
        if state.logged_at.is_some_and(is_too_soon) {
            state.left_out += 1;
            return None;
        }
        state.logged_at = Some(now);
        Some(std::mem::take(&mut state.left_out))
    }
}

impl Default for LogLimit {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_a_second_is_logged_and_says_how_many_were_left_out() {
        let limit = LogLimit::new();
        let start = Instant::now();
        let admit = |millis| limit.admit_at(start + Duration::from_millis(millis));
        assert_eq!(admit(0), Some(0));
        assert_eq!(admit(1), None);
        assert_eq!(admit(999), None);
        assert_eq!(admit(1_000), Some(2));
        assert_eq!(admit(5_000), Some(0));
    }
}
