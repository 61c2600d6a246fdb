//! Time, in the milliseconds that are stored and shown, so that a returned value equals itself.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use chrono::{DateTime, SubsecRound, TimeDelta, Utc};
use prost_types::Timestamp;

/// Tells the time. Clones of a fixed clock share one hand.
#[derive(Debug, Clone)]
pub struct Clock(Source);

#[derive(Debug, Clone)]
enum Source {
    System,
    Fixed(Arc<AtomicI64>),
}

impl Clock {
    /// The system's clock.
    pub const fn system() -> Self {
        Self(Source::System)
    }

    /// A clock that moves only when told to, for tests.
    pub fn fixed(at: DateTime<Utc>) -> Self {
        Self(Source::Fixed(Arc::new(AtomicI64::new(
            at.timestamp_millis(),
        ))))
    }

    /// The time, in whole milliseconds.
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

    /// Moves a fixed clock on.
    ///
    /// # Panics
    /// On the system's clock.
    pub fn advance(&self, by: TimeDelta) {
        let Source::Fixed(millis) = &self.0 else {
            panic!("the system's clock moves by itself")
        };
        millis.fetch_add(by.num_milliseconds(), Ordering::Relaxed);
    }
}

/// A time as it travels between processes.
pub fn to_proto(time: DateTime<Utc>) -> Timestamp {
    let nanos = i32::try_from(time.timestamp_subsec_nanos()).unwrap_or_default();
    Timestamp {
        seconds: time.timestamp(),
        nanos,
    }
}

/// A time that came from another process; `None` if it is outside the calendar.
pub fn from_proto(timestamp: &Timestamp) -> Option<DateTime<Utc>> {
    DateTime::from_timestamp(timestamp.seconds, u32::try_from(timestamp.nanos).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_whole_milliseconds() {
        let now = Clock::system().now();
        assert_eq!(now.timestamp_subsec_nanos() % 1_000_000, 0);
    }

    #[test]
    fn a_fixed_clock_moves_when_told_and_its_clones_with_it() {
        let clock = Clock::fixed(DateTime::from_timestamp_millis(1_769_853_600_000).unwrap());
        let clone = clock.clone();
        clock.advance(TimeDelta::seconds(90));
        assert_eq!(clone.now().to_rfc3339(), "2026-01-31T10:01:30+00:00");
    }

    #[test]
    fn survives_the_wire() {
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
