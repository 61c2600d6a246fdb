//! Limits pings: each makes a process wait for a system of somebody else.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use chrono::{DateTime, TimeDelta, Utc};
use platform::error::{Code, Failure};

/// Pings of a process within [`WINDOW`].
const MAX_PINGS: usize = 8;
const WINDOW: TimeDelta = TimeDelta::minutes(1);

/// The times of the last pings.
#[derive(Debug, Clone, Default)]
pub(super) struct PingLimit(Arc<Mutex<VecDeque<DateTime<Utc>>>>);

impl PingLimit {
    /// Takes a ping: `rate_limited` where there were too many in the minute before.
    pub(super) fn take(&self, now: DateTime<Utc>) -> Result<(), Failure> {
        let mut pings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while pings.front().is_some_and(|at| *at + WINDOW <= now) {
            pings.pop_front();
        }
        if pings.len() < MAX_PINGS {
            pings.push_back(now);
            return Ok(());
        }
        let wait = pings.front().map_or(WINDOW, |first| *first + WINDOW - now);
        let refusal = Failure::new(Code::RateLimited, "at most 8 pings a minute");
        Err(refusal.retry_after(wait.to_std().unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn eight_pings_are_sent_within_any_minute() {
        let limit = PingLimit::default();
        let at = |seconds: i64| DateTime::from_timestamp(seconds, 0).unwrap();
        for second in 0..8 {
            limit.take(at(second)).unwrap();
        }
        let refusal = limit.take(at(10)).unwrap_err();
        assert_eq!(refusal.code, Code::RateLimited);
        assert_eq!(refusal.retry_after, Some(Duration::from_secs(50)));
        assert!(limit.take(at(59)).is_err());
        limit.take(at(60)).unwrap();
        assert!(limit.take(at(60)).is_err());
        limit.take(at(61)).unwrap();
    }
}
