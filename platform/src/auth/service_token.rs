//! A process's own token: issued for its secret on first use, and renewed in time.

use std::{
    sync::{Arc, RwLock},
    time::Duration,
};

use futures::future::BoxFuture;
use http::HeaderValue;
use proto::identity::v1::{IssueServiceTokenRequest, auth_service_client::AuthServiceClient};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::{sync::Mutex, time::Instant};

use super::Claims;
use crate::{error::Failure, grpc::client::Client};

type Fetch = Box<dyn Fn() -> BoxFuture<'static, Result<String, Failure>> + Send + Sync>;

/// The source of a process's own token. Cloning is cheap and shares the token.
#[derive(Clone)]
pub struct ServiceToken(Arc<Inner>);

struct Inner {
    fetch: Fetch,
    current: RwLock<Option<Token>>,
    /// One fetch at a time.
    fetching: Mutex<()>,
}

#[derive(Clone)]
struct Token {
    header: HeaderValue,
    renew_at: Instant,
    expires_at: Instant,
}

impl ServiceToken {
    /// Creates a source from a function, for identity-svc itself and tests.
    pub fn new<F>(fetch: F) -> Self
    where
        F: Fn() -> BoxFuture<'static, Result<String, Failure>> + Send + Sync + 'static,
    {
        Self(Arc::new(Inner {
            fetch: Box::new(fetch),
            current: RwLock::default(),
            fetching: Mutex::new(()),
        }))
    }

    /// Creates a source that fetches tokens from identity-svc for the process of this name.
    pub fn remote(identity: &Client, service: &'static str, secret: SecretString) -> Self {
        let client: AuthServiceClient<Client> = identity.service();
        Self::new(move || {
            let mut client = client.clone();
            let secret = secret.expose_secret().to_owned();
            let request = IssueServiceTokenRequest {
                service: service.to_owned(),
                secret,
            };
            Box::pin(async move {
                match client.issue_service_token(request).await {
                    Ok(response) => Ok(response.into_inner().token),
                    Err(status) => Err(Failure::unavailable("identity").with_source(status)),
                }
            })
        })
    }

    /// Returns the `authorization` header; `unavailable` if identity-svc issues no token.
    pub async fn header(&self) -> Result<HeaderValue, Failure> {
        match self.0.usable() {
            Some(token) => {
                if token.renew_at <= Instant::now() {
                    self.renew_in_background();
                }
                Ok(token.header)
            }
            None => self.0.fetch().await,
        }
    }

    /// Drops a header that a peer refused: the next call fetches a new token.
    pub(crate) fn invalidate(&self, refused: &HeaderValue) {
        let mut current = self.0.current.write().expect("no holder panics");
        if current
            .as_ref()
            .is_some_and(|token| token.header == refused)
        {
            *current = None;
        }
    }

    /// Renews the token. Calls use the current one meanwhile.
    fn renew_in_background(&self) {
        let inner = Arc::clone(&self.0);
        tokio::spawn(async move {
            let Ok(_only) = inner.fetching.try_lock() else {
                return;
            };
            if let Err(error) = inner.replace().await {
                tracing::warn!(%error, "service token: renewal failed, retrying with the next call");
            }
        });
    }
}

impl Inner {
    fn usable(&self) -> Option<Token> {
        let current = self.current.read().expect("no holder panics").clone();
        current.filter(|token| Instant::now() < token.expires_at)
    }

    async fn fetch(&self) -> Result<HeaderValue, Failure> {
        let _only = self.fetching.lock().await;
        match self.usable() {
            Some(token) => Ok(token.header),
            None => self.replace().await,
        }
    }

    async fn replace(&self) -> Result<HeaderValue, Failure> {
        let requested = Instant::now();
        let text = (self.fetch)().await?;
        let token = Token::new(&text, requested)
            .map_err(|error| Failure::unavailable("identity").with_source(error))?;
        let header = token.header.clone();
        *self.current.write().expect("no holder panics") = Some(token);
        Ok(header)
    }
}

impl Token {
    /// Counts the token's lifetime on the local clock: the issuer's may differ by minutes.
    fn new(token: &str, requested: Instant) -> anyhow::Result<Self> {
        let claims: Claims = jsonwebtoken::dangerous::insecure_decode_claims(token)?;
        let lifetime = Duration::from_secs(claims.exp.saturating_sub(claims.iat));
        let mut header = HeaderValue::try_from(format!("Bearer {token}"))?;
        header.set_sensitive(true);
        Ok(Self {
            header,
            renew_at: requested + lifetime / 2,
            expires_at: requested + lifetime * 9 / 10,
        })
    }
}

impl std::fmt::Debug for ServiceToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServiceToken").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use chrono::DateTime;

    use super::*;
    use crate::auth::{Caller, Grant, Kind, TokenIssuer};

    /// Creates a source whose tokens carry the number of their fetch; the fetches in `down` fail.
    fn source(down: &'static [usize]) -> ServiceToken {
        let issuer = TokenIssuer::new(&[1; 32]);
        let count = AtomicUsize::new(0);
        ServiceToken::new(move || {
            let nth = count.fetch_add(1, Ordering::SeqCst);
            let subject = format!("fetch-{nth}");
            let caller = Caller {
                kind: Kind::Service,
                subject,
                roles: vec![],
            };
            let token = issuer.issue(Grant {
                caller: &caller,
                version: 0,
                now: DateTime::from_timestamp(0, 0).unwrap(),
                lifetime: Duration::from_secs(100),
                id: "x",
            });
            let result = if down.contains(&nth) {
                Err(Failure::unavailable("identity"))
            } else {
                Ok(token)
            };
            Box::pin(async move { result })
        })
    }

    async fn subject(source: &ServiceToken) -> String {
        let header = source.header().await.unwrap();
        let token = header.to_str().unwrap().strip_prefix("Bearer ").unwrap();
        jsonwebtoken::dangerous::insecure_decode_claims::<Claims>(token)
            .unwrap()
            .sub
    }

    #[tokio::test(start_paused = true)]
    async fn a_token_is_used_until_half_of_its_lifetime() {
        let source = source(&[]);
        assert_eq!(subject(&source).await, "fetch-0");
        tokio::time::advance(Duration::from_secs(49)).await;
        assert_eq!(subject(&source).await, "fetch-0");
        tokio::time::advance(Duration::from_secs(2)).await;
        // The old one is used while the new one is fetched.
        assert_eq!(subject(&source).await, "fetch-0");
        tokio::task::yield_now().await;
        assert_eq!(subject(&source).await, "fetch-1");
    }

    #[tokio::test(start_paused = true)]
    async fn a_failed_fetch_is_retried_and_a_failed_renewal_keeps_the_token() {
        let source = source(&[0, 2]);
        assert!(source.header().await.is_err());
        assert_eq!(subject(&source).await, "fetch-1");
        tokio::time::advance(Duration::from_mins(1)).await;
        assert_eq!(subject(&source).await, "fetch-1");
        tokio::task::yield_now().await;
        assert_eq!(subject(&source).await, "fetch-1", "fetch 2 failed");
        tokio::time::advance(Duration::from_secs(31)).await;
        assert!(["fetch-3", "fetch-4"].contains(&subject(&source).await.as_str()));
    }

    #[tokio::test]
    async fn a_refused_token_is_replaced() {
        let source = source(&[]);
        let first = source.header().await.unwrap();
        source.invalidate(&HeaderValue::from_static("another"));
        assert_eq!(subject(&source).await, "fetch-0");
        source.invalidate(&first);
        assert_eq!(subject(&source).await, "fetch-1");
    }
}
