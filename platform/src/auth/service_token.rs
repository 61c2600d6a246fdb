//! A process's own token: bought with the shared secret when first needed, renewed in time.

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

/// Where a process gets its own token from. Cloning is cheap and shares the token.
#[derive(Clone)]
pub struct ServiceToken(Arc<Inner>);

struct Inner {
    fetch: Fetch,
    held: RwLock<Option<Held>>,
    /// One fetch at a time.
    fetching: Mutex<()>,
}

#[derive(Clone)]
struct Held {
    header: HeaderValue,
    renew_at: Instant,
    until: Instant,
}

impl ServiceToken {
    /// Tokens from anywhere: identity-svc signs its own, tests hand out theirs.
    pub fn new<F>(fetch: F) -> Self
    where
        F: Fn() -> BoxFuture<'static, Result<String, Failure>> + Send + Sync + 'static,
    {
        Self(Arc::new(Inner {
            fetch: Box::new(fetch),
            held: RwLock::default(),
            fetching: Mutex::new(()),
        }))
    }

    /// Tokens from identity-svc, for the process of this name.
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
                let answer = client.issue_service_token(request).await;
                answer
                    .map(|answer| answer.into_inner().token)
                    .map_err(|status| Failure::unavailable("identity").with_source(status))
            })
        })
    }

    /// The `authorization` value to send. Fails with `unavailable`.
    pub async fn header(&self) -> Result<HeaderValue, Failure> {
        match self.0.usable() {
            Some(held) => {
                if held.renew_at <= Instant::now() {
                    self.renew_in_background();
                }
                Ok(held.header)
            }
            None => self.0.fetch().await,
        }
    }

    /// A peer refused this value (the signing key may have changed): the next call asks for a new
    /// one.
    pub(crate) fn forget(&self, refused: &HeaderValue) {
        let mut held = self.0.held.write().expect("no holder panics");
        if held.as_ref().is_some_and(|held| held.header == refused) {
            *held = None;
        }
    }

    /// The token at hand stays good for a while, so nobody waits for its successor.
    fn renew_in_background(&self) {
        let inner = Arc::clone(&self.0);
        tokio::spawn(async move {
            let Ok(_only) = inner.fetching.try_lock() else {
                return;
            };
            if let Err(error) = inner.replace().await {
                tracing::warn!(%error, "the service token was not renewed");
            }
        });
    }
}

impl Inner {
    fn usable(&self) -> Option<Held> {
        let held = self.held.read().expect("no holder panics").clone();
        held.filter(|held| Instant::now() < held.until)
    }

    async fn fetch(&self) -> Result<HeaderValue, Failure> {
        let _only = self.fetching.lock().await;
        match self.usable() {
            Some(held) => Ok(held.header),
            None => self.replace().await,
        }
    }

    async fn replace(&self) -> Result<HeaderValue, Failure> {
        let asked = Instant::now();
        let token = (self.fetch)().await?;
        let held = Held::new(&token, asked)
            .map_err(|error| Failure::unavailable("identity").with_source(error))?;
        let header = held.header.clone();
        *self.held.write().expect("no holder panics") = Some(held);
        Ok(header)
    }
}

impl Held {
    /// Counts the token's lifetime on our own clock: the issuer's may be minutes away.
    fn new(token: &str, asked: Instant) -> anyhow::Result<Self> {
        let claims: Claims = jsonwebtoken::dangerous::insecure_decode_claims(token)?;
        let lifetime = Duration::from_secs(claims.exp.saturating_sub(claims.iat));
        let mut header = HeaderValue::try_from(format!("Bearer {token}"))?;
        header.set_sensitive(true);
        Ok(Self {
            header,
            renew_at: asked + lifetime / 2,
            until: asked + lifetime * 9 / 10,
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

    /// Tokens that say which fetch made them; the fetches numbered in `down` fail.
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
                now: DateTime::from_timestamp(0, 0).unwrap(),
                lifetime: Duration::from_secs(100),
                id: "x",
            });
            let answer = if down.contains(&nth) {
                Err(Failure::unavailable("identity"))
            } else {
                Ok(token)
            };
            Box::pin(async move { answer })
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
    async fn one_token_serves_until_it_is_half_spent() {
        let source = source(&[]);
        assert_eq!(subject(&source).await, "fetch-0");
        tokio::time::advance(Duration::from_secs(49)).await;
        assert_eq!(subject(&source).await, "fetch-0");
        tokio::time::advance(Duration::from_secs(2)).await;
        // The old one still serves while the new one is on its way.
        assert_eq!(subject(&source).await, "fetch-0");
        tokio::task::yield_now().await;
        assert_eq!(subject(&source).await, "fetch-1");
    }

    #[tokio::test(start_paused = true)]
    async fn identity_may_come_up_later_and_go_away_again() {
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
        source.forget(&HeaderValue::from_static("another"));
        assert_eq!(subject(&source).await, "fetch-0");
        source.forget(&first);
        assert_eq!(subject(&source).await, "fetch-1");
    }
}
