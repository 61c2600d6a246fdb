//! Verifies tokens: signature, algorithm, issuer, audience, lifetime, revocation. Caches verified tokens by their
//! hash until they expire or their key is withdrawn.

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;
use jsonwebtoken::{Algorithm, Validation, get_current_timestamp};
use moka::future::Cache;
use sha2::{Digest as _, Sha256};

use super::{Caller, Claims, GUERDON, INTERNAL, Revocations, Role, keys::KeySource};
use crate::{
    error::{Code, Failure},
    grpc::client::Client,
};

/// The tolerated difference between two machines' clocks.
const LEEWAY_SECONDS: u64 = 5;

/// The longest lifetime of a token: a key that signs longer ones is not identity-svc's.
pub(super) const MAX_LIFETIME: Duration = Duration::from_hours(1);

const WRONG_AUDIENCE: &str = "its issuer or audience is wrong";

const CACHE_CAPACITY: u64 = 10_000;
const CACHE_TTL: Duration = Duration::from_mins(10);

/// Verifies tokens. Cloning is cheap and shares the cache.
#[derive(Clone)]
pub struct TokenVerifier {
    keys: Arc<KeySource>,
    revocations: Revocations,
    cache: Cache<[u8; 32], Verified>,
    clients_only: bool,
}

#[derive(Clone)]
struct Verified {
    caller: Arc<Caller>,
    version: i32,
    key_id: String,
    expires: u64,
}

impl TokenVerifier {
    /// Creates a verifier that trusts the keys of a JWKS document, for tests. It knows no revocations; see
    /// [`TokenVerifier::with_revocations`].
    pub fn fixed(jwks_json: &str) -> anyhow::Result<Self> {
        KeySource::fixed(jwks_json).map(Self::new)
    }

    /// Creates a verifier that trusts the keys of identity-svc; it fetches them on the first token and
    /// on an unknown key.
    pub fn remote(identity: &Client, revocations: Revocations) -> Self {
        Self::new(KeySource::remote(identity)).with_revocations(revocations)
    }

    /// Returns a verifier that refuses the tokens that are revoked.
    #[must_use]
    pub fn with_revocations(self, revocations: Revocations) -> Self {
        Self {
            revocations,
            ..self
        }
    }

    /// Creates a verifier that gets the keys from a function, for identity-svc itself. It knows no
    /// revocations either.
    pub fn fetched_by<F>(fetch: F) -> Self
    where
        F: Fn() -> BoxFuture<'static, anyhow::Result<String>> + Send + Sync + 'static,
    {
        Self::new(KeySource::fetched_by(fetch))
    }

    fn new(keys: KeySource) -> Self {
        let cache = Cache::builder()
            .max_capacity(CACHE_CAPACITY)
            .time_to_live(CACHE_TTL)
            .build();
        Self {
            keys: Arc::new(keys),
            revocations: Revocations::none(),
            cache,
            clients_only: false,
        }
    }

    /// Returns a verifier that refuses the tokens of services, for the public API.
    #[must_use]
    pub fn for_clients(self) -> Self {
        Self {
            clients_only: true,
            ..self
        }
    }

    /// Returns the revocations that tokens are checked against.
    pub fn revocations(&self) -> &Revocations {
        &self.revocations
    }

    /// Returns the caller of a token; `unauthenticated` if it is invalid or revoked, `unavailable` if the
    /// keys cannot be fetched.
    pub async fn verify(&self, token: &str) -> Result<Arc<Caller>, Failure> {
        let hash: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        let verified = if let Some(verified) = self.cached(&hash).await {
            verified
        } else {
            let verified = self.check(token).await?;
            self.cache.insert(hash, verified.clone()).await;
            verified
        };
        self.revocations.check(&verified.caller, verified.version)?;
        if self.clients_only && verified.caller.is_service() {
            return Err(invalid(WRONG_AUDIENCE));
        }
        Ok(verified.caller)
    }

    async fn cached(&self, hash: &[u8; 32]) -> Option<Verified> {
        let verified = self.cache.get(hash).await?;
        let is_valid = get_current_timestamp() <= verified.expires + LEEWAY_SECONDS
            && self.keys.knows(&verified.key_id);
        is_valid.then_some(verified)
    }

    async fn check(&self, token: &str) -> Result<Verified, Failure> {
        let header = jsonwebtoken::decode_header(token).map_err(invalid_token)?;
        let key_id = header
            .kid
            .filter(|_| header.alg == Algorithm::EdDSA)
            .ok_or_else(|| invalid("its signing key is unknown"))?;
        let key = self.keys.find(&key_id).await?;
        let claims = jsonwebtoken::decode::<Claims>(token, &key, &validation())
            .map_err(invalid_token)?
            .claims;
        check_claims(&claims)?;
        let caller = Caller {
            kind: claims.kind,
            subject: claims.sub,
            roles: Role::parse_known(&claims.roles),
        };
        Ok(Verified {
            caller: Arc::new(caller),
            version: claims.ver,
            key_id,
            expires: claims.exp,
        })
    }
}

/// Checks what a signature does not: a client's token is not a service's, whatever its `kind` says.
fn check_claims(claims: &Claims) -> Result<(), Failure> {
    if claims.aud != claims.kind.audience() {
        return Err(invalid(WRONG_AUDIENCE));
    }
    match claims.exp.checked_sub(claims.iat) {
        Some(lifetime) if lifetime <= MAX_LIFETIME.as_secs() => Ok(()),
        _ => Err(invalid("its lifetime is too long")),
    }
}

fn validation() -> Validation {
    let mut validation = Validation::new(Algorithm::EdDSA);
    validation.set_issuer(&[GUERDON]);
    validation.set_audience(&[GUERDON, INTERNAL]);
    validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
    validation.leeway = LEEWAY_SECONDS;
    validation
}

pub(super) fn invalid(why: &str) -> Failure {
    Failure::new(
        Code::Unauthenticated,
        format!("the token is not valid: {why}"),
    )
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn invalid_token(error: jsonwebtoken::errors::Error) -> Failure {
    use jsonwebtoken::errors::ErrorKind;
    invalid(match error.kind() {
        ErrorKind::ExpiredSignature => "it has expired",
        ErrorKind::InvalidSignature => "its signature is wrong",
        ErrorKind::InvalidIssuer | ErrorKind::InvalidAudience => WRONG_AUDIENCE,
        _ => "it is malformed",
    })
}

impl std::fmt::Debug for TokenVerifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenVerifier").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
    use chrono::{DateTime, Utc};
    use jsonwebtoken::{EncodingKey, Header};
    use serde_json::json;

    use super::*;
    use crate::auth::{Grant, Kind, TokenIssuer, keys::tests::FakeIdentity};

    fn caller() -> Caller {
        Caller {
            kind: Kind::User,
            subject: "u1".to_owned(),
            roles: vec![Role::User],
        }
    }

    fn now() -> DateTime<Utc> {
        DateTime::from_timestamp(i64::try_from(get_current_timestamp()).unwrap(), 0).unwrap()
    }

    fn token(issuer: &TokenIssuer, now: DateTime<Utc>) -> String {
        token_of(issuer, &caller(), now, Duration::from_mins(10))
    }

    fn token_of(
        issuer: &TokenIssuer,
        caller: &Caller,
        now: DateTime<Utc>,
        lifetime: Duration,
    ) -> String {
        issuer.issue(Grant {
            caller,
            version: 0,
            now,
            lifetime,
            id: "t1",
        })
    }

    fn pair() -> (TokenIssuer, TokenVerifier) {
        let issuer = TokenIssuer::new(&[1; 32]);
        let verifier = TokenVerifier::fixed(&issuer.jwks_json()).unwrap();
        (issuer, verifier)
    }

    async fn error(verifier: &TokenVerifier, token: &str) -> String {
        let failure = verifier.verify(token).await.unwrap_err();
        assert_eq!(failure.code, Code::Unauthenticated, "{failure}");
        failure.detail
    }

    /// Combines a header and claims with the signature of another token.
    fn forged(token: &str, header: &serde_json::Value, claims: &serde_json::Value) -> String {
        let signature = token.rsplit('.').next().unwrap();
        let part = |value: &serde_json::Value| BASE64.encode(value.to_string());
        format!("{}.{}.{signature}", part(header), part(claims))
    }

    #[tokio::test]
    async fn a_valid_token_identifies_its_caller() {
        let (issuer, verifier) = pair();
        let token = token(&issuer, now());
        for _ in 0..2 {
            assert_eq!(*verifier.verify(&token).await.unwrap(), caller());
        }
    }

    #[tokio::test]
    async fn expired_tokens_are_refused() {
        let (issuer, verifier) = pair();
        let old = token(&issuer, now() - Duration::from_secs(606));
        assert!(error(&verifier, &old).await.contains("expired"));
    }

    #[tokio::test]
    async fn tokens_of_another_key_are_refused() {
        let (issuer, verifier) = pair();
        let other = TokenIssuer::new(&[2; 32]);
        assert!(
            error(&verifier, &token(&other, now()))
                .await
                .contains("key")
        );

        // The known key id, signed with another key.
        let ours = token(&issuer, now());
        let theirs = token(&other, now());
        let header = ours.split('.').next().unwrap();
        let rest = theirs.split_once('.').unwrap().1;
        assert!(
            error(&verifier, &format!("{header}.{rest}"))
                .await
                .contains("signature")
        );
    }

    #[tokio::test]
    async fn only_eddsa_is_accepted() {
        let (issuer, verifier) = pair();
        let good = token(&issuer, now());
        let key_id = jsonwebtoken::decode_header(&good).unwrap().kid;
        let exp = get_current_timestamp() + 600;
        let claims = json!({"iss": "guerdon", "aud": "guerdon", "sub": "root", "kind": "service",
            "roles": ["admin"], "exp": exp, "iat": exp, "jti": "x"});
        let none = forged(&good, &json!({"alg": "none", "kid": key_id}), &claims);
        error(&verifier, &none).await;
        error(&verifier, &format!("{}.", none.rsplit_once('.').unwrap().0)).await;

        // HMAC with the public key as its secret.
        let mut header = Header::new(Algorithm::HS256);
        header.kid = key_id;
        let secret = EncodingKey::from_secret(issuer.jwks_json().as_bytes());
        let hmac = jsonwebtoken::encode(&header, &claims, &secret).unwrap();
        error(&verifier, &hmac).await;

        let same_alg = forged(&good, &json!({"alg": "EdDSA", "kid": header.kid}), &claims);
        assert!(error(&verifier, &same_alg).await.contains("signature"));
    }

    #[tokio::test]
    async fn tokens_of_other_audiences_and_malformed_ones_are_refused() {
        let (issuer, verifier) = pair();
        for (iss, aud) in [("guerdon", "bank"), ("bank", "guerdon")] {
            let token = issuer.issue_for(iss, aud, get_current_timestamp() + 600);
            assert!(error(&verifier, &token).await.contains("audience"));
        }
        for nonsense in ["", ".", "..", "gk_abc", "a.b.c", "é.é.é"] {
            error(&verifier, nonsense).await;
        }
    }

    #[tokio::test]
    async fn the_public_api_refuses_the_tokens_of_services() {
        let (issuer, verifier) = pair();
        let service = Caller {
            kind: Kind::Service,
            subject: "orders-svc".to_owned(),
            roles: vec![Role::Admin],
        };
        let token = token_of(&issuer, &service, now(), Duration::from_mins(10));
        assert_eq!(*verifier.verify(&token).await.unwrap(), service);
        let public = verifier.for_clients();
        for _ in 0..2 {
            assert!(error(&public, &token).await.contains("audience"));
        }
        let user = token_of(&issuer, &caller(), now(), Duration::from_mins(10));
        assert_eq!(*public.verify(&user).await.unwrap(), caller());
    }

    #[tokio::test]
    async fn the_audience_of_services_is_refused_with_another_kind() {
        let (issuer, verifier) = pair();
        let token = issuer.issue_for("guerdon", INTERNAL, get_current_timestamp() + 600);
        assert!(error(&verifier, &token).await.contains("audience"));
    }

    #[tokio::test]
    async fn lifetimes_of_more_than_an_hour_are_refused() {
        let (issuer, verifier) = pair();
        let hour = Duration::from_hours(1);
        let longest = token_of(&issuer, &caller(), now(), hour);
        assert!(verifier.verify(&longest).await.is_ok());
        let longer = token_of(&issuer, &caller(), now(), hour + Duration::from_secs(1));
        assert!(error(&verifier, &longer).await.contains("lifetime"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_verified_token_is_refused_once_its_key_is_withdrawn() {
        let identity = FakeIdentity::default();
        let issuer = identity.sign_with(1);
        let verifier = TokenVerifier::new(identity.source());
        let token = token(&issuer, now());
        assert!(verifier.verify(&token).await.is_ok());
        identity.sign_with(2);
        tokio::time::advance(Duration::from_mins(1)).await;
        assert!(verifier.verify(&token).await.is_ok(), "fetching the keys");
        tokio::task::yield_now().await;
        assert!(error(&verifier, &token).await.contains("key is unknown"));
    }

    #[tokio::test]
    async fn unknown_roles_give_no_permission() {
        let (issuer, verifier) = pair();
        let token = issuer.issue_for("guerdon", "guerdon", get_current_timestamp() + 600);
        let caller = verifier.verify(&token).await.unwrap();
        assert_eq!(caller.roles, []);
        assert!(!caller.is_admin());
    }
}
