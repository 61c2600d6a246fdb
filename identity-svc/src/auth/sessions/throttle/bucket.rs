//! Token buckets by key, in bounded memory.

use std::time::Duration;

use moka::{ops::compute::Op, sync::Cache};
use tokio::time::Instant;

use super::Key;

/// Keys that are counted at once; others are forgotten, those used least first.
const MAX_KEYS: u64 = 100_000;

/// Buckets of the same size, one a key. A key without one has a full bucket.
#[derive(Debug, Clone)]
pub(super) struct Buckets {
    size: f64,
    /// The time in which one is added.
    refill: Duration,
    by_key: Cache<Key, Bucket>,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    left: f64,
    at: Instant,
}

impl Buckets {
    pub(super) fn new(size: u32, refill: Duration) -> Self {
        let by_key = Cache::builder()
            .max_capacity(MAX_KEYS)
            .time_to_live(refill * size)
            .build();
        Self {
            size: f64::from(size),
            refill,
            by_key,
        }
    }

    /// Takes one out of a bucket. The error is the time until there is one.
    pub(super) fn take(&self, key: Key, now: Instant) -> Result<(), Duration> {
        let mut taken = Ok(());
        self.by_key.entry(key).and_compute_with(|entry| {
            let left = self.left(entry.map(moka::Entry::into_value), now);
            if left < 1.0 {
                taken = Err(self.refill.mul_f64(1.0 - left));
                return Op::Nop;
            }
            let left = left - 1.0;
            Op::Put(Bucket { left, at: now })
        });
        taken
    }

    /// Puts one back that was taken.
    pub(super) fn put_back(&self, key: Key, now: Instant) {
        self.by_key.entry(key).and_compute_with(|entry| {
            let left = self.left(entry.map(moka::Entry::into_value), now) + 1.0;
            if left >= self.size {
                return Op::Remove;
            }
            Op::Put(Bucket { left, at: now })
        });
    }

    fn left(&self, bucket: Option<Bucket>, now: Instant) -> f64 {
        bucket.map_or(self.size, |bucket| {
            let idle = now.saturating_duration_since(bucket.at);
            let added = idle.as_secs_f64() / self.refill.as_secs_f64();
            (bucket.left + added).min(self.size)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Key = [1; 16];

    #[test]
    fn a_bucket_is_emptied_and_refilled() {
        let buckets = Buckets::new(2, Duration::from_secs(10));
        let start = Instant::now();
        assert_eq!(buckets.take(KEY, start), Ok(()));
        assert_eq!(buckets.take(KEY, start), Ok(()));
        assert_eq!(buckets.take(KEY, start), Err(Duration::from_secs(10)));
        assert_eq!(buckets.take([2; 16], start), Ok(()), "another key");
        let later = start + Duration::from_secs(9);
        assert!(buckets.take(KEY, later).is_err());
        let later = start + Duration::from_secs(11);
        assert_eq!(buckets.take(KEY, later), Ok(()));
        assert!(buckets.take(KEY, later).is_err());
    }

    #[test]
    fn what_is_put_back_can_be_taken() {
        let buckets = Buckets::new(1, Duration::from_secs(10));
        let now = Instant::now();
        assert_eq!(buckets.take(KEY, now), Ok(()));
        buckets.put_back(KEY, now);
        buckets.put_back(KEY, now);
        assert_eq!(buckets.take(KEY, now), Ok(()));
        assert!(buckets.take(KEY, now).is_err(), "never more than its size");
    }
}
