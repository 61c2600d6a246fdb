//! The public keys that tokens are checked with: given, or fetched from identity-svc.

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

/// Unknown key ids are anyone's to invent: they cause one fetch in this time and no more.
const REFETCH_AFTER: Duration = Duration::from_secs(2);

type Keys = HashMap<String, DecodingKey>;

/// Finds a key by its id.
pub(super) enum KeySource {
    Fixed(Keys),
    Remote(Box<Remote>),
}

pub(super) struct Remote {
    client: AuthServiceClient<Client>,
    keys: RwLock<Arc<Keys>>,
    /// When the last fetch succeeded; held while one is under way, so that there is one at a time.
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

    /// `unauthenticated` when there is no such key, `unavailable` when that can't be known.
    pub(super) async fn find(&self, id: &str) -> Result<DecodingKey, Failure> {
        let key = match self {
            Self::Fixed(keys) => keys.get(id).cloned(),
            Self::Remote(remote) => match remote.known(id) {
                Some(key) => Some(key),
                None => remote.fetch(id).await?,
            },
        };
        key.ok_or_else(|| Failure::new(Code::Unauthenticated, "the token's key is not known"))
    }
}

impl Remote {
    fn known(&self, id: &str) -> Option<DecodingKey> {
        self.keys.read().expect("no holder panics").get(id).cloned()
    }

    async fn fetch(&self, id: &str) -> Result<Option<DecodingKey>, Failure> {
        let mut fetched = self.fetched.lock().await;
        let is_fresh = fetched.is_some_and(|at| at.elapsed() < REFETCH_AFTER);
        if let Some(key) = self.known(id) {
            return Ok(Some(key));
        }
        if is_fresh {
            return Ok(None);
        }
        let unavailable = || Failure::unavailable("identity");
        let answer = self.client.clone().get_jwks(GetJwksRequest {}).await;
        let answer = answer.map_err(|status| unavailable().with_source(status))?;
        let keys = parse(&answer.into_inner().jwks_json)
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
