//! Signs tokens.

use std::time::Duration;

use chrono::{DateTime, Utc};
use platform::{
    auth::{Caller, Grant},
    clock::Clock,
    ids::Ids,
};

use super::signing_keys::SigningKeys;

/// Signs tokens with the current key of identity-svc. Cloning is cheap.
#[derive(Debug, Clone)]
pub(crate) struct Tokens {
    keys: SigningKeys,
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
    pub(crate) fn new(keys: SigningKeys, clock: Clock, ids: Ids) -> Self {
        Self { keys, clock, ids }
    }

    /// Returns the public keys as a JSON Web Key Set.
    pub(crate) fn jwks_json(&self) -> String {
        self.keys.jwks_json()
    }

    /// Signs a token of this caller, with its token version.
    pub(crate) fn issue(&self, caller: &Caller, version: i32, lifetime: Duration) -> Issued {
        let now = self.clock.now();
        let id = self.ids.uuid().to_string();
        let grant = Grant {
            caller,
            version,
            now,
            lifetime,
            id: &id,
        };
        let token = self.keys.sign(|issuer| issuer.issue(grant));
        Issued {
            token,
            expires_at: now + lifetime,
        }
    }
}
