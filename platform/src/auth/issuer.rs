//! Signs tokens and publishes the key that verifies them, in identity-svc and in tests.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use chrono::{DateTime, Utc};
use ed25519_dalek::{SigningKey, pkcs8::EncodePrivateKey as _};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::{Caller, Claims, GUERDON};

/// Signs tokens with one Ed25519 key.
pub struct TokenIssuer {
    key: EncodingKey,
    key_id: String,
    public: String,
}

/// The content of a token.
#[derive(Debug, Clone, Copy)]
pub struct Grant<'a> {
    /// The caller that it stands for.
    pub caller: &'a Caller,
    /// The subject's token version: once its tokens are revoked, those of lower versions are refused.
    pub version: i32,
    /// The time of issue.
    pub now: DateTime<Utc>,
    /// The time until it expires.
    pub lifetime: Duration,
    /// The unique id (`jti`).
    pub id: &'a str,
}

impl TokenIssuer {
    /// Creates an issuer from the seed of its key. Tests use any constant: a verifier trusts only
    /// published keys.
    pub fn new(seed: &[u8; 32]) -> Self {
        let key = SigningKey::from_bytes(seed);
        let der = key
            .to_pkcs8_der()
            .expect("an Ed25519 key always has a PKCS#8 form");
        let public = key.verifying_key().to_bytes();
        Self {
            key: EncodingKey::from_ed_der(der.as_bytes()),
            key_id: BASE64.encode(&Sha256::digest(public)[..12]),
            public: BASE64.encode(public),
        }
    }

    /// Returns the id of the key, which its tokens name as `kid`.
    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    /// Signs a token.
    pub fn issue(&self, grant: Grant<'_>) -> String {
        let issued = u64::try_from(grant.now.timestamp()).unwrap_or_default();
        let claims = Claims {
            iss: GUERDON.to_owned(),
            aud: grant.caller.kind.audience().to_owned(),
            sub: grant.caller.subject.clone(),
            kind: grant.caller.kind,
            roles: grant
                .caller
                .roles
                .iter()
                .map(|role| role.as_str().to_owned())
                .collect(),
            ver: grant.version,
            exp: issued + grant.lifetime.as_secs(),
            iat: issued,
            jti: grant.id.to_owned(),
        };
        let mut header = Header::new(Algorithm::EdDSA);
        header.kid = Some(self.key_id.clone());
        jsonwebtoken::encode(&header, &claims, &self.key)
            .expect("plain claims and a well-formed key can always be signed")
    }

    /// Returns the public key as a JSON Web Key Set.
    pub fn jwks_json(&self) -> String {
        Self::key_set([self])
    }

    /// Returns the public keys of issuers as a JSON Web Key Set (RFC 7517, RFC 8037).
    pub fn key_set<'i>(issuers: impl IntoIterator<Item = &'i Self>) -> String {
        let key = |issuer: &Self| {
            json!({
                "kty": "OKP", "crv": "Ed25519", "use": "sig", "alg": "EdDSA",
                "kid": issuer.key_id, "x": issuer.public,
            })
        };
        let keys: Vec<_> = issuers.into_iter().map(key).collect();
        json!({ "keys": keys }).to_string()
    }
}

impl std::fmt::Debug for TokenIssuer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenIssuer")
            .field("key_id", &self.key_id)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
impl TokenIssuer {
    /// Signs a token with any issuer and audience, and an unknown role.
    pub(super) fn issue_for(&self, iss: &str, aud: &str, exp: u64) -> String {
        let claims = json!({"iss": iss, "aud": aud, "sub": "u1", "kind": "user",
            "roles": ["emperor"], "exp": exp, "iat": exp - 600, "jti": "t"});
        let mut header = Header::new(Algorithm::EdDSA);
        header.kid = Some(self.key_id.clone());
        jsonwebtoken::encode(&header, &claims, &self.key).expect("well-formed")
    }
}
