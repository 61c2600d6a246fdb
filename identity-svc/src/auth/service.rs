//! What turns credentials into tokens.

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

/// How long a process's token is good for; it renews at half time.
const SERVICE_LIFETIME: Duration = Duration::from_mins(10);

/// How long an API key's token is good for at most: a revoked key lives on no longer than this.
const KEY_LIFETIME: Duration = Duration::from_mins(1);

/// The longest name of a process.
const SERVICE_NAME_MAX: usize = 64;

/// Issues tokens.
#[derive(Debug, Clone)]
pub struct Auth {
    pool: PgPool,
    issuer: Arc<TokenIssuer>,
    secret: SecretString,
    clock: Clock,
    ids: Ids,
}

/// A token and when it ends.
#[derive(Debug)]
pub struct Issued {
    /// The signed token.
    pub token: String,
    /// When it ends.
    pub expires_at: DateTime<Utc>,
}

impl Auth {
    /// `secret` is what all processes of the deployment share.
    pub fn new(
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

    /// The public keys, as a JSON Web Key Set.
    pub fn jwks_json(&self) -> String {
        self.issuer.jwks_json()
    }

    /// A token for the process of this name, which must know the secret.
    pub fn service_token(&self, service: &str, secret: &str) -> Result<Issued> {
        let (given, expected) = (digest(secret), digest(self.secret.expose_secret()));
        // Hashes have one length, so that the time taken tells nothing about the secret.
        if !bool::from(given.ct_eq(&expected)) {
            return Err(Error::BadCredentials);
        }
        let is_name = |b: u8| b.is_ascii_lowercase() || b == b'-';
        if service.is_empty() || service.len() > SERVICE_NAME_MAX || !service.bytes().all(is_name) {
            let message = "must be the name of a process";
            return Err(Failure::invalid("service", FieldCode::Format, message).into());
        }
        Ok(self.own_token(service))
    }

    /// A token for a process that need not prove what it is: identity-svc itself.
    pub fn own_token(&self, service: &str) -> Issued {
        let caller = Caller {
            kind: Kind::Service,
            subject: service.to_owned(),
            roles: vec![Role::Admin],
        };
        self.issue(&caller, SERVICE_LIFETIME)
    }

    /// A token that acts with the roles of this key. Unknown, expired and revoked keys get the same
    /// answer.
    pub async fn exchange_api_key(&self, key: &str) -> Result<Issued> {
        let found = repo::find_usable(&self.pool, &api_key::hash(key)).await?;
        let key = found.ok_or(Error::BadCredentials)?;
        let left = key
            .seconds_left
            .map(|left| Duration::from_secs(left.max(1).unsigned_abs()));
        let lifetime = left.map_or(KEY_LIFETIME, |left| left.min(KEY_LIFETIME));
        let caller = Caller {
            kind: Kind::Key,
            subject: key.id.to_string(),
            roles: key.roles,
        };
        Ok(self.issue(&caller, lifetime))
    }

    /// Makes the configured admin key usable, and ends the one configured before.
    pub async fn set_bootstrap_key(&self, key: Option<&SecretString>) -> Result<()> {
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
