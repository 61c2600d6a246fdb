//! Signs tokens.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use platform::{
    auth::{Caller, Grant, TokenIssuer},
    clock::Clock,
    ids::Ids,
};

/// Signs tokens with the key of identity-svc. Cloning is cheap.
#[derive(Debug, Clone)]
pub(crate) struct Tokens {
    issuer: Arc<TokenIssuer>,
    clock: Clock,
    ids: Ids,
}

/// A signed token.
#[derive(Debug)]
pub(crate) struct Issued {
    pub(crate) token: String,
    pub(crate) expires_at: DateTime<Utc>,
}

impl Tokens {
    pub(crate) fn new(issuer: Arc<TokenIssuer>, clock: Clock, ids: Ids) -> Self {
        Self { issuer, clock, ids }
    }

    /// Returns the public keys as a JSON Web Key Set.
    pub(crate) fn jwks_json(&self) -> String {
        self.issuer.jwks_json()
    }

    /// Signs a token of this caller, with its token version.
    pub(crate) fn issue(&self, caller: &Caller, version: i32, lifetime: Duration) -> Issued {
        let now = self.clock.now();
        let id = self.ids.uuid().to_string();
        let token = self.issuer.issue(Grant {
            caller,
            version,
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
