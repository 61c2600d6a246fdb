//! Issues tokens for credentials.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use platform::{
    auth::{Caller, Grant, Kind, Role, TokenIssuer},
    clock::Clock,
    error::{Failure, FieldCode},
    ids::Ids,
};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};
use sqlx::PgPool;
use subtle::ConstantTimeEq as _;

use super::{
    api_key::{self, BOOTSTRAP_ID},
    repo,
};
use crate::error::{Error, Result};

/// The lifetime of a process's token, which is renewed after half of it.
const SERVICE_TOKEN_TTL: Duration = Duration::from_mins(10);

/// The longest lifetime of an API key's token, and so of a revoked key.
const MAX_KEY_TOKEN_TTL: Duration = Duration::from_mins(1);

const MAX_SERVICE_NAME: usize = 64;

#[derive(Debug, Clone)]
pub(crate) struct Auth {
    pool: PgPool,
    issuer: Arc<TokenIssuer>,
    secret: SecretString,
    clock: Clock,
    ids: Ids,
}

/// A signed token.
#[derive(Debug)]
pub(crate) struct Issued {
    pub(crate) token: String,
    pub(crate) expires_at: DateTime<Utc>,
}

impl Auth {
    /// `secret` is shared by all processes of the deployment.
    pub(crate) fn new(
        pool: PgPool,
        issuer: Arc<TokenIssuer>,
        secret: SecretString,
        clock: Clock,
        ids: Ids,
    ) -> Self {
        Self {
            pool,
            issuer,
            secret,
            clock,
            ids,
        }
    }

    /// Returns the public keys as a JSON Web Key Set.
    pub(crate) fn jwks_json(&self) -> String {
        self.issuer.jwks_json()
    }

    /// Issues a token to a process that knows the secret.
    pub(crate) fn service_token(&self, service: &str, secret: &str) -> Result<Issued> {
        let (actual, expected) = (digest(secret), digest(self.secret.expose_secret()));
        // Hashes have the same length: the comparison takes the same time for every secret.
        if !bool::from(actual.ct_eq(&expected)) {
            return Err(Error::BadCredentials);
        }
        let is_name = |b: u8| b.is_ascii_lowercase() || b == b'-';
        if service.is_empty() || service.len() > MAX_SERVICE_NAME || !service.bytes().all(is_name) {
            let message = "must be the name of a process";
            return Err(Failure::invalid("service", FieldCode::Format, message).into());
        }
        Ok(self.own_token(service))
    }

    /// Issues a token without a secret, for identity-svc itself.
    pub(crate) fn own_token(&self, service: &str) -> Issued {
        let caller = Caller {
            kind: Kind::Service,
            subject: service.to_owned(),
            roles: vec![Role::Admin],
        };
        self.issue(&caller, SERVICE_TOKEN_TTL)
    }

    /// Issues a token with the roles of an API key. Unknown, expired and revoked keys get the same
    /// error.
    pub(crate) async fn exchange_api_key(&self, key: &str) -> Result<Issued> {
        let key = repo::find_usable(&self.pool, &api_key::hash(key))
            .await?
            .ok_or(Error::BadCredentials)?;
        let lifetime = key.seconds_left.map_or(MAX_KEY_TOKEN_TTL, |seconds| {
            Duration::from_secs(seconds.max(1).unsigned_abs()).min(MAX_KEY_TOKEN_TTL)
        });
        let caller = Caller {
            kind: Kind::Key,
            subject: key.id.to_string(),
            roles: key.roles,
        };
        Ok(self.issue(&caller, lifetime))
    }

    /// Stores the configured admin key, or revokes the one configured before.
    pub(crate) async fn set_bootstrap_key(&self, key: Option<&SecretString>) -> Result<()> {
        let now = self.clock.now();
        match key {
            Some(key) => {
                let hash = api_key::hash(key.expose_secret());
                repo::upsert_admin(&self.pool, BOOTSTRAP_ID, "bootstrap", &hash, now).await?;
            }
            None => repo::revoke(&self.pool, BOOTSTRAP_ID, now).await?,
        }
        Ok(())
    }

    fn issue(&self, caller: &Caller, lifetime: Duration) -> Issued {
        let now = self.clock.now();
        let id = self.ids.uuid().to_string();
        let token = self.issuer.issue(Grant {
            caller,
            now,
            lifetime,
            id: &id,
        });
        Issued {
            token,
            expires_at: now + lifetime,
        }
    }
}

fn digest(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}
