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
    /// A hash at the current cost for passwords that there is no hash of.
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
        Ok(Self {
            argon2: Argon2::new(Algorithm::Argon2id, Version::V0x13, params),
            dummy: dummy(cost).into(),
            permits: Arc::new(Semaphore::new(parallel)),
            places: Arc::new(Semaphore::new(parallel + MAX_WAITING)),
        })
    }

    /// Returns the permits of hashes, for tests that hold them.
    pub(crate) fn permits(&self) -> Arc<Semaphore> {
        Arc::clone(&self.permits)
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

/// Returns a hash at this cost, in PHC form, that is of no password: salt and output are zeros. To compute one
/// would leave its memory with an idle process.
fn dummy(cost: HashingCost) -> String {
    let HashingCost {
        memory,
        passes,
        lanes,
    } = cost;
    let (salt, output) = ("A".repeat(22), "A".repeat(43));
    format!("$argon2id$v=19$m={memory},t={passes},p={lanes}${salt}${output}")
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
mod tests;
