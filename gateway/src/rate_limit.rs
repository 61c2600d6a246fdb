//! Token buckets of callers, so that nobody takes the share of others. They are those of one process:
//! behind a load balancer a caller has the sum of all gateways.
//!
//! Headers: draft-ietf-httpapi-ratelimit-headers.

use std::{hash::Hash, num::NonZeroU32, sync::Arc, time::Duration};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue},
    middleware::Next,
    response::Response,
};
use governor::{
    NotUntil, Quota, RateLimiter,
    clock::{Clock as _, DefaultClock, QuantaInstant},
    middleware::StateInformationMiddleware,
    state::{InMemoryState, NotKeyed},
};
use moka::sync::Cache;
use platform::error::{Code, Failure};

use crate::{App, client_address::ClientAddress, error::Problem};

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Wrong credentials that an address may send.
const WRONG_CREDENTIALS: Rate = {
    let ten = NonZeroU32::new(10).expect("not zero");
    Rate {
        per_second: ten,
        burst: ten,
    }
};
/// Requests a minute, and at once after a pause, that a user may send to a route that is limited stricter.
const STRICTER: NonZeroU32 = NonZeroU32::new(20).expect("not zero");
/// How long an address is refused that has sent more.
const REFUSED_FOR: Duration = Duration::from_secs(1);
/// Most callers whose buckets are kept. One that was dropped starts with a full bucket.
const MAX_CALLERS: u64 = 100_000;
/// The time after which an unused bucket is dropped. Settings see to it that it is full by then.
const DROPPED_AFTER: Duration = Duration::from_mins(5);

type Bucket = RateLimiter<NotKeyed, InMemoryState, DefaultClock, StateInformationMiddleware>;

/// Who shares a bucket.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Caller {
    /// A user or API key, wherever it calls from.
    Principal(Arc<str>),
    /// Everybody without credentials at an address.
    Address(ClientAddress),
}

/// The buckets of all callers. Cloning is cheap.
#[derive(Debug, Clone)]
pub(crate) struct RateLimits {
    /// `None` if requests are not limited.
    rate: Option<Rate>,
    buckets: Cache<Caller, Arc<Bucket>>,
    /// Those of users for a route that is limited stricter.
    stricter: Cache<Arc<str>, Arc<Bucket>>,
    wrong_credentials: Cache<ClientAddress, Arc<Bucket>>,
    /// Addresses that have sent too many wrong credentials.
    refused: Cache<ClientAddress, ()>,
}

/// Requests a second, and at once after a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rate {
    pub(crate) per_second: NonZeroU32,
    pub(crate) burst: NonZeroU32,
}

/// What a caller has left of its quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Allowance {
    rate: Rate,
    remaining: u32,
}

impl RateLimits {
    pub(crate) fn new(rate: Option<Rate>) -> Self {
        Self {
            rate,
            buckets: no_buckets(),
            stricter: no_buckets(),
            wrong_credentials: no_buckets(),
            refused: Cache::builder()
                .time_to_live(REFUSED_FOR)
                .max_capacity(MAX_CALLERS)
                .build(),
        }
    }

    /// Takes a request from the caller's bucket: `rate_limited` if it is empty, `None` if requests are not
    /// limited.
    pub(crate) fn take(&self, caller: Caller) -> Result<Option<Allowance>, Failure> {
        let Some(rate) = self.rate else {
            return Ok(None);
        };
        let bucket = self
            .buckets
            .get_with(caller, || Arc::new(rate.full_bucket()));
        match bucket.check() {
            Ok(state) => Ok(Some(Allowance {
                rate,
                remaining: state.remaining_burst_capacity(),
            })),
            Err(early) => Err(too_many("too many requests", wait(&early))),
        }
    }

    /// Takes a request of a user to a route that is limited stricter: `rate_limited` if the bucket is empty.
    pub(crate) fn take_stricter(&self, user: &Arc<str>) -> Result<(), Failure> {
        if self.rate.is_none() {
            return Ok(());
        }
        let bucket = self.stricter.get_with(Arc::clone(user), || {
            let quota = Quota::per_minute(STRICTER);
            Arc::new(RateLimiter::direct(quota).with_middleware())
        });
        let taken = bucket.check().map(drop);
        taken.map_err(|early| too_many("too many requests of this kind", wait(&early)))
    }

    /// Returns `rate_limited` for an address that has sent too many wrong credentials.
    pub(crate) fn check_address(&self, address: ClientAddress) -> Result<(), Failure> {
        if self.refused.contains_key(&address) {
            return Err(too_many("too many wrong credentials", REFUSED_FOR));
        }
        Ok(())
    }

    /// Notes wrong credentials of an address.
    pub(crate) fn note_wrong_credentials(&self, address: ClientAddress) {
        if self.rate.is_none() {
            return;
        }
        let bucket = self
            .wrong_credentials
            .get_with(address, || Arc::new(WRONG_CREDENTIALS.full_bucket()));
        if bucket.check().is_err() {
            self.refused.insert(address, ());
        }
    }
}

impl Rate {
    fn full_bucket(self) -> Bucket {
        let quota = Quota::per_second(self.per_second).allow_burst(self.burst);
        RateLimiter::direct(quota).with_middleware()
    }

    /// Returns the seconds in which this many requests are allowed again.
    fn seconds(self, requests: u32) -> u32 {
        requests.div_ceil(self.per_second.get())
    }
}

impl Allowance {
    /// Sets the headers that tell a caller its quota and what is left of it.
    pub(crate) fn show(self, headers: &mut HeaderMap) {
        let (rate, remaining) = (self.rate, self.remaining);
        let burst = rate.burst.get();
        let window = rate.seconds(burst);
        let reset = rate.seconds(burst.saturating_sub(remaining));
        let header = |text: String| HeaderValue::try_from(text).expect("numbers are ASCII");
        headers.insert(
            RATE_LIMIT_POLICY,
            header(format!("\"default\";q={burst};w={window}")),
        );
        headers.insert(
            RATE_LIMIT,
            header(format!("\"default\";r={remaining};t={reset}")),
        );
    }
}

fn no_buckets<K: Hash + Eq + Send + Sync + 'static>() -> Cache<K, Arc<Bucket>> {
    Cache::builder()
        .time_to_idle(DROPPED_AFTER)
        .max_capacity(MAX_CALLERS)
        .build()
}

fn wait(early: &NotUntil<QuantaInstant>) -> Duration {
    early.wait_time_from(DefaultClock::default().now())
}

fn too_many(detail: &'static str, wait: Duration) -> Failure {
    Failure::new(Code::RateLimited, detail).retry_after(wait)
}

/// Limits requests to what needs no credentials by their address.
pub(crate) async fn by_address(
    State(app): State<App>,
    address: ClientAddress,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let allowance = app.rate_limits.take(Caller::Address(address))?;
    let mut response = next.run(request).await;
    if let Some(allowance) = allowance {
        allowance.show(response.headers_mut());
    }
    Ok(response)
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;

    const HERE: ClientAddress = ClientAddress(IpAddr::V4(Ipv4Addr::LOCALHOST));
    const THERE: ClientAddress = ClientAddress(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)));

    fn limits(per_second: u32, burst: u32) -> RateLimits {
        let number = |number| NonZeroU32::new(number).unwrap();
        RateLimits::new(Some(Rate {
            per_second: number(per_second),
            burst: number(burst),
        }))
    }

    #[test]
    fn a_caller_has_a_burst_and_others_are_not_affected() {
        // Nothing is added to a bucket within the test.
        let limits = limits(1, 200);
        let caller = Caller::Principal("user:1".into());
        for left in (0..200).rev() {
            let allowance = limits.take(caller.clone()).unwrap().unwrap();
            assert!(allowance.remaining.abs_diff(left) <= 1, "{allowance:?}");
        }
        let refusal = (0..2).find_map(|_| limits.take(caller.clone()).err());
        let refusal = refusal.expect("the bucket is empty");
        assert_eq!(refusal.code, Code::RateLimited);
        assert!(refusal.retry_after.is_some());
        assert!(limits.take(Caller::Principal("user:2".into())).is_ok());
        assert!(limits.take(Caller::Address(HERE)).is_ok());
    }

    #[test]
    fn the_headers_say_what_is_left_and_when_the_bucket_is_full() {
        let limits = limits(100, 200);
        let mut headers = HeaderMap::new();
        let allowance = Allowance {
            remaining: 49,
            ..limits.take(Caller::Address(HERE)).unwrap().unwrap()
        };
        allowance.show(&mut headers);
        assert_eq!(headers["ratelimit-policy"], "\"default\";q=200;w=2");
        assert_eq!(headers["ratelimit"], "\"default\";r=49;t=2");
    }

    #[test]
    fn an_address_may_send_a_few_wrong_credentials() {
        let limits = limits(100, 200);
        for number in 0..WRONG_CREDENTIALS.burst.get() {
            assert!(limits.check_address(HERE).is_ok(), "{number}");
            limits.note_wrong_credentials(HERE);
        }
        for _ in 0..3 {
            limits.note_wrong_credentials(HERE);
        }
        let refusal = limits.check_address(HERE).unwrap_err();
        assert_eq!(refusal.code, Code::RateLimited);
        assert!(limits.check_address(THERE).is_ok());
    }

    #[test]
    fn a_user_sends_twenty_times_at_once_and_others_are_not_affected() {
        let limits = limits(1_000, 1_000);
        for _ in 0..20 {
            assert!(limits.take_stricter(&"user:1".into()).is_ok());
        }
        let refusal = (0..2).find_map(|_| limits.take_stricter(&"user:1".into()).err());
        let refusal = refusal.expect("the bucket is empty");
        assert_eq!(refusal.code, Code::RateLimited);
        assert!(refusal.retry_after.is_some());
        assert!(limits.take_stricter(&"user:2".into()).is_ok());
    }

    #[test]
    fn nobody_is_limited_without_a_rate() {
        let limits = RateLimits::new(None);
        for _ in 0..1000 {
            assert_eq!(limits.take(Caller::Address(HERE)).unwrap(), None);
            assert!(limits.take_stricter(&"user:1".into()).is_ok());
            limits.note_wrong_credentials(HERE);
        }
        assert!(limits.check_address(HERE).is_ok());
    }
}
