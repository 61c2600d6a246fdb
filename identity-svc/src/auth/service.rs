//! Issues tokens for credentials.

use std::{net::IpAddr, time::Duration};

use platform::{
    auth::{Caller, Kind, Role},
    clock::Clock,
    config,
    error::{Code, Failure},
    pg,
};
use secrecy::{ExposeSecret as _, SecretString};
use sqlx::PgPool;

use super::{
    FailureLimit, KnownServices, Tokens,
    api_key::{self, BOOTSTRAP_ID},
    repo,
    tokens::Issued,
};
use crate::{
    error::{Error, Result},
    revocation,
};

/// The lifetime of a token. Processes renew theirs after half of it, and the gateway exchanges an API
/// key again after 30 seconds: tokens are accepted although clocks differ by ten minutes.
const TOKEN_TTL: Duration = Duration::from_mins(20);

/// The token version of services and anonymous callers, whose tokens are never revoked.
const UNVERSIONED: i32 = 0;

#[derive(Debug, Clone)]
pub(crate) struct Auth {
    pool: PgPool,
    tokens: Tokens,
    services: KnownServices,
    wrong_keys: FailureLimit,
    mode: config::Auth,
    clock: Clock,
}

impl Auth {
    pub(crate) fn new(
        pool: PgPool,
        tokens: Tokens,
        services: KnownServices,
        mode: config::Auth,
        clock: Clock,
    ) -> Self {
        Self {
            pool,
            tokens,
            services,
            wrong_keys: FailureLimit::new(),
            mode,
            clock,
        }
    }

    /// Returns the public keys as a JSON Web Key Set.
    pub(crate) fn jwks_json(&self) -> String {
        self.tokens.jwks_json()
    }

    /// Issues a token to the process whose secret this is.
    pub(crate) async fn service_token(
        &self,
        service: &str,
        secret: &str,
        from: IpAddr,
    ) -> Result<Issued> {
        let service = self.services.authenticate(service, secret, from).await?;
        Ok(self.own_token(service))
    }

    /// Issues a token without a secret, for identity-svc itself.
    pub(crate) fn own_token(&self, service: &str) -> Issued {
        let caller = Caller {
            kind: Kind::Service,
            subject: service.to_owned(),
            roles: vec![Role::Admin],
        };
        self.tokens.issue(&caller, UNVERSIONED, TOKEN_TTL)
    }

    /// Issues an admin's token for callers without credentials, in open mode only.
    pub(crate) fn anonymous_token(&self) -> Result<Issued> {
        if self.mode != config::Auth::Open {
            let detail = "callers without credentials are admins with AUTH=open only";
            return Err(Failure::new(Code::Forbidden, detail).into());
        }
        let caller = Caller {
            kind: Kind::Anonymous,
            subject: "anonymous".to_owned(),
            roles: vec![Role::Admin],
        };
        Ok(self.tokens.issue(&caller, UNVERSIONED, TOKEN_TTL))
    }

    /// Issues a token with the roles of an API key to a client at this address, which may send few
    /// wrong keys. Unknown, expired and revoked keys get the same error.
    pub(crate) async fn exchange_api_key_from(&self, key: &str, from: IpAddr) -> Result<Issued> {
        self.wrong_keys.check(from).await?;
        let issued = self.exchange_api_key(key).await;
        if let Err(Error::BadCredentials) = issued {
            let failures = self.wrong_keys.count(from).await;
            tracing::warn!(address = %from, failures, "API keys: unusable key, refusing it");
        }
        issued
    }

    /// Issues a token with the roles of an API key to the gateway, which limits its clients itself.
    pub(crate) async fn exchange_api_key(&self, key: &str) -> Result<Issued> {
        let key = repo::find_usable(&self.pool, &api_key::hash(key))
            .await?
            .ok_or(Error::BadCredentials)?;
        let lifetime = key.seconds_left.map_or(TOKEN_TTL, |seconds| {
            Duration::from_secs(seconds.max(1).unsigned_abs()).min(TOKEN_TTL)
        });
        if key.is_use_old
            && let Err(error) = repo::record_use(&self.pool, key.id).await
        {
            tracing::debug!(%error, "API keys: use not recorded, retrying with the next one");
        }
        let caller = Caller {
            kind: Kind::Key,
            subject: key.id.to_string(),
            roles: key.roles,
        };
        Ok(self.tokens.issue(&caller, key.token_version, lifetime))
    }

    /// Stores the configured admin key, or ends the one configured before. The tokens of a key that is
    /// replaced or ended are revoked.
    pub(crate) async fn set_bootstrap_key(&self, key: Option<&SecretString>) -> Result<()> {
        let now = self.clock.now();
        let mut tx = pg::tx(&self.pool).await?;
        let ended = match key {
            Some(key) => {
                let hash = api_key::hash(key.expose_secret());
                repo::insert_admin_in_tx(&mut tx, BOOTSTRAP_ID, "bootstrap", &hash, now).await?;
                repo::replace_admin_in_tx(&mut tx, BOOTSTRAP_ID, &hash).await?
            }
            None => repo::end_in_tx(&mut tx, BOOTSTRAP_ID, now).await?,
        };
        if ended {
            revocation::revoke_key_in_tx(&mut tx, BOOTSTRAP_ID).await?;
        }
        Ok(tx.commit().await?)
    }
}
