//! Authentication between processes by signed tokens (`EdDSA` JWT of identity-svc).
//!
//! The gateway authenticates clients, identity-svc signs tokens, and the service that owns the data
//! authorises. A process has one [`Auth`]: a verifier for incoming calls, a token for outgoing ones.

mod caller;
mod issuer;
mod keys;
mod revocations;
mod service_token;
mod verifier;

use serde::{Deserialize, Serialize};

use crate::{
    config::{Common, ServiceSecret},
    grpc::client,
};

pub use caller::{Caller, Kind, Role};
pub use issuer::{Grant, TokenIssuer};
pub use revocations::{RETENTION, Revocation, Revocations};
pub use service_token::ServiceToken;
pub use verifier::TokenVerifier;

/// `iss` of every token, and `aud` of the tokens of clients.
const GUERDON: &str = "guerdon";
/// `aud` of the tokens of services, which the public API does not accept.
const INTERNAL: &str = "guerdon-internal";

/// The claims of a token.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Claims {
    iss: String,
    aud: String,
    sub: String,
    kind: Kind,
    roles: Vec<String>,
    /// The token version of the subject; absent counts as 0.
    #[serde(default)]
    ver: i32,
    exp: u64,
    iat: u64,
    jti: String,
}

/// The verifier and the token of a process.
#[derive(Debug, Clone)]
pub struct Auth {
    /// Verifies the tokens of incoming calls.
    pub verifier: TokenVerifier,
    /// The process's own token, for outgoing calls.
    pub token: ServiceToken,
}

impl Auth {
    /// Fetches keys and token from identity-svc on first use: identity-svc may start later. Fails only
    /// on a malformed address.
    pub fn remote(
        service: &'static str,
        common: &Common,
        secret: &ServiceSecret,
    ) -> anyhow::Result<Self> {
        let identity = client::connect_with(
            "identity",
            &common.peers.identity_grpc_url,
            &common.tls,
            None,
        )?;
        let token = ServiceToken::remote(&identity, service, secret.value.clone());
        let revocations = Revocations::remote(&identity.with_token(token.clone()));
        Ok(Self {
            verifier: TokenVerifier::remote(&identity, revocations),
            token,
        })
    }
}
