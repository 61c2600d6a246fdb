//! Authentication and access to routes, checked before the body is read. The services that own the
//! data check what a caller may see and change.

use std::{fmt, sync::Arc};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, header},
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

use crate::{App, clients::Channel, error::Problem};

pub(crate) mod open_mode;

/// The access that a route needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Any authenticated caller; services limit users to their own data.
    User,
    /// Callers with the role `admin`.
    Admin,
}

/// An authenticated caller, with the token that services are called with.
#[derive(Clone)]
pub(crate) struct Principal {
    /// `Bearer <token>`.
    pub(crate) authorization: MetadataValue<Ascii>,
    /// Whether it has the role `admin`.
    pub(crate) is_admin: bool,
}

/// Authenticates requests.
#[derive(Debug, Clone)]
pub(crate) struct Gatekeeper {
    verifier: TokenVerifier,
    /// The token of callers without credentials, in open mode.
    anonymous: Option<ServiceToken>,
    identity: AuthServiceClient<Channel>,
    /// Tokens by the hash of their API key. Their lifetime bounds how long a revoked key works.
    exchanged: Cache<[u8; 32], Arc<str>>,
}

impl Gatekeeper {
    const EXCHANGED_FOR: std::time::Duration = std::time::Duration::from_secs(30);
    const EXCHANGED_KEYS: u64 = 10_000;

    /// Creates a gatekeeper that exchanges API keys at this identity-svc.
    pub(crate) fn new(mode: config::Auth, auth: &Auth, identity: &Channel) -> Self {
        let exchanged = Cache::builder()
            .max_capacity(Self::EXCHANGED_KEYS)
            .time_to_live(Self::EXCHANGED_FOR)
            .build();
        Self {
            verifier: auth.verifier.clone().for_clients(),
            anonymous: (mode == config::Auth::Open).then(|| anonymous_token(identity)),
            identity: identity.service(),
            exchanged,
        }
    }

    /// Returns whether callers without credentials are admins.
    fn is_open(&self) -> bool {
        self.anonymous.is_some()
    }

    async fn authenticate(&self, headers: &HeaderMap) -> Result<Principal, Failure> {
        let token: Arc<str> = match (Credentials::of(headers)?, &self.anonymous) {
            (Some(Credentials::ApiKey(key)), _) => self.exchange(key).await?,
            (Some(Credentials::Token(token)), _) => token.into(),
            (None, Some(anonymous)) => return anonymous_admin(anonymous).await,
            (None, None) => {
                let detail = "send an API key in `apikey`, or a token in `Authorization: Bearer`";
                return Err(Failure::new(Code::Unauthenticated, detail));
            }
        };
        let caller = self.verifier.verify(&token).await?;
        Principal::new(&token, &caller)
    }

    async fn exchange(&self, key: &str) -> Result<Arc<str>, Failure> {
        let hash = Sha256::digest(key).into();
        let buy = async {
            let request = ExchangeApiKeyRequest {
                key: key.to_owned(),
            };
            let response = self.identity.clone().exchange_api_key(request).await;
            let response = response.map_err(|status| Failure::from_status(&status))?;
            Ok::<Arc<str>, Failure>(response.into_inner().token.into())
        };
        self.exchanged
            .try_get_with(hash, buy)
            .await
            .map_err(|failure| copy(&failure))
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

async fn anonymous_admin(token: &ServiceToken) -> Result<Principal, Failure> {
    let authorization = MetadataValue::try_from(token.header().await?.as_bytes());
    Ok(Principal {
        authorization: sensitive(authorization.map_err(Failure::internal)?),
        is_admin: true,
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

enum Credentials<'a> {
    ApiKey(&'a str),
    Token(&'a str),
}

impl<'a> Credentials<'a> {
    fn of(headers: &'a HeaderMap) -> Result<Option<Self>, Failure> {
        let malformed = || Failure::new(Code::Unauthenticated, "the credentials are malformed");
        let text = |name: &str| match headers.get(name) {
            Some(value) => value.to_str().map(Some).map_err(|_| malformed()),
            None => Ok(None),
        };
        if let Some(key) = text("apikey")? {
            return Ok(Some(Self::ApiKey(key)));
        }
        let Some(authorization) = text(header::AUTHORIZATION.as_str())? else {
            return Ok(None);
        };
        let (scheme, token) = authorization.split_once(' ').ok_or_else(malformed)?;
        match token.trim() {
            _ if !scheme.eq_ignore_ascii_case("bearer") => Err(malformed()),
            key if key.starts_with("gk_") => Ok(Some(Self::ApiKey(key))),
            token => Ok(Some(Self::Token(token))),
        }
    }
}

/// Authenticates a request and checks the access of its route.
pub(crate) async fn guard(
    State((app, access)): State<(App, Access)>,
    mut request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let principal = app.gatekeeper.authenticate(request.headers()).await?;
    if access == Access::Admin && !principal.is_admin {
        return Err(Failure::new(Code::Forbidden, "this needs the role admin").into());
    }
    request.extensions_mut().insert(principal);
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
