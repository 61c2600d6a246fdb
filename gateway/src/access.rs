//! Authentication and access to routes, checked before the body is read. The services that own the
//! data check what a caller may see and change.

use std::{fmt, sync::Arc};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue},
    middleware::Next,
    response::Response,
};
use moka::future::Cache;
use platform::{
    auth::{Auth, Caller, ServiceToken, TokenVerifier},
    config,
    error::{Code, Failure},
};
use proto::identity::v1::{
    ExchangeApiKeyRequest, IssueAnonymousTokenRequest, auth_service_client::AuthServiceClient,
};
use sha2::{Digest as _, Sha256};
use tonic::metadata::{Ascii, MetadataValue};

use self::credentials::Credentials;
use crate::{
    App,
    client_address::ClientAddress,
    clients::Channel,
    error::Problem,
    rate_limit::{self, RateLimits},
};

mod credentials;
pub(crate) mod open_mode;
mod stream_guard;

pub(crate) use stream_guard::StreamGuard;

/// The access that a route needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Anybody. Credentials are ignored: the body says who is asking.
    Anonymous,
    /// Anybody, but wrong credentials are refused.
    Public,
    /// Any authenticated caller; services limit users to their own data.
    User,
    /// Callers with the role `admin`.
    Admin,
    /// [`Public`](Self::Public) while sign-up is open, else [`Admin`](Self::Admin).
    SignUp,
}

impl Access {
    /// Returns what sign-up needs by the gateway's settings.
    fn resolved(self, sign_up: config::SignUp) -> Self {
        match (self, sign_up) {
            (Self::SignUp, config::SignUp::Open) => Self::Public,
            (Self::SignUp, config::SignUp::Closed) => Self::Admin,
            (access, _) => access,
        }
    }
}

/// A caller, with the token that services are called with.
#[derive(Clone)]
pub(crate) struct Principal {
    /// `Bearer <token>`. On public routes, that of the gateway itself for a caller without
    /// credentials: the table of callers limits what it leads to.
    pub(crate) authorization: MetadataValue<Ascii>,
    /// Whether the caller has the role `admin`.
    pub(crate) is_admin: bool,
    /// The user or API key, unless the caller has no credentials.
    subject: Option<Arc<str>>,
}

/// Authenticates requests.
#[derive(Debug, Clone)]
pub(crate) struct Gatekeeper {
    verifier: TokenVerifier,
    /// The gateway's own token.
    own: ServiceToken,
    /// The token of callers without credentials, in open mode.
    anonymous: Option<ServiceToken>,
    identity: AuthServiceClient<Channel>,
    /// Tokens by the hash of their API key. They are verified with each request, so that the token of a
    /// key that has ended is refused.
    exchanged: Cache<[u8; 32], Arc<str>>,
    /// Keys that were refused lately, by their hash.
    refused: Cache<[u8; 32], ()>,
    rate_limits: RateLimits,
}

impl Gatekeeper {
    const EXCHANGED_FOR: std::time::Duration = std::time::Duration::from_secs(30);
    const EXCHANGED_KEYS: u64 = 10_000;
    const REFUSED_FOR: std::time::Duration = std::time::Duration::from_secs(5);
    const MAX_KEY: usize = 256;

    /// Creates a gatekeeper that exchanges API keys at this identity-svc.
    pub(crate) fn new(
        mode: config::Auth,
        auth: &Auth,
        identity: &Channel,
        rate_limits: RateLimits,
    ) -> Self {
        let exchanged = Cache::builder()
            .max_capacity(Self::EXCHANGED_KEYS)
            .time_to_live(Self::EXCHANGED_FOR)
            .build();
        let refused = Cache::builder()
            .max_capacity(Self::EXCHANGED_KEYS)
            .time_to_live(Self::REFUSED_FOR)
            .build();
        Self {
            verifier: auth.verifier.clone().for_clients(),
            own: auth.token.clone(),
            anonymous: (mode == config::Auth::Open).then(|| anonymous_token(identity)),
            identity: identity.service(),
            exchanged,
            refused,
            rate_limits,
        }
    }

    /// Returns `unavailable` to a request that would change something while revocations may be missing.
    fn check_current(&self, request: &Request) -> Result<(), Failure> {
        if request.method().is_safe() {
            return Ok(());
        }
        self.verifier.revocations().require_current()
    }

    /// Returns whether callers without credentials are admins.
    fn is_open(&self) -> bool {
        self.anonymous.is_some()
    }

    /// Authenticates a request. An address that sends many wrong credentials is refused for a while.
    async fn authenticate(
        &self,
        access: Access,
        address: ClientAddress,
        headers: &HeaderMap,
    ) -> Result<Principal, Failure> {
        let principal = self.principal(access, address, headers).await;
        if let Err(failure) = &principal
            && failure.code == Code::Unauthenticated
        {
            self.rate_limits.check_address(address)?;
            self.rate_limits.note_wrong_credentials(address);
        }
        principal
    }

    async fn principal(
        &self,
        access: Access,
        address: ClientAddress,
        headers: &HeaderMap,
    ) -> Result<Principal, Failure> {
        if access == Access::Anonymous {
            return Principal::without_credentials(&self.own, false).await;
        }
        match (Credentials::of(headers)?, &self.anonymous) {
            (Some(Credentials::ApiKey(key)), _) => self.owner_of(key, address).await,
            (Some(Credentials::Token(token)), _) => self.bearer_of(token).await,
            (None, Some(admin)) => Principal::without_credentials(admin, true).await,
            (None, None) if access == Access::Public => {
                Principal::without_credentials(&self.own, false).await
            }
            (None, None) => {
                let detail = "send an API key in `apikey`, or a token in `Authorization: Bearer`";
                Err(Failure::new(Code::Unauthenticated, detail))
            }
        }
    }

    async fn bearer_of(&self, token: &str) -> Result<Principal, Failure> {
        let caller = self.verifier.verify(token).await?;
        Principal::new(token, &caller)
    }

    /// Returns the owner of an API key. A cached token that is refused by now is replaced once: the key
    /// has ended, or its tokens were revoked.
    async fn owner_of(&self, key: &str, address: ClientAddress) -> Result<Principal, Failure> {
        let hash = Sha256::digest(key).into();
        let cached = self.exchanged.get(&hash).await;
        if let Some(token) = cached {
            match self.bearer_of(&token).await {
                Err(refusal) if refusal.code == Code::Unauthenticated => {
                    self.exchanged.invalidate(&hash).await;
                }
                result => return result,
            }
        }
        let token = self.exchange(hash, key, address).await?;
        self.bearer_of(&token).await
    }

    async fn exchange(
        &self,
        hash: [u8; 32],
        key: &str,
        address: ClientAddress,
    ) -> Result<Arc<str>, Failure> {
        let is_key = key.starts_with("gk_") && key.len() <= Self::MAX_KEY;
        if !is_key || self.refused.contains_key(&hash) {
            return Err(Failure::new(
                Code::Unauthenticated,
                "the API key is not valid",
            ));
        }
        let buy = async {
            self.rate_limits.check_address(address)?;
            let request = ExchangeApiKeyRequest {
                key: key.to_owned(),
            };
            let response = self.identity.clone().exchange_api_key(request).await;
            let response = response.map_err(|status| Failure::from_status(&status))?;
            Ok::<Arc<str>, Failure>(response.into_inner().token.into())
        };
        match self.exchanged.try_get_with(hash, buy).await {
            Ok(token) => Ok(token),
            Err(failure) => {
                if failure.code == Code::Unauthenticated {
                    self.refused.insert(hash, ()).await;
                }
                Err(copy(&failure))
            }
        }
    }
}

/// Returns the source of the token of callers without credentials: identity-svc issues it if it runs
/// in open mode too.
fn anonymous_token(identity: &Channel) -> ServiceToken {
    let client: AuthServiceClient<Channel> = identity.service();
    ServiceToken::new(move || {
        let mut client = client.clone();
        Box::pin(async move {
            let issued = client.issue_anonymous_token(IssueAnonymousTokenRequest {});
            match issued.await {
                Ok(response) => Ok(response.into_inner().token),
                Err(status) => Err(Failure::unavailable("identity").with_source(status)),
            }
        })
    })
}

/// Marks a header that no log shows, and that HTTP/2 keeps out of its compression table.
fn sensitive(mut value: MetadataValue<Ascii>) -> MetadataValue<Ascii> {
    value.set_sensitive(true);
    value
}

/// Copies a failure that the cache shares among waiting requests.
fn copy(failure: &Failure) -> Failure {
    Failure::new(failure.code, failure.detail.clone())
}

impl Principal {
    fn new(token: &str, caller: &Caller) -> Result<Self, Failure> {
        let authorization = MetadataValue::try_from(format!("Bearer {token}"));
        let authorization = authorization
            .map_err(|_| Failure::new(Code::Unauthenticated, "the token is malformed"))?;
        Ok(Self {
            authorization: sensitive(authorization),
            is_admin: caller.is_admin(),
            subject: Some(caller.subject.as_str().into()),
        })
    }

    /// Returns the principal of a caller without credentials, for whom services are called with this
    /// token.
    async fn without_credentials(token: &ServiceToken, is_admin: bool) -> Result<Self, Failure> {
        let header: HeaderValue = token.header().await?;
        let authorization = MetadataValue::try_from(header.as_bytes());
        Ok(Self {
            authorization: sensitive(authorization.map_err(Failure::internal)?),
            is_admin,
            subject: None,
        })
    }
}

impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Principal")
            .field("is_admin", &self.is_admin)
            .finish_non_exhaustive()
    }
}

/// Authenticates a request, takes it from the caller's rate limit, and checks the access of its route.
pub(crate) async fn guard(
    State((app, access)): State<(App, Access)>,
    address: ClientAddress,
    mut request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let access = access.resolved(app.sign_up);
    let principal = app
        .gatekeeper
        .authenticate(access, address, request.headers())
        .await?;
    let caller = match &principal.subject {
        Some(subject) => rate_limit::Caller::Principal(Arc::clone(subject)),
        None => rate_limit::Caller::Address(address),
    };
    let allowance = app.rate_limits.take(caller)?;
    if access == Access::Admin && !principal.is_admin {
        return Err(Failure::new(Code::Forbidden, "this needs the role admin").into());
    }
    app.gatekeeper.check_current(&request)?;
    request.extensions_mut().insert(principal);
    let mut response = next.run(request).await;
    if let Some(allowance) = allowance {
        allowance.show(response.headers_mut());
    }
    Ok(response)
}

/// Takes a request to a route with a stricter limit from the user's bucket. Admins can read all users anyway.
pub(crate) async fn limit_users(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let principal = request.extensions().get::<Principal>();
    let user = principal.filter(|principal| !principal.is_admin);
    if let Some(subject) = user.and_then(|user| user.subject.as_ref()) {
        app.rate_limits.take_stricter(subject)?;
    }
    Ok(next.run(request).await)
}

#[cfg(test)]
mod tests {
    use platform::auth::Kind;

    use super::*;

    #[test]
    fn debug_output_shows_no_token() {
        let caller = Caller {
            kind: Kind::Key,
            subject: "k".to_owned(),
            roles: vec![],
        };
        let principal = Principal::new("abc.def.ghi", &caller).unwrap();
        assert!(principal.authorization.is_sensitive());
        assert!(!format!("{principal:?}").contains("def"));
        assert!(!format!("{:?}", principal.authorization).contains("def"));
    }
}
