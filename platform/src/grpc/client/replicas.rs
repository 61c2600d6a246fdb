//! The replicas of a dependency: all addresses of its urls take turns, but for those that aren't ready.
//!
//! A connection of HTTP/2 lasts, so that a balancer of connections, such as a Kubernetes service, would send
//! all calls of a process to one replica. With a name that resolves to every replica (a headless service),
//! calls are divided among them, and one that stops gets no more calls within a second or two.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::{
        Arc, RwLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::future::{BoxFuture, FutureExt as _, join_all};
use hyper_util::rt::TokioIo;
use tokio::{
    net::{TcpStream, lookup_host},
    sync::Semaphore,
    time::{sleep, timeout},
};
use tonic::transport::{Channel, Endpoint, Uri};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};
use tower::service_fn;

/// The time between two looks at the addresses and the health of the replicas.
const INTERVAL: Duration = Duration::from_secs(1);
/// How long an address may take to be looked up, and a replica to say whether it is ready.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Looks up the addresses of a name.
pub(super) type Resolve =
    Box<dyn Fn() -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> + Send + Sync>;

/// The connections to the replicas of one dependency.
pub(super) struct Replicas {
    name: &'static str,
    /// None if there is one url with an address: that needs no look-up.
    sources: Vec<Source>,
    /// Until the names are resolved.
    first: Channel,
    list: RwLock<Arc<[Arc<Replica>]>>,
    next: AtomicUsize,
    /// Taken while the list is renewed, and until it may be again.
    turn: Arc<Semaphore>,
}

/// A url, whose name has one address or several.
struct Source {
    endpoint: Endpoint,
    resolve: Resolve,
}

struct Replica {
    /// The url, by its number.
    source: usize,
    address: SocketAddr,
    channel: Channel,
    is_serving: AtomicBool,
}

impl Replicas {
    /// Creates the connections to at least one url.
    pub(super) fn new(name: &'static str, endpoints: Vec<Endpoint>) -> Arc<Self> {
        let first = endpoints[0].connect_lazy();
        let is_address = endpoints.len() == 1 && is_address(endpoints[0].uri());
        let source = |endpoint: Endpoint| Source {
            resolve: resolver(endpoint.uri()),
            endpoint,
        };
        let sources = endpoints.into_iter().map(source);
        let sources = if is_address {
            Vec::new()
        } else {
            sources.collect()
        };
        Self::with_sources(name, first, sources)
    }

    /// Creates the connections to replicas whose addresses a test knows.
    #[cfg(test)]
    pub(super) fn with_resolver(
        name: &'static str,
        endpoint: Endpoint,
        resolve: Resolve,
    ) -> Arc<Self> {
        let first = endpoint.connect_lazy();
        Self::with_sources(name, first, vec![Source { endpoint, resolve }])
    }

    fn with_sources(name: &'static str, first: Channel, sources: Vec<Source>) -> Arc<Self> {
        Arc::new(Self {
            name,
            sources,
            first,
            list: RwLock::default(),
            next: AtomicUsize::new(0),
            turn: Arc::new(Semaphore::new(1)),
        })
    }

    /// Returns the connection for the next call: to the replica whose turn it is, the first ready one from
    /// there. If none is ready, the call finds out why.
    pub(super) fn next(self: &Arc<Self>) -> Connection {
        self.renew_if_due();
        let list = self.list();
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        let mut from_turn = (0..list.len()).map(|step| &list[turn.wrapping_add(step) % list.len()]);
        let first = from_turn.clone().next();
        let ready = from_turn.find(|replica| replica.is_serving.load(Ordering::Relaxed));
        let replica = ready.or(first).map(Arc::clone);
        let channel = replica.as_ref().map_or(&self.first, |it| &it.channel);
        Connection {
            channel: channel.clone(),
            replica,
        }
    }

    fn list(&self) -> Arc<[Arc<Replica>]> {
        let list = self.list.read().expect("nothing panics with the lock");
        Arc::clone(&list)
    }

    /// Renews the list in a task of its own: calls don't wait for it, and a client that nobody uses does
    /// nothing.
    fn renew_if_due(self: &Arc<Self>) {
        if self.sources.is_empty() {
            return;
        }
        let Ok(turn) = Arc::clone(&self.turn).try_acquire_owned() else {
            return;
        };
        let replicas = Arc::clone(self);
        tokio::spawn(async move {
            replicas.renew().await;
            sleep(INTERVAL).await;
            drop(turn);
        });
    }

    /// Looks the addresses up, and asks each replica whether it is ready.
    async fn renew(&self) {
        let known = self.list();
        let sources = (0..self.sources.len()).map(|source| self.look_up(source, &known));
        let list: Arc<[_]> = join_all(sources).await.into_iter().flatten().collect();
        let serving = join_all(list.iter().map(|replica| replica.check())).await;
        for (replica, is_serving) in list.iter().zip(&serving) {
            replica.is_serving.store(*is_serving, Ordering::Relaxed);
        }
        let count = serving.iter().filter(|it| **it).count();
        *self.list.write().expect("nothing panics with the lock") = list;
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        metrics::gauge!("grpc_client_replicas", "dependency" => self.name).set(f64::from(count));
    }

    /// Returns the replicas of a url, with the connections to addresses that are still there. If the name
    /// can't be resolved, the addresses stay as they are.
    async fn look_up(&self, source: usize, known: &[Arc<Replica>]) -> Vec<Arc<Replica>> {
        let Source { endpoint, resolve } = &self.sources[source];
        let known = known.iter().filter(|replica| replica.source == source);
        let mut addresses = match timeout(TIMEOUT, resolve()).await {
            Ok(Ok(addresses)) if !addresses.is_empty() => addresses,
            failed => {
                tracing::debug!(
                    dependency = self.name,
                    ?failed,
                    "grpc client: addresses not resolved, using those known"
                );
                return known.map(Arc::clone).collect();
            }
        };
        addresses.sort_unstable();
        addresses.dedup();
        let replica = |address| {
            let same = known.clone().find(|replica| replica.address == address);
            same.map_or_else(
                || Arc::new(Replica::new(source, endpoint, address)),
                Arc::clone,
            )
        };
        addresses.into_iter().map(replica).collect()
    }
}

/// The connection for a call.
pub(super) struct Connection {
    pub(super) channel: Channel,
    replica: Option<Arc<Replica>>,
}

impl Connection {
    /// Leaves the replica out until it says again that it is ready: calls after one that found it gone go to
    /// others, and don't wait for the next look at it.
    pub(super) fn leave(&self) {
        if let Some(replica) = &self.replica {
            replica.is_serving.store(false, Ordering::Relaxed);
        }
    }
}

impl Replica {
    /// Creates a connection to an address: with the name of the endpoint in requests and certificates.
    fn new(source: usize, endpoint: &Endpoint, address: SocketAddr) -> Self {
        let connect = move |_: Uri| async move {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            io::Result::Ok(TokioIo::new(stream))
        };
        Self {
            source,
            address,
            channel: endpoint.connect_with_connector_lazy(service_fn(connect)),
            is_serving: AtomicBool::new(false),
        }
    }

    async fn check(&self) -> bool {
        let mut health = HealthClient::new(self.channel.clone());
        let check = health.check(HealthCheckRequest::default());
        match timeout(TIMEOUT, check).await {
            Ok(Ok(response)) => response.get_ref().status() == ServingStatus::Serving,
            Ok(Err(_)) | Err(_) => false,
        }
    }
}

/// Returns the name or the address in a url.
fn host(uri: &Uri) -> &str {
    uri.host().unwrap_or_default().trim_matches(['[', ']'])
}

fn is_address(uri: &Uri) -> bool {
    host(uri).parse::<IpAddr>().is_ok()
}

/// Returns how to look up a url's name.
fn resolver(uri: &Uri) -> Resolve {
    let default_port = if uri.scheme_str() == Some("https") {
        443
    } else {
        80
    };
    let (host, port) = (host(uri).to_owned(), uri.port_u16().unwrap_or(default_port));
    Box::new(move || {
        let host = host.clone();
        async move { Ok(lookup_host((host, port)).await?.collect()) }.boxed()
    })
}

impl std::fmt::Debug for Replicas {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replicas")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
