//! Logins that identity-svc has refused for a while: after wrong passwords of one address for one email,
//! the next attempt has to wait. Until then the gateway refuses by itself, so that an attacker's requests
//! cost the services nothing.

use std::time::Duration;

use moka::sync::Cache;
use platform::error::{Code, Failure};
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;

use crate::{client_address::ClientAddress, error::Problem};

/// Pairs of an email and an address that are kept at once.
const MAX_PAIRS: u64 = 100_000;
/// The longest wait that identity-svc asks for.
const MAX_WAIT: Duration = Duration::from_mins(15);

/// The ends of waits, by the hash of email and address.
#[derive(Debug)]
pub(crate) struct LoginWaits(Cache<[u8; 32], Instant>);

/// A login of one address with one email.
#[derive(Debug)]
pub(crate) struct Login<'w> {
    waits: &'w LoginWaits,
    key: [u8; 32],
}

impl Default for LoginWaits {
    fn default() -> Self {
        let ends = Cache::builder()
            .max_capacity(MAX_PAIRS)
            .time_to_live(MAX_WAIT)
            .build();
        Self(ends)
    }
}

impl LoginWaits {
    /// Begins a login: `rate_limited`, with the rest of the wait, if it is too early. The email counts as it
    /// is written: identity-svc knows which ones are the same.
    pub(crate) fn begin(&self, email: &str, address: ClientAddress) -> Result<Login<'_>, Failure> {
        let key = Sha256::new()
            .chain_update(address.0.to_string())
            .chain_update("\n")
            .chain_update(email)
            .finalize()
            .into();
        if let Some(end) = self.0.get(&key) {
            let rest = end.saturating_duration_since(Instant::now());
            if !rest.is_zero() {
                let refusal = Failure::new(Code::RateLimited, "too many attempts to log in");
                return Err(refusal.retry_after(rest));
            }
        }
        Ok(Login { waits: self, key })
    }
}

impl Login<'_> {
    /// Keeps the wait, if the login was refused with one.
    pub(crate) fn refused(&self, Problem(failure): &Problem) {
        let wait = failure
            .retry_after
            .filter(|_| failure.code == Code::RateLimited);
        if let Some(wait) = wait {
            let end = Instant::now() + wait.min(MAX_WAIT);
            self.waits.0.insert(self.key, end);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;

    const HERE: ClientAddress = ClientAddress(IpAddr::V4(Ipv4Addr::LOCALHOST));
    const THERE: ClientAddress = ClientAddress(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)));

    fn refuse(waits: &LoginWaits, failure: Failure) {
        let login = waits.begin("ann@example.com", HERE).expect("no wait");
        login.refused(&Problem(failure));
    }

    #[tokio::test(start_paused = true)]
    async fn a_refused_login_waits_and_others_do_not() {
        let waits = LoginWaits::default();
        let wait = Duration::from_secs(8);
        refuse(
            &waits,
            Failure::new(Code::RateLimited, "").retry_after(wait),
        );
        tokio::time::advance(Duration::from_secs(3)).await;
        let refusal = waits.begin("ann@example.com", HERE).unwrap_err();
        assert_eq!(refusal.code, Code::RateLimited);
        assert_eq!(refusal.retry_after, Some(Duration::from_secs(5)));
        assert!(waits.begin("ann@example.com", THERE).is_ok());
        assert!(waits.begin("bob@example.com", HERE).is_ok());
        tokio::time::advance(Duration::from_secs(5)).await;
        assert!(waits.begin("ann@example.com", HERE).is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn other_failures_are_not_kept() {
        let waits = LoginWaits::default();
        refuse(&waits, Failure::new(Code::Unauthenticated, ""));
        refuse(&waits, Failure::unavailable("identity"));
        assert!(waits.begin("ann@example.com", HERE).is_ok());
    }
}
