//! The public keys that verify tokens: fixed, or fetched from identity-svc.

use std::{
    collections::HashMap,
    sync::{Arc, RwLock, RwLockReadGuard},
    time::Duration,
};

use anyhow::Context as _;
use futures::future::BoxFuture;
use jsonwebtoken::{
    DecodingKey,
    jwk::{AlgorithmParameters, EllipticCurve, Jwk, JwkSet},
};
use proto::identity::v1::{GetJwksRequest, auth_service_client::AuthServiceClient};
use tokio::{sync::Mutex, time::Instant};

use crate::{
    error::{Code, Failure},
    grpc::client::Client,
};

/// The age at which keys are fetched again: how long a withdrawn key is accepted.
const MAX_AGE: Duration = Duration::from_mins(1);
/// The least time between two successful fetches: clients can send any number of unknown key ids.
const MIN_FETCH_INTERVAL: Duration = Duration::from_secs(2);
/// How long a failed fetch answers for the next one: waiting requests do not repeat it one by one.
const FAILURE_MEMORY: Duration = Duration::from_secs(1);

type Keys = HashMap<String, DecodingKey>;
type Fetch = Box<dyn Fn() -> BoxFuture<'static, anyhow::Result<String>> + Send + Sync>;

/// Where keys are found by id.
pub(super) enum KeySource {
    Fixed(Keys),
    Remote(Arc<Remote>),
}

pub(super) struct Remote {
    fetch: Fetch,
    known: RwLock<Known>,
    /// The last fetch. Locked during a fetch: there is one at a time.
    last: Mutex<Option<Attempt>>,
}

#[derive(Default)]
struct Known {
    keys: Keys,
    /// The time of the next fetch in the background; `None` before the first fetch.
    refresh_at: Option<Instant>,
}

#[derive(Clone, Copy)]
struct Attempt {
    ended: Instant,
    succeeded: bool,
}

impl KeySource {
    pub(super) fn fixed(jwks_json: &str) -> anyhow::Result<Self> {
        parse(jwks_json).map(Self::Fixed)
    }

    pub(super) fn remote(identity: &Client) -> Self {
        let client: AuthServiceClient<Client> = identity.service();
        Self::fetched_by(move || {
            let mut client = client.clone();
            Box::pin(async move {
                let response = client.get_jwks(GetJwksRequest {}).await?;
                Ok(response.into_inner().jwks_json)
            })
        })
    }

    pub(super) fn fetched_by<F>(fetch: F) -> Self
    where
        F: Fn() -> BoxFuture<'static, anyhow::Result<String>> + Send + Sync + 'static,
    {
        Self::Remote(Arc::new(Remote {
            fetch: Box::new(fetch),
            known: RwLock::default(),
            last: Mutex::new(None),
        }))
    }

    /// Tells whether a key is known now, without waiting for a fetch.
    pub(super) fn knows(&self, id: &str) -> bool {
        match self {
            Self::Fixed(keys) => keys.contains_key(id),
            Self::Remote(remote) => {
                remote.refresh_if_old();
                remote.known().keys.contains_key(id)
            }
        }
    }

    /// Finds a key. `unauthenticated` if there is none, `unavailable` if identity-svc does not respond.
    pub(super) async fn find(&self, id: &str) -> Result<DecodingKey, Failure> {
        let key = match self {
            Self::Fixed(keys) => keys.get(id).cloned(),
            Self::Remote(remote) => {
                remote.refresh_if_old();
                match remote.cached(id) {
                    Some(key) => Some(key),
                    None => remote.fetch(id).await?,
                }
            }
        };
        key.ok_or_else(|| {
            Failure::new(
                Code::Unauthenticated,
                "the token is not valid: its signing key is unknown",
            )
        })
    }
}

impl Remote {
    fn known(&self) -> RwLockReadGuard<'_, Known> {
        self.known.read().expect("no holder panics")
    }

    fn cached(&self, id: &str) -> Option<DecodingKey> {
        self.known().keys.get(id).cloned()
    }

    /// Fetches old keys again in the background. They are used until that has succeeded: identity-svc
    /// may be away.
    fn refresh_if_old(self: &Arc<Self>) {
        let now = Instant::now();
        if self.known().refresh_at.is_none_or(|at| now < at) {
            return;
        }
        self.set_refresh(now + FAILURE_MEMORY);
        let remote = Arc::clone(self);
        tokio::spawn(async move {
            let mut last = remote.last.lock().await;
            if let Err(error) = remote.replace(&mut last).await {
                let error = format!("{error:#}");
                tracing::warn!(error, "token keys: refresh failed, using the known ones");
            }
        });
    }

    async fn fetch(&self, id: &str) -> Result<Option<DecodingKey>, Failure> {
        let unavailable = || Failure::unavailable("identity");
        let mut last = self.last.lock().await;
        if let Some(key) = self.cached(id) {
            return Ok(Some(key));
        }
        match *last {
            Some(last) if last.succeeded && last.ended.elapsed() < MIN_FETCH_INTERVAL => {
                return Ok(None);
            }
            Some(last) if !last.succeeded && last.ended.elapsed() < FAILURE_MEMORY => {
                return Err(unavailable());
            }
            _ => {}
        }
        self.replace(&mut last)
            .await
            .map_err(|error| unavailable().with_source(error))?;
        Ok(self.cached(id))
    }

    /// Replaces the known keys.
    async fn replace(&self, last: &mut Option<Attempt>) -> anyhow::Result<()> {
        let fetched = (self.fetch)().await.and_then(|jwks| parse(&jwks));
        let ended = Instant::now();
        *last = Some(Attempt {
            ended,
            succeeded: fetched.is_ok(),
        });
        *self.known.write().expect("no holder panics") = Known {
            keys: fetched?,
            refresh_at: Some(ended + MAX_AGE),
        };
        Ok(())
    }

    fn set_refresh(&self, at: Instant) {
        self.known.write().expect("no holder panics").refresh_at = Some(at);
    }
}

fn parse(jwks_json: &str) -> anyhow::Result<Keys> {
    let set: JwkSet = serde_json::from_str(jwks_json).context("not a JSON Web Key Set")?;
    set.keys
        .iter()
        .filter(|key| is_ed25519(key))
        .map(entry)
        .collect()
}

fn is_ed25519(key: &Jwk) -> bool {
    matches!(&key.algorithm, AlgorithmParameters::OctetKeyPair(pair)
        if pair.curve == EllipticCurve::Ed25519)
}

fn entry(key: &Jwk) -> anyhow::Result<(String, DecodingKey)> {
    let id = key.common.key_id.clone().context("a key without `kid`")?;
    Ok((id, DecodingKey::from_jwk(key).context("a malformed key")?))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::auth::TokenIssuer;

    /// identity-svc as a source of keys: its signing key, and whether it is away.
    #[derive(Clone, Default)]
    pub(in crate::auth) struct FakeIdentity(Arc<std::sync::Mutex<State>>);

    #[derive(Default)]
    struct State {
        seed: u8,
        away: bool,
        fetches: usize,
    }

    impl FakeIdentity {
        pub(in crate::auth) fn source(&self) -> KeySource {
            let identity = self.clone();
            KeySource::fetched_by(move || {
                let mut state = identity.0.lock().unwrap();
                state.fetches += 1;
                let jwks = TokenIssuer::new(&[state.seed; 32]).jwks_json();
                let fetched = if state.away {
                    Err(anyhow::anyhow!("away"))
                } else {
                    Ok(jwks)
                };
                Box::pin(async move { fetched })
            })
        }

        pub(in crate::auth) fn sign_with(&self, seed: u8) -> TokenIssuer {
            self.0.lock().unwrap().seed = seed;
            TokenIssuer::new(&[seed; 32])
        }

        fn set_away(&self, away: bool) {
            self.0.lock().unwrap().away = away;
        }

        fn fetches(&self) -> usize {
            self.0.lock().unwrap().fetches
        }
    }

    fn key_id(issuer: &TokenIssuer) -> String {
        let jwks: JwkSet = serde_json::from_str(&issuer.jwks_json()).unwrap();
        jwks.keys[0].common.key_id.clone().unwrap()
    }

    async fn code(keys: &KeySource, id: &str) -> Option<Code> {
        keys.find(id).await.err().map(|failure| failure.code)
    }

    #[tokio::test(start_paused = true)]
    async fn keys_are_fetched_again_after_a_minute_and_used_while_identity_is_away() {
        let identity = FakeIdentity::default();
        let keys = identity.source();
        let id = key_id(&identity.sign_with(1));
        assert_eq!(code(&keys, &id).await, None);
        identity.set_away(true);
        tokio::time::advance(MAX_AGE).await;
        assert!(keys.knows(&id));
        tokio::task::yield_now().await;
        assert!(keys.knows(&id), "the refresh failed");
        assert_eq!(identity.fetches(), 2);

        identity.set_away(false);
        identity.sign_with(2);
        tokio::time::advance(FAILURE_MEMORY).await;
        assert!(keys.knows(&id), "used while the keys are fetched");
        tokio::task::yield_now().await;
        assert!(!keys.knows(&id), "the key was withdrawn");
        assert_eq!(identity.fetches(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_failed_fetch_answers_for_the_next_second() {
        let identity = FakeIdentity::default();
        identity.set_away(true);
        let keys = identity.source();
        for _ in 0..10 {
            assert_eq!(code(&keys, "unknown").await, Some(Code::Unavailable));
        }
        assert_eq!(identity.fetches(), 1);
        tokio::time::advance(FAILURE_MEMORY).await;
        assert_eq!(code(&keys, "unknown").await, Some(Code::Unavailable));
        assert_eq!(identity.fetches(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn unknown_keys_lead_to_one_fetch_in_two_seconds() {
        let identity = FakeIdentity::default();
        let keys = identity.source();
        for id in ["a", "b", "c"] {
            assert_eq!(code(&keys, id).await, Some(Code::Unauthenticated));
        }
        assert_eq!(identity.fetches(), 1);
        tokio::time::advance(MIN_FETCH_INTERVAL).await;
        assert_eq!(code(&keys, "d").await, Some(Code::Unauthenticated));
        assert_eq!(identity.fetches(), 2);
    }
}
