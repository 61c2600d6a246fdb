//! The replicas of a dependency: all addresses of its name take turns, but for those that aren't ready.
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
    endpoint: Endpoint,
    /// `None` if the url has an address instead of a name.
    resolve: Option<Resolve>,
    /// Until the name is resolved.
    by_name: Channel,
    list: RwLock<Arc<[Arc<Replica>]>>,
    next: AtomicUsize,
    /// Taken while the list is renewed, and until it may be again.
    turn: Arc<Semaphore>,
}

struct Replica {
    address: SocketAddr,
    channel: Channel,
    is_serving: AtomicBool,
}

impl Replicas {
    pub(super) fn new(name: &'static str, endpoint: Endpoint) -> Arc<Self> {
        let resolve = resolver(endpoint.uri());
        Self::with_resolver(name, endpoint, resolve)
    }

    pub(super) fn with_resolver(
        name: &'static str,
        endpoint: Endpoint,
        resolve: Option<Resolve>,
    ) -> Arc<Self> {
        Arc::new(Self {
            name,
            by_name: endpoint.connect_lazy(),
            endpoint,
            resolve,
            list: RwLock::default(),
            next: AtomicUsize::new(0),
            turn: Arc::new(Semaphore::new(1)),
        })
    }

    /// Returns the connection for the next call: to the replica whose turn it is, the first ready one from
    /// there. If none is ready, the call finds out why.
    pub(super) fn next(self: &Arc<Self>) -> Channel {
        self.renew_if_due();
        let list = self.list();
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        let mut from_turn = (0..list.len()).map(|step| &list[turn.wrapping_add(step) % list.len()]);
        let first = from_turn.clone().next();
        let ready = from_turn.find(|replica| replica.is_serving.load(Ordering::Relaxed));
        ready
            .or(first)
            .map_or_else(|| self.by_name.clone(), |replica| replica.channel.clone())
    }

    fn list(&self) -> Arc<[Arc<Replica>]> {
        let list = self.list.read().expect("nothing panics with the lock");
        Arc::clone(&list)
    }

    /// Renews the list in a task of its own: calls don't wait for it, and a client that nobody uses does
    /// nothing.
    fn renew_if_due(self: &Arc<Self>) {
        let Some(resolve) = &self.resolve else {
            return;
        };
        let Ok(turn) = Arc::clone(&self.turn).try_acquire_owned() else {
            return;
        };
        let (replicas, addresses) = (Arc::clone(self), resolve());
        tokio::spawn(async move {
            replicas.renew(addresses).await;
            sleep(INTERVAL).await;
            drop(turn);
        });
    }

    /// Looks the addresses up, and asks each replica whether it is ready. If the name can't be resolved,
    /// the addresses stay as they are.
    async fn renew(&self, addresses: BoxFuture<'static, io::Result<Vec<SocketAddr>>>) {
        let mut list = self.list();
        match timeout(TIMEOUT, addresses).await {
            Ok(Ok(addresses)) if !addresses.is_empty() => list = self.merge(&list, addresses),
            failed => tracing::debug!(
                dependency = self.name,
                ?failed,
                "grpc client: addresses not resolved, using those known"
            ),
        }
        let serving = join_all(list.iter().map(|replica| replica.check())).await;
        for (replica, is_serving) in list.iter().zip(&serving) {
            replica.is_serving.store(*is_serving, Ordering::Relaxed);
        }
        let count = serving.iter().filter(|it| **it).count();
        *self.list.write().expect("nothing panics with the lock") = list;
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        metrics::gauge!("grpc_client_replicas", "dependency" => self.name).set(f64::from(count));
    }

    /// Keeps the connections to addresses that are still there.
    fn merge(&self, known: &[Arc<Replica>], mut addresses: Vec<SocketAddr>) -> Arc<[Arc<Replica>]> {
        addresses.sort_unstable();
        addresses.dedup();
        let replica = |address| {
            let same = known.iter().find(|replica| replica.address == address);
            same.map_or_else(
                || Arc::new(Replica::new(&self.endpoint, address)),
                Arc::clone,
            )
        };
        addresses.into_iter().map(replica).collect()
    }
}

impl Replica {
    /// Creates a connection to an address: with the name of the endpoint in requests and certificates.
    fn new(endpoint: &Endpoint, address: SocketAddr) -> Self {
        let connect = move |_: Uri| async move {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            io::Result::Ok(TokioIo::new(stream))
        };
        Self {
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

/// Returns how to look up a url's name; `None` for an address, which needs no look-up.
fn resolver(uri: &Uri) -> Option<Resolve> {
    let host = uri.host()?.trim_matches(['[', ']']).to_owned();
    if host.parse::<IpAddr>().is_ok() {
        return None;
    }
    let default_port = if uri.scheme_str() == Some("https") {
        443
    } else {
        80
    };
    let port = uri.port_u16().unwrap_or(default_port);
    let resolve = move || {
        let host = host.clone();
        async move { Ok(lookup_host((host, port)).await?.collect()) }.boxed()
    };
    Some(Box::new(resolve))
}

impl std::fmt::Debug for Replicas {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replicas")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
