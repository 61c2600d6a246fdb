//! Who is calling: signed tokens (`EdDSA` JWT of identity-svc), made, checked and carried.
//!
//! The gateway authenticates, identity-svc signs, and the service that owns the data authorises.
//! A process has one [`Auth`]: the verifier for what it receives, the token for what it sends.

mod caller;
mod issuer;
mod keys;
mod service_token;
mod verifier;

use serde::{Deserialize, Serialize};

use crate::{config::Common, grpc::client};

pub use caller::{Caller, Kind, Role};
pub use issuer::{Grant, TokenIssuer};
pub use service_token::ServiceToken;
pub use verifier::TokenVerifier;

/// `iss` and `aud` of every token.
const GUERDON: &str = "guerdon";

/// What a token says.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Claims {
    iss: String,
    aud: String,
    sub: String,
    kind: Kind,
    roles: Vec<String>,
    exp: u64,
    iat: u64,
    jti: String,
}

/// What a process needs to check tokens and to send its own.
#[derive(Debug, Clone)]
pub struct Auth {
    /// Checks the tokens of incoming calls.
    pub verifier: TokenVerifier,
    /// The process's own token, for its calls to others.
    pub token: ServiceToken,
}

impl Auth {
    /// Keys and token from identity-svc, fetched when first needed: identity-svc may come up later.
    /// Fails on a malformed address.
    pub fn remote(service: &'static str, common: &Common) -> anyhow::Result<Self> {
        let identity = client::connect("identity", &common.peers.identity_grpc_url, None)?;
        let secret = common.service_secret.clone();
        Ok(Self {
            verifier: TokenVerifier::remote(&identity),
            token: ServiceToken::remote(&identity, service, secret),
        })
    }
}
