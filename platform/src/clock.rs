//! Time in whole milliseconds, as it is stored, so that a returned value equals the stored one.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use chrono::{DateTime, SubsecRound, TimeDelta, Utc};
use prost_types::Timestamp;

/// A source of the current time. Clones of a fixed clock share its time.
#[derive(Debug, Clone)]
pub struct Clock(Source);

#[derive(Debug, Clone)]
enum Source {
    System,
    Fixed(Arc<AtomicI64>),
}

impl Clock {
    /// Creates a clock of the system's time.
    pub const fn system() -> Self {
        Self(Source::System)
    }

    /// Creates a clock that only [`Clock::advance`] moves, for tests.
    pub fn fixed(at: DateTime<Utc>) -> Self {
        Self(Source::Fixed(Arc::new(AtomicI64::new(
            at.timestamp_millis(),
        ))))
    }

    /// Returns the current time in whole milliseconds.
    #[expect(clippy::disallowed_methods, reason = "this is where time comes from")]
    pub fn now(&self) -> DateTime<Utc> {
        match &self.0 {
            Source::System => Utc::now().trunc_subsecs(3),
            Source::Fixed(millis) => {
                DateTime::from_timestamp_millis(millis.load(Ordering::Relaxed))
                    .expect("a fixed clock holds milliseconds taken from a DateTime")
            }
        }
    }

    /// Moves a fixed clock forward.
    ///
    /// # Panics
    /// For a system clock.
    pub fn advance(&self, by: TimeDelta) {
        let Source::Fixed(millis) = &self.0 else {
            panic!("only a fixed clock can be advanced")
        };
        millis.fetch_add(by.num_milliseconds(), Ordering::Relaxed);
    }
}

/// Returns the time of a change: after that of the change before, so that it tells them apart.
#[must_use]
pub fn after(before: DateTime<Utc>, now: DateTime<Utc>) -> DateTime<Utc> {
    now.max(before + TimeDelta::milliseconds(1))
}

/// Converts a time to its wire form.
pub fn to_proto(time: DateTime<Utc>) -> Timestamp {
    let nanos = i32::try_from(time.timestamp_subsec_nanos()).unwrap_or_default();
    Timestamp {
        seconds: time.timestamp(),
        nanos,
    }
}

/// Converts a time from its wire form; `None` if it is outside the calendar.
pub fn from_proto(timestamp: &Timestamp) -> Option<DateTime<Utc>> {
    DateTime::from_timestamp(timestamp.seconds, u32::try_from(timestamp.nanos).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn now_is_in_whole_milliseconds() {
        let now = Clock::system().now();
        assert_eq!(now.timestamp_subsec_nanos() % 1_000_000, 0);
    }

    #[test]
    fn advance_moves_a_fixed_clock_and_its_clones() {
        let clock = Clock::fixed(DateTime::from_timestamp_millis(1_769_853_600_000).unwrap());
        let clone = clock.clone();
        clock.advance(TimeDelta::seconds(90));
        assert_eq!(clone.now().to_rfc3339(), "2026-01-31T10:01:30+00:00");
    }

    #[test]
    fn times_survive_the_wire_form() {
        for millis in [0, -1, 1_769_853_600_123] {
            let time = DateTime::from_timestamp_millis(millis).unwrap();
            assert_eq!(from_proto(&to_proto(time)), Some(time));
        }
        assert_eq!(
            from_proto(&Timestamp {
                seconds: i64::MAX,
                nanos: 0
            }),
            None
        );
        assert_eq!(
            from_proto(&Timestamp {
                seconds: 0,
                nanos: -1
            }),
            None
        );
    }
}
