//! Exponential backoff.

use std::time::Duration;

/// The delays between retries: each is twice the one before, up to a maximum.
///
/// ```
/// # use std::time::Duration;
/// # use platform::backoff::Backoff;
/// let mut backoff = Backoff::new(Duration::from_millis(50), Duration::from_millis(120));
/// assert_eq!(backoff.next_delay(), Duration::from_millis(50));
/// assert_eq!(backoff.next_delay(), Duration::from_millis(100));
/// assert_eq!(backoff.next_delay(), Duration::from_millis(120));
/// backoff.reset();
/// assert_eq!(backoff.next_delay(), Duration::from_millis(50));
/// ```
#[derive(Debug, Clone)]
pub struct Backoff {
    initial: Duration,
    max: Duration,
    next: Duration,
}

impl Backoff {
    /// Creates a backoff that starts with the delay `initial` and stays at `max`.
    pub const fn new(initial: Duration, max: Duration) -> Self {
        Self {
            initial,
            max,
            next: initial,
        }
    }

    /// Returns the delay before the next retry.
    pub fn next_delay(&mut self) -> Duration {
        let delay = self.next;
        self.next = delay.saturating_mul(2).min(self.max);
        delay
    }

    /// Starts over, after a success.
    pub const fn reset(&mut self) {
        self.next = self.initial;
    }

    /// Returns whether no delay was taken since the start or the last reset.
    pub fn is_initial(&self) -> bool {
        self.next == self.initial
    }

    /// Returns the delay after this many failures in a row, from 1, where others count them.
    pub fn after(&self, failures: u32) -> Duration {
        let doublings = failures.saturating_sub(1).min(30);
        self.initial.saturating_mul(1 << doublings).min(self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_by_count_equal_delays_in_sequence() {
        let fixed = Backoff::new(Duration::from_millis(3), Duration::from_secs(1));
        let mut moving = fixed.clone();
        for failures in 1..=40 {
            assert_eq!(fixed.after(failures), moving.next_delay(), "{failures}");
        }
        assert!(fixed.is_initial() && !moving.is_initial());
        assert_eq!(fixed.after(u32::MAX), Duration::from_secs(1));
        assert_eq!(fixed.after(0), Duration::from_millis(3));
    }
}
