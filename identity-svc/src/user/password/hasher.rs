//! Hashing (Argon2id) at a bounded cost.

use std::{fmt, num::NonZero, sync::Arc, thread, time::Duration};

use argon2::{
    Algorithm, Argon2, Params, PasswordVerifier as _, Version,
    password_hash::{self, PasswordHasher as _, phc::PasswordHash},
};
use platform::{
    error::{Code, Failure},
    grpc::deadline,
};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::{sync::Semaphore, task};

use super::{Password, PasswordAttempt};
use crate::error::{Error, Result};

/// The most hashes that wait for others: more would wait for longer than a request's time.
const MAX_WAITING: usize = 32;
/// The least time that a request needs for its hash and what follows. With less, its caller would be
/// gone when it takes effect.
const LEAST_TIME: Duration = Duration::from_millis(500);

/// The cost of a hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HashingCost {
    /// Memory in KiB.
    pub(crate) memory: u32,
    pub(crate) passes: u32,
    pub(crate) lanes: u32,
}

/// Hashes passwords on blocking threads, a few at a time: a hash takes 19 MiB and tens of
/// milliseconds, and many sign-ups must not starve other requests. Cloning is cheap and shares the
/// queue.
#[derive(Clone)]
pub(crate) struct Hasher {
    argon2: Argon2<'static>,
    /// A hash at the current cost that no password is compared with in earnest.
    dummy: Arc<str>,
    permits: Arc<Semaphore>,
    /// The places of hashes in progress and of those that wait for a permit.
    places: Arc<Semaphore>,
}

/// The result of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Verified {
    pub(crate) matches: bool,
    /// Whether the hash was made at a lower cost than that of now.
    pub(crate) is_outdated: bool,
}

impl Hasher {
    /// Creates a hasher that uses at most half of the machine's cores. Fails if the cost is not
    /// possible.
    pub(crate) fn new(cost: HashingCost) -> anyhow::Result<Self> {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        Self::with_parallel(cost, (cores / 2).max(1))
    }

    fn with_parallel(cost: HashingCost, parallel: usize) -> anyhow::Result<Self> {
        let HashingCost {
            memory,
            passes,
            lanes,
        } = cost;
        let params = Params::new(memory, passes, lanes, None)?;
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        let dummy = argon2.hash_password(b"")?.to_string();
        Ok(Self {
            argon2,
            dummy: dummy.into(),
            permits: Arc::new(Semaphore::new(parallel)),
            places: Arc::new(Semaphore::new(parallel + MAX_WAITING)),
        })
    }

    /// Returns the hash in PHC form, with a random salt. `unavailable` if too many wait, `timeout` if
    /// the request's time is over when its turn comes.
    pub(crate) async fn hash(&self, password: &Password) -> Result<String> {
        self.hash_text(password.0.clone()).await
    }

    /// Hashes the password of a login again, at the current cost.
    pub(crate) async fn hash_again(&self, password: &PasswordAttempt) -> Result<String> {
        self.hash_text(password.0.clone()).await
    }

    async fn hash_text(&self, password: SecretString) -> Result<String> {
        self.run(move |argon2| {
            let hash = argon2.hash_password(password.expose_secret().as_bytes())?;
            Ok(hash.to_string())
        })
        .await
    }

    /// Compares a password with a hash. Without one it takes the same time, and does not match.
    pub(crate) async fn verify(
        &self,
        password: &PasswordAttempt,
        hash: Option<&str>,
    ) -> Result<Verified> {
        let (password, known) = (password.0.clone(), hash.is_some());
        let hash = hash.unwrap_or(&self.dummy).to_owned();
        self.run(move |argon2| {
            let hash = PasswordHash::new(&hash)?;
            let password = password.expose_secret().as_bytes();
            let matches = match argon2.verify_password(password, &hash) {
                Ok(()) => known,
                Err(password_hash::Error::PasswordInvalid) => false,
                Err(error) => return Err(error),
            };
            Ok(Verified {
                matches,
                is_outdated: costs_less(&Params::try_from(&hash)?, argon2.params()),
            })
        })
        .await
    }

    /// Runs work that takes as long as a hash, when its turn comes.
    async fn run<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Argon2<'static>) -> password_hash::Result<T> + Send + 'static,
    {
        let place = Arc::clone(&self.places).try_acquire_owned();
        let place = place.map_err(|_| too_many())?;
        let permit = Arc::clone(&self.permits)
            .acquire_owned()
            .await
            .map_err(Error::internal)?;
        if deadline::remaining().is_some_and(|left| left < LEAST_TIME) {
            return Err(Failure::new(Code::Timeout, "no time is left to hash the password").into());
        }
        let argon2 = self.argon2.clone();
        task::spawn_blocking(move || {
            // Held until the hash is done, also if its caller is gone.
            let _held = (place, permit);
            work(&argon2)
        })
        .await
        .map_err(Error::internal)?
        .map_err(Error::internal)
    }
}

/// Returns whether a hash costs less in some respect than another.
fn costs_less(hash: &Params, other: &Params) -> bool {
    hash.m_cost() < other.m_cost()
        || hash.t_cost() < other.t_cost()
        || hash.p_cost() < other.p_cost()
}

fn too_many() -> Error {
    Failure::new(Code::Unavailable, "too many passwords wait to be hashed").into()
}

impl fmt::Debug for Hasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hasher")
            .field("params", self.argon2.params())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COST: HashingCost = HashingCost {
        memory: 19_456,
        passes: 2,
        lanes: 1,
    };

    fn hasher() -> Hasher {
        Hasher::with_parallel(COST, 1).unwrap()
    }

    fn password(text: &str) -> Password {
        Password::parse(text).unwrap()
    }

    async fn matches(hasher: &Hasher, text: &str, hash: Option<&str>) -> bool {
        let attempt = PasswordAttempt::parse(text).unwrap();
        hasher.verify(&attempt, hash).await.unwrap().matches
    }

    #[tokio::test]
    async fn hashes_cover_every_character_and_any_normal_form() {
        let (hasher, common) = (hasher(), format!("Aa1{}", "x".repeat(96)));
        let composed = password(&format!("{common}\u{e9}"));
        let hash = hasher.hash(&composed).await.unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
        for (text, expected) in [
            (format!("{common}\u{e9}"), true),
            (format!("{common}e\u{301}"), true),
            (format!("{common}e"), false),
            (common, false),
            (String::new(), false),
        ] {
            assert_eq!(
                matches(&hasher, &text, Some(&hash)).await,
                expected,
                "{text}"
            );
        }
    }

    #[tokio::test]
    async fn without_a_hash_no_password_matches() {
        let hasher = hasher();
        for text in ["", "Abcdefg1"] {
            assert!(!matches(&hasher, text, None).await, "{text}");
        }
    }

    #[tokio::test]
    async fn a_hash_is_outdated_once_the_cost_has_grown() {
        let attempt = PasswordAttempt::parse("Abcdefg1").unwrap();
        let old = hasher().hash(&password("Abcdefg1")).await.unwrap();
        for (cost, is_outdated) in [
            (COST, false),
            (
                HashingCost {
                    memory: 20_000,
                    ..COST
                },
                true,
            ),
            (HashingCost { passes: 3, ..COST }, true),
            (HashingCost { lanes: 2, ..COST }, true),
            (HashingCost { passes: 1, ..COST }, false),
        ] {
            let now = Hasher::with_parallel(cost, 1).unwrap();
            let verified = now.verify(&attempt, Some(&old)).await.unwrap();
            let expected = Verified {
                matches: true,
                is_outdated,
            };
            assert_eq!(verified, expected, "{cost:?}");
        }
    }

    #[test]
    fn an_impossible_cost_is_refused() {
        assert!(Hasher::new(HashingCost { memory: 1, ..COST }).is_err());
        assert!(Hasher::new(HashingCost { passes: 0, ..COST }).is_err());
    }

    #[tokio::test]
    async fn a_malformed_hash_is_a_fault() {
        let attempt = PasswordAttempt::parse("Abcdefg1").unwrap();
        let result = hasher().verify(&attempt, Some("plain")).await;
        assert_eq!(Failure::from(result.unwrap_err()).code, Code::Internal);
    }

    fn code(result: Result<String>) -> Code {
        Failure::from(result.unwrap_err()).code
    }

    #[tokio::test]
    async fn more_than_can_wait_are_refused_at_once() {
        let hasher = hasher();
        let password = password("Abcdefg1");
        let busy = Arc::clone(&hasher.permits).acquire_owned().await.unwrap();
        let mut waiting: Vec<_> = (0..=MAX_WAITING)
            .map(|_| Box::pin(hasher.hash(&password)))
            .collect();
        for hash in &mut waiting {
            assert!(futures::poll!(hash).is_pending());
        }
        let refused = Failure::from(hasher.hash(&password).await.unwrap_err());
        assert_eq!(refused.code, Code::Unavailable);
        assert!(refused.retry_after.is_some());
        drop(busy);
        waiting.swap_remove(0).await.unwrap();
        drop(waiting);
        hasher.hash(&password).await.unwrap();
    }

    #[tokio::test]
    async fn a_request_without_time_hashes_nothing() {
        let hasher = hasher();
        let password = password("Abcdefg1");
        let soon = tokio::time::Instant::now() + LEAST_TIME / 2;
        let late = deadline::within(Some(soon), hasher.hash(&password)).await;
        assert_eq!(code(late), Code::Timeout);
        assert_eq!(hasher.places.available_permits(), 1 + MAX_WAITING);
    }
}
