//! How many requests are sent when: the loads, the window that is measured, and the schedule of an open loop.

use std::{fmt, iter, time::Duration};

use tokio::time::Instant;

/// The most requests in flight of an open loop.
pub const MAX_IN_FLIGHT: u32 = 4_096;

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// What decides when a request is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Load {
    /// So many requests in flight: a response starts the next one.
    Closed(u32),
    /// So many requests a second, whether or not there are responses.
    Open(u32),
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&match self {
            Self::Closed(in_flight) => format!("{in_flight} in flight"),
            Self::Open(rate) => format!("{rate}/s sent"),
        })
    }
}

/// The times of a turn.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    /// When the first request is sent.
    pub start: Instant,
    /// When the time begins that is measured.
    pub begin: Instant,
    /// When it ends, and no more requests are sent.
    pub end: Instant,
}

impl Window {
    /// Returns a window that starts at `start`.
    pub fn new(start: Instant, warm_up: Duration, measured: Duration) -> Self {
        let begin = start + warm_up;
        Self {
            start,
            begin,
            end: begin + measured,
        }
    }

    /// Returns whether a time is within what is measured.
    pub fn contains(&self, time: Instant) -> bool {
        (self.begin..self.end).contains(&time)
    }

    /// Returns the times of the requests of an open loop. Each is computed from the start: errors do not
    /// add up.
    pub fn schedule(self, rate: u32) -> impl Iterator<Item = Instant> {
        let numbers = iter::successors(Some(0), |number| Some(number + 1));
        let times = numbers.map(move |number| self.start + offset(number, rate));
        times.take_while(move |time| *time < self.end)
    }
}

/// Returns the time from the start until the request with this number.
fn offset(number: u64, rate: u32) -> Duration {
    let rate = u64::from(rate);
    let nanos = number % rate * NANOS_PER_SECOND / rate;
    Duration::from_secs(number / rate) + Duration::from_nanos(nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(warm_up: u64, measured: u64) -> Window {
        let seconds = Duration::from_secs;
        Window::new(Instant::now(), seconds(warm_up), seconds(measured))
    }

    #[test]
    fn requests_are_sent_at_constant_intervals() {
        let window = window(0, 1);
        let offsets = window.schedule(3).map(|time| time - window.start);
        let nanos: Vec<_> = offsets.map(|offset| offset.as_nanos()).collect();
        assert_eq!(nanos, [0, 333_333_333, 666_666_666]);
    }

    #[test]
    fn a_schedule_does_not_drift() {
        assert_eq!(offset(3 * 86_400, 3), Duration::from_hours(24));
        assert_eq!(offset(7_777, 7_777), Duration::from_secs(1));
    }

    #[test]
    fn the_window_has_the_rate_whatever_the_warm_up() {
        for rate in [1, 7, 999, 4_321] {
            let window = window(2, 3);
            let times: Vec<_> = window.schedule(rate).collect();
            assert_eq!(times.len(), 5 * rate as usize);
            let measured = times.iter().filter(|time| window.contains(**time));
            assert_eq!(measured.count(), 3 * rate as usize);
        }
    }

    #[test]
    fn a_window_excludes_its_end() {
        let window = window(1, 1);
        assert!(!window.contains(window.start) && window.contains(window.begin));
        assert!(!window.contains(window.end));
    }
}
