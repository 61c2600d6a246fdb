//! An HTTP server with a bound on its connections, and on the time that each may wait for its client.
//!
//! `axum::serve` has neither: it runs hyper without a timer, so that half a request head keeps a
//! connection without end (see `hyper::server::conn::http1::Builder::header_read_timeout`).

mod activity;
mod body;
mod socket;

use std::{convert::Infallible, io, net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderValue, Version, header::CONNECTION},
    response::Response,
};
use hyper::body::Incoming;
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto::Builder,
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time::{Instant, MissedTickBehavior, interval},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::{Service, ServiceExt as _, service_fn};

use self::{
    activity::{Activity, Waiting},
    body::TrackedBody,
    socket::Watched,
};

/// Most bytes of a request head that are read. What the application accepts is less, so that it can
/// respond to a head that is too large.
const MAX_HEAD: usize = 96 * 1024;
/// Most streams of an HTTP/2 connection.
const MAX_STREAMS: u32 = 100;
/// How often an HTTP/2 client must show that it is there, and how long it may take.
const PING: Duration = Duration::from_secs(20);
/// How often a connection is checked.
const TICK: Duration = Duration::from_secs(1);
/// The pause after the process could not accept a connection, as when it has no file descriptors left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(500);

/// What a server bears from its clients.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Most connections at once.
    pub connections: usize,
    /// Time for a request head, from its first byte.
    pub head: Duration,
    /// Time without a request.
    pub idle: Duration,
}

impl Limits {
    /// Allows this many connections, with the usual times.
    pub const fn of(connections: usize) -> Self {
        Self {
            connections,
            head: Duration::from_secs(10),
            idle: Duration::from_secs(75),
        }
    }
}

/// How a server ends.
#[derive(Debug, Clone, Default)]
pub struct Shutdown {
    /// Cancelled first: requests are served, and their connections are closed by the response, so that the
    /// next ones go to another process.
    pub draining: CancellationToken,
    /// Cancelled at the end.
    pub stop: CancellationToken,
}

/// The address of the client's end of a connection, among the extensions of its requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerAddress(pub SocketAddr);

/// Serves until `stop`, then ends idle connections and waits for requests in progress. While as many
/// connections are open as the limits allow, further ones wait in the backlog of the listener.
pub async fn serve<S>(listener: TcpListener, service: S, limits: Limits, shutdown: Shutdown)
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    let connections = TaskTracker::new();
    let permits = Arc::new(Semaphore::new(limits.connections));
    let next = async || {
        let permit = Arc::clone(&permits).acquire_owned().await;
        let permit = permit.expect("the semaphore is never closed");
        (accept(&listener).await, permit)
    };
    while let Some(((socket, peer), permit)) = shutdown.stop.run_until_cancelled(next()).await {
        let service = service.clone();
        let shutdown = shutdown.clone();
        connections.spawn(async move {
            metrics::gauge!("http_connections").increment(1);
            serve_connection(socket, peer, service, limits, shutdown).await;
            metrics::gauge!("http_connections").decrement(1);
            drop(permit);
        });
    }
    drop(listener);
    connections.close();
    connections.wait().await;
}

async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok((socket, peer)) => {
                // Responses are written whole, so there is nothing to collect.
                let _ = socket.set_nodelay(true);
                return (socket, peer);
            }
            Err(error) if is_of_client(&error) => {}
            Err(error) => {
                tracing::error!(%error, "http: accept failed, trying again soon");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Tells a client that went away before its connection was accepted.
fn is_of_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset
    )
}

async fn serve_connection<S>(
    socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    peer: SocketAddr,
    service: S,
    limits: Limits,
    shutdown: Shutdown,
) where
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    let activity = Arc::new(Activity::new(limits, Instant::now()));
    let socket = TokioIo::new(Watched::new(socket, Arc::clone(&activity)));
    let Shutdown { draining, stop } = shutdown;
    let service = tracked(service, peer, Arc::clone(&activity), draining.clone());
    let builder = builder();
    let mut connection = pin!(builder.serve_connection(socket, TowerToHyperService::new(service)));
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut leaving, mut stopping) = (false, false);
    loop {
        tokio::select! {
            ended = connection.as_mut() => {
                if let Err(error) = ended {
                    tracing::debug!(error, "http: connection failed, closing it");
                }
                return;
            }
            () = draining.cancelled(), if !leaving => {
                leaving = true;
                // A client of HTTP/1 is told by the next response: its idle connection may carry a request now.
                if activity.is_multiplexed() {
                    connection.as_mut().graceful_shutdown();
                }
            }
            () = stop.cancelled(), if !stopping => {
                stopping = true;
                connection.as_mut().graceful_shutdown();
            }
            _ = ticks.tick() => match activity.overdue(Instant::now()) {
                None => {}
                Some(Waiting::Request) => connection.as_mut().graceful_shutdown(),
                Some(waiting) => {
                    tracing::debug!(?waiting, "http: the client is too slow, closing the connection");
                    return;
                }
            },
        }
    }
}

fn builder() -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        // hyper's timer runs between requests too, where the limit is another.
        .header_read_timeout(None)
        .max_buf_size(MAX_HEAD);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(PING)
        .keep_alive_timeout(PING)
        .max_concurrent_streams(MAX_STREAMS)
        .max_header_list_size(u32::try_from(MAX_HEAD).expect("a small constant"));
    builder
}

/// Counts a request as in progress until its response was sent and its body read or given up. While the server
/// drains, a response of HTTP/1 closes its connection.
fn tracked<S>(
    service: S,
    peer: SocketAddr,
    activity: Arc<Activity>,
    draining: CancellationToken,
) -> impl Service<Request<Incoming>, Response = Response, Error = Infallible, Future: Send + 'static>
+ Clone
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    service_fn(move |mut request: Request<Incoming>| {
        let version = request.version();
        let in_progress = Arc::new(activity.start_request(version));
        request.extensions_mut().insert(PeerAddress(peer));
        let of_request = Arc::clone(&in_progress);
        let request = request.map(|body| TrackedBody::wrap(Body::new(body), of_request));
        let (service, draining) = (service.clone(), draining.clone());
        async move {
            let mut response = service.oneshot(request).await?;
            if version < Version::HTTP_2 && draining.is_cancelled() {
                let close = HeaderValue::from_static("close");
                response.headers_mut().insert(CONNECTION, close);
            }
            Ok(response.map(|body| TrackedBody::wrap(body, in_progress)))
        }
    })
}

#[cfg(test)]
mod tests;
