//! Limits the wrong secrets of an address, so that nobody finds one by trying.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use moka::future::Cache;
use platform::error::{Code, Failure};

/// Wrong secrets that an address may send within [`WINDOW`].
const MAX_FAILURES: u32 = 10;
/// The time from an address's first wrong secret until its count starts again.
const WINDOW: Duration = Duration::from_mins(1);
/// Addresses that are counted at once.
const MAX_ADDRESSES: u64 = 10_000;

/// The wrong secrets of each address.
#[derive(Debug, Clone)]
pub(super) struct FailureLimit(Cache<IpAddr, Arc<AtomicU32>>);

impl FailureLimit {
    pub(super) fn new() -> Self {
        let counts = Cache::builder()
            .max_capacity(MAX_ADDRESSES)
            .time_to_live(WINDOW)
            .build();
        Self(counts)
    }

    /// Refuses an address that has sent many wrong secrets, also with the right one.
    pub(super) async fn check(&self, from: IpAddr) -> Result<(), Failure> {
        let count = self.0.get(&from).await;
        if count.is_none_or(|count| count.load(Ordering::Relaxed) < MAX_FAILURES) {
            return Ok(());
        }
        let mut failure = Failure::new(Code::RateLimited, "too many wrong secrets");
        failure.retry_after = Some(WINDOW);
        Err(failure)
    }

    /// Counts a wrong secret, and returns how many the address has sent.
    pub(super) async fn count(&self, from: IpAddr) -> u32 {
        let count = self.0.entry(from).or_default().await.into_value();
        count.fetch_add(1, Ordering::Relaxed) + 1
    }
}
