//! The public keys that verify tokens: fixed, or fetched from identity-svc.

use std::{
    collections::HashMap,
    sync::{Arc, RwLock},
    time::Duration,
};

use anyhow::Context as _;
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

/// The least time between two fetches: clients can send any number of unknown key ids.
const MIN_FETCH_INTERVAL: Duration = Duration::from_secs(2);

type Keys = HashMap<String, DecodingKey>;

/// Where keys are found by id.
pub(super) enum KeySource {
    Fixed(Keys),
    Remote(Box<Remote>),
}

pub(super) struct Remote {
    client: AuthServiceClient<Client>,
    keys: RwLock<Arc<Keys>>,
    /// The time of the last successful fetch. Locked during a fetch: there is one at a time.
    fetched: Mutex<Option<Instant>>,
}

impl KeySource {
    pub(super) fn fixed(jwks_json: &str) -> anyhow::Result<Self> {
        parse(jwks_json).map(Self::Fixed)
    }

    pub(super) fn remote(identity: &Client) -> Self {
        Self::Remote(Box::new(Remote {
            client: identity.service(),
            keys: RwLock::default(),
            fetched: Mutex::new(None),
        }))
    }

    /// Finds a key. `unauthenticated` if there is none, `unavailable` if identity-svc does not respond.
    pub(super) async fn find(&self, id: &str) -> Result<DecodingKey, Failure> {
        let key = match self {
            Self::Fixed(keys) => keys.get(id).cloned(),
            Self::Remote(remote) => match remote.cached(id) {
                Some(key) => Some(key),
                None => remote.fetch(id).await?,
            },
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
    fn cached(&self, id: &str) -> Option<DecodingKey> {
        self.keys.read().expect("no holder panics").get(id).cloned()
    }

    async fn fetch(&self, id: &str) -> Result<Option<DecodingKey>, Failure> {
        let mut fetched = self.fetched.lock().await;
        let is_fresh = fetched.is_some_and(|at| at.elapsed() < MIN_FETCH_INTERVAL);
        if let Some(key) = self.cached(id) {
            return Ok(Some(key));
        }
        if is_fresh {
            return Ok(None);
        }
        let unavailable = || Failure::unavailable("identity");
        let response = self
            .client
            .clone()
            .get_jwks(GetJwksRequest {})
            .await
            .map_err(|status| unavailable().with_source(status))?;
        let keys = parse(&response.into_inner().jwks_json)
            .map_err(|error| unavailable().with_source(error))?;
        let key = keys.get(id).cloned();
        *self.keys.write().expect("no holder panics") = Arc::new(keys);
        *fetched = Some(Instant::now());
        Ok(key)
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
