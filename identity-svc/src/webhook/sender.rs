//! Sends one signed request over a connection of its own, to an address that was checked.
//!
//! A connection for each request, no pool, proxy or redirect: nothing comes between the check of an
//! address and its use. The body of the response is not read.

#[cfg(test)]
mod tests;

use std::{
    fmt, io,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use futures::future::BoxFuture;
use http::{Request, StatusCode, header};
use http_body_util::Full;
use hyper::{
    body::{Bytes, Incoming},
    client::conn::http1,
};
use hyper_util::rt::TokioIo;
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{IpAddr as TlsIpAddr, ServerName},
};
use secrecy::SecretSlice;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpStream, lookup_host},
    time::timeout,
};
use tokio_rustls::TlsConnector;
use url::Host;

use super::{Rules, signature, target::Target};

/// How long a request may take, from the lookup of the name to the head of the response.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How long one address of a name may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Addresses of a name that are tried.
const MAX_ADDRESSES: usize = 3;

/// Bytes of the head of a response.
const MAX_HEAD: usize = 16 * 1024;
const MAX_HEADERS: usize = 100;

/// Looks up the addresses of a host.
type Resolve =
    Arc<dyn Fn(String, u16) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> + Send + Sync>;

/// Sends requests. Cloning is cheap.
#[derive(Clone)]
pub(crate) struct Sender {
    rules: Rules,
    tls: TlsConnector,
    resolve: Resolve,
    timeout: Duration,
}

/// A request to send.
#[derive(Debug)]
pub(super) struct Message<'a> {
    pub(super) url: &'a str,
    /// The keys of the signatures.
    pub(super) secrets: &'a [SecretSlice<u8>],
    /// The same at each attempt.
    pub(super) event_id: String,
    /// Time of this attempt, in seconds.
    pub(super) timestamp: i64,
    pub(super) payload: String,
}

/// The result of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Attempt {
    /// `None` if there was no response.
    pub(super) status: Option<u16>,
    /// Why it failed; `None` if the response was 2xx.
    pub(super) error: Option<String>,
    pub(super) duration: Duration,
}

impl Attempt {
    /// Returns the result of a request that could not be made.
    pub(super) fn failed(error: &str) -> Self {
        Self {
            status: None,
            error: Some(error.to_owned()),
            duration: Duration::ZERO,
        }
    }

    pub(super) fn is_gone(&self) -> bool {
        self.status == Some(StatusCode::GONE.as_u16())
    }

    /// Returns the duration in milliseconds.
    pub(super) fn millis(&self) -> u32 {
        u32::try_from(self.duration.as_millis()).unwrap_or(u32::MAX)
    }
}

impl Sender {
    /// Creates a sender that trusts the authorities of Mozilla's list.
    pub(crate) fn new(rules: Rules) -> anyhow::Result<Self> {
        let roots = webpki_roots::TLS_SERVER_ROOTS.iter().cloned();
        let roots: RootCertStore = roots.collect();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .context("TLS of webhooks")?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self {
            rules,
            tls: TlsConnector::from(Arc::new(config)),
            resolve: Arc::new(|host, port| Box::pin(lookup(host, port))),
            timeout: TIMEOUT,
        })
    }

    /// Returns the rules of targets.
    pub(super) fn rules(&self) -> Rules {
        self.rules
    }

    /// Sends a request.
    pub(super) async fn send(&self, message: &Message<'_>) -> Attempt {
        let started = Instant::now();
        let sent = timeout(self.timeout, self.exchange(message)).await;
        let sent = sent.unwrap_or_else(|_| Err(format!("no response within {:?}", self.timeout)));
        let (status, error) = match sent {
            Ok(status) if status.is_success() => (Some(status.as_u16()), None),
            Ok(status) if status.is_redirection() => {
                let error = format!("status {}: redirects are not followed", status.as_u16());
                (Some(status.as_u16()), Some(error))
            }
            Ok(status) => (
                Some(status.as_u16()),
                Some(format!("status {}", status.as_u16())),
            ),
            Err(error) => (None, Some(error)),
        };
        let duration = started.elapsed();
        Attempt {
            status,
            error,
            duration,
        }
    }

    async fn exchange(&self, message: &Message<'_>) -> Result<StatusCode, String> {
        // Checked again: the rules may be stricter than when it was stored.
        let target = self
            .rules
            .parse(message.url)
            .map_err(|error| error.message)?;
        let stream = connect(&self.addresses(&target).await?).await?;
        let request = request(&target, message).map_err(|error| error.to_string())?;
        if target.is_https {
            let name = server_name(&target)?;
            let stream = self.tls.connect(name, stream).await;
            respond(stream.map_err(|error| format!("TLS: {error}"))?, request).await
        } else {
            respond(stream, request).await
        }
    }

    /// Looks up the addresses of a target. One that is not public refuses the name.
    async fn addresses(&self, target: &Target) -> Result<Vec<SocketAddr>, String> {
        let addresses = match target.literal() {
            Some(address) => vec![address],
            None => (self.resolve)(target.host.to_string(), target.port)
                .await
                .map_err(|_| "the name of the host is not found".to_owned())?,
        };
        if !addresses
            .iter()
            .all(|address| self.rules.allows(address.ip()))
        {
            return Err("the host has a private or local address".to_owned());
        }
        Ok(addresses)
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rules = &self.rules;
        f.debug_struct("Sender")
            .field("rules", rules)
            .finish_non_exhaustive()
    }
}

async fn lookup(host: String, port: u16) -> io::Result<Vec<SocketAddr>> {
    Ok(lookup_host((host, port)).await?.collect())
}

/// Connects to the first address that accepts.
async fn connect(addresses: &[SocketAddr]) -> Result<TcpStream, String> {
    let mut failure = "the name of the host has no address".to_owned();
    for address in addresses.iter().take(MAX_ADDRESSES) {
        failure = match timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => {
                _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Ok(Err(error)) => format!("no connection: {error}"),
            Err(_elapsed) => "no connection: timed out".to_owned(),
        };
    }
    Err(failure)
}

fn server_name(target: &Target) -> Result<ServerName<'static>, String> {
    match &target.host {
        Host::Domain(name) => ServerName::try_from(name.clone())
            .map_err(|_| "the name of the host is not valid".to_owned()),
        Host::Ipv4(address) => Ok(ServerName::IpAddress(TlsIpAddr::from(
            std::net::IpAddr::from(*address),
        ))),
        Host::Ipv6(address) => Ok(ServerName::IpAddress(TlsIpAddr::from(
            std::net::IpAddr::from(*address),
        ))),
    }
}

fn request(target: &Target, message: &Message<'_>) -> http::Result<Request<Full<Bytes>>> {
    let Message {
        event_id,
        timestamp,
        payload,
        ..
    } = message;
    let signature = signature::sign(message.secrets, event_id, *timestamp, payload);
    Request::post(&*target.path)
        .header(header::HOST, &*target.authority)
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::USER_AGENT, "Guerdon")
        .header(header::CONNECTION, "close")
        .header("webhook-id", &**event_id)
        .header("webhook-timestamp", *timestamp)
        .header("webhook-signature", signature)
        .body(Full::from(payload.clone()))
}

/// Sends the request over a stream and returns the status of the response.
async fn respond(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    request: Request<Full<Bytes>>,
) -> Result<StatusCode, String> {
    let unsent = |error: hyper::Error| format!("no response: {error}");
    let (mut sender, connection) = http1::Builder::new()
        .max_buf_size(MAX_HEAD)
        .max_headers(MAX_HEADERS)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(unsent)?;
    tokio::pin!(connection);
    let response = sender.send_request(request);
    tokio::pin!(response);
    let response: Result<http::Response<Incoming>, _> = tokio::select! {
        biased;
        response = &mut response => response,
        // It has ended: the response is there, or there is none.
        _ = &mut connection => response.await,
    };
    Ok(response.map_err(unsent)?.status())
}
