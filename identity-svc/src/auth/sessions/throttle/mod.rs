//! Limits wrong passwords, so that nobody finds one by trying, and nobody keeps a user out by trying.
//!
//! * From one address on one account, five attempts are free. Then each one costs twice the wait of
//!   the one before, from a second to 15 minutes. A login with the right password ends the count.
//! * From one address on all accounts, 50 attempts are free, and one more every ten seconds. Attempts
//!   that the first limit refuses do not count: who tries one account does not use up the attempts of
//!   others behind the same address.
//! * On one account from all addresses, 100 attempts are free, and one more every 30 seconds. Beyond
//!   that no address is refused at once: two attempts are free instead of five. The user gets in from
//!   its own address at any time.
//!
//! The counts are in the memory of one process: a wrong password writes nothing that others wait for,
//! and an attacker fills no table. With several replicas the limits multiply by their number.

mod bucket;

use std::{net::IpAddr, time::Duration};

use moka::{ops::compute::Op, sync::Cache};
use platform::error::{Code, Failure};
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;

use self::bucket::Buckets;

/// Attempts of one address on one account before it has to wait.
const FREE: u32 = 5;
/// The same while others try the account.
const FREE_UNDER_ATTACK: u32 = 2;
const MAX_WAIT: Duration = Duration::from_mins(15);
/// The time without an attempt after which a count starts again.
const FORGET_AFTER: Duration = Duration::from_hours(1);
/// Pairs of an account and an address that are counted at once.
const MAX_PAIRS: u64 = 100_000;

/// A part of the hash of what is counted: short, and it shows no email.
type Key = [u8; 16];

/// The counts of attempts. Cloning is cheap and shares them.
#[derive(Debug, Clone)]
pub(super) struct Throttle {
    pairs: Cache<Key, Count>,
    addresses: Buckets,
    accounts: Buckets,
}

#[derive(Debug, Clone, Copy)]
struct Count {
    attempts: u32,
    last: Instant,
}

/// An attempt, which counts as a wrong password unless it ends otherwise.
#[derive(Debug)]
pub(super) struct Attempt<'t> {
    throttle: &'t Throttle,
    pair: Key,
    address: Key,
    /// `None` if the account had no attempts left.
    account: Option<Key>,
}

impl Default for Throttle {
    fn default() -> Self {
        let pairs = Cache::builder()
            .max_capacity(MAX_PAIRS)
            .time_to_live(FORGET_AFTER)
            .build();
        Self {
            pairs,
            addresses: Buckets::new(50, Duration::from_secs(10)),
            accounts: Buckets::new(100, Duration::from_secs(30)),
        }
    }
}

impl Throttle {
    /// Counts an attempt, or refuses it with the time to wait. An account that does not exist is
    /// counted like one that does.
    pub(super) fn begin(&self, account: &str, from: IpAddr) -> Result<Attempt<'_>, Failure> {
        self.begin_at(account, from, Instant::now())
    }

    fn begin_at(&self, account: &str, from: IpAddr, now: Instant) -> Result<Attempt<'_>, Failure> {
        let prefix = prefix(from);
        let account_key = key(account.as_bytes(), &[]);
        let mut attempt = Attempt {
            throttle: self,
            pair: key(account.as_bytes(), &prefix),
            address: key(&[], &prefix),
            account: self
                .accounts
                .take(account_key, now)
                .is_ok()
                .then_some(account_key),
        };
        let free = match attempt.account {
            Some(_) => FREE,
            None => FREE_UNDER_ATTACK,
        };
        if let Err(wait) = self.count(attempt.pair, free, now) {
            attempt.return_account(now);
            return Err(too_many(wait));
        }
        if let Err(wait) = self.addresses.take(attempt.address, now) {
            self.uncount(attempt.pair);
            attempt.return_account(now);
            return Err(too_many(wait));
        }
        Ok(attempt)
    }

    fn count(&self, pair: Key, free: u32, now: Instant) -> Result<(), Duration> {
        let mut counted = Ok(());
        self.pairs.entry(pair).and_compute_with(|entry| {
            let before = entry.map_or(0, |entry| {
                let count = entry.into_value();
                let waited = now.saturating_duration_since(count.last);
                let left = wait_after(count.attempts, free).saturating_sub(waited);
                if left > Duration::ZERO {
                    counted = Err(left);
                }
                count.attempts
            });
            if counted.is_err() {
                return Op::Nop;
            }
            let attempts = before.saturating_add(1);
            Op::Put(Count {
                attempts,
                last: now,
            })
        });
        counted
    }

    fn uncount(&self, pair: Key) {
        self.pairs
            .entry(pair)
            .and_compute_with(|entry| match entry.map(moka::Entry::into_value) {
                Some(count) if count.attempts > 1 => Op::Put(Count {
                    attempts: count.attempts - 1,
                    ..count
                }),
                Some(_) => Op::Remove,
                None => Op::Nop,
            });
    }
}

impl Attempt<'_> {
    /// Ends the attempt with the right password: the address's count on the account starts again.
    pub(super) fn succeeded(mut self) {
        self.throttle.pairs.invalidate(&self.pair);
        self.return_shared();
    }

    /// Ends the attempt without a result of the comparison.
    pub(super) fn withdraw(mut self) {
        self.throttle.uncount(self.pair);
        self.return_shared();
    }

    fn return_shared(&mut self) {
        let now = Instant::now();
        self.throttle.addresses.put_back(self.address, now);
        self.return_account(now);
    }

    fn return_account(&mut self, now: Instant) {
        if let Some(account) = self.account.take() {
            self.throttle.accounts.put_back(account, now);
        }
    }
}

/// Returns the wait after this many attempts: none for the free ones, then 1 s, 2 s, 4 s…
fn wait_after(attempts: u32, free: u32) -> Duration {
    let Some(doublings) = attempts.checked_sub(free) else {
        return Duration::ZERO;
    };
    let seconds = 1_u64.checked_shl(doublings).unwrap_or(u64::MAX);
    Duration::from_secs(seconds).min(MAX_WAIT)
}

fn too_many(wait: Duration) -> Failure {
    let seconds = Duration::from_secs(wait.as_secs() + 1);
    Failure::new(Code::RateLimited, "too many attempts to log in").retry_after(seconds)
}

/// Returns the part of an address that one client has to itself: all of IPv4, the network of IPv6.
fn prefix(address: IpAddr) -> Vec<u8> {
    match address.to_canonical() {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets()[..8].to_vec(),
    }
}

fn key(account: &[u8], prefix: &[u8]) -> Key {
    let hash = Sha256::new()
        .chain_update(account.len().to_be_bytes())
        .chain_update(account)
        .chain_update(prefix)
        .finalize();
    let (key, _) = hash.split_first_chunk().expect("SHA-256 has 32 bytes");
    *key
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));

    fn there(number: u8) -> IpAddr {
        IpAddr::V4(std::net::Ipv4Addr::new(10, 1, 0, number))
    }

    fn wait(throttle: &Throttle, account: &str, from: IpAddr, now: Instant) -> Option<u64> {
        let refused = throttle.begin_at(account, from, now).err()?;
        assert_eq!(refused.code, Code::RateLimited);
        refused.retry_after.map(|wait| wait.as_secs())
    }

    #[test]
    fn five_attempts_are_free_and_the_wait_doubles_up_to_a_quarter_of_an_hour() {
        let throttle = Throttle::default();
        let mut now = Instant::now();
        for _ in 0..FREE {
            assert_eq!(wait(&throttle, "ann", HERE, now), None);
        }
        for expected in [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900] {
            assert_eq!(wait(&throttle, "ann", HERE, now), Some(expected + 1));
            now += Duration::from_secs(expected);
            assert_eq!(wait(&throttle, "ann", HERE, now), None, "{expected}");
        }
    }

    #[test]
    fn the_right_password_ends_the_count() {
        let throttle = Throttle::default();
        let now = Instant::now();
        for _ in 0..10 {
            for _ in 1..FREE {
                assert_eq!(wait(&throttle, "ann", HERE, now), None);
            }
            throttle.begin_at("ann", HERE, now).unwrap().succeeded();
        }
    }

    #[test]
    fn an_attempt_without_a_result_does_not_count() {
        let throttle = Throttle::default();
        let now = Instant::now();
        for _ in 0..200 {
            throttle.begin_at("ann", HERE, now).unwrap().withdraw();
        }
        for _ in 0..FREE {
            assert_eq!(wait(&throttle, "ann", HERE, now), None);
        }
    }

    #[test]
    fn who_tries_one_account_keeps_nobody_out_of_another() {
        let throttle = Throttle::default();
        let now = Instant::now();
        for _ in 0..1_000 {
            _ = throttle.begin_at("ann", HERE, now);
        }
        assert_eq!(wait(&throttle, "bob", HERE, now), None, "the same address");
        assert_eq!(wait(&throttle, "ann", there(1), now), None, "the owner");
    }

    #[test]
    fn an_address_that_tries_many_accounts_is_slowed_down() {
        let throttle = Throttle::default();
        let now = Instant::now();
        for number in 0..50 {
            assert_eq!(wait(&throttle, &format!("user {number}"), HERE, now), None);
        }
        assert_eq!(wait(&throttle, "user 50", HERE, now), Some(11));
        assert_eq!(wait(&throttle, "user 50", there(1), now), None);
        let later = now + Duration::from_secs(10);
        assert_eq!(wait(&throttle, "user 50", HERE, later), None);
    }

    #[test]
    fn an_account_under_attack_from_many_addresses_lets_each_try_twice() {
        let throttle = Throttle::default();
        let now = Instant::now();
        for number in 0..50 {
            for _ in 0..FREE_UNDER_ATTACK {
                assert_eq!(wait(&throttle, "ann", there(number), now), None);
            }
        }
        for _ in 0..FREE_UNDER_ATTACK {
            assert_eq!(wait(&throttle, "ann", HERE, now), None, "the owner");
        }
        assert_eq!(wait(&throttle, "ann", HERE, now), Some(2));
    }

    #[test]
    fn an_ipv6_network_and_a_mapped_ipv4_address_count_as_one_address() {
        let parse = |text: &str| prefix(text.parse().unwrap());
        assert_eq!(parse("2001:db8:1:2::1"), parse("2001:db8:1:2:ffff::9"));
        assert_ne!(parse("2001:db8:1:2::1"), parse("2001:db8:1:3::1"));
        assert_eq!(parse("::ffff:10.0.0.1"), parse("10.0.0.1"));
    }
}
