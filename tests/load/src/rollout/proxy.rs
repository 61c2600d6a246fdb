//! A balancer of connections as a Kubernetes Service is: a new one goes to the next replica that answers its
//! readiness probe, or to another if that does not accept it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use reqwest::Client;
use stack::Instance;
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::{MissedTickBehavior, interval},
};

const PROBE_INTERVAL: Duration = Duration::from_millis(250);
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);
const READY_TIMEOUT: Duration = Duration::from_secs(30);

/// A process behind the proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backend {
    port: u16,
    probes_port: u16,
}

impl Backend {
    pub fn of(instance: &Instance) -> Self {
        Self {
            port: instance.port,
            probes_port: instance.metrics_port,
        }
    }
}

/// A running proxy. Dropping it closes its connections.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    replicas: Arc<Replicas>,
    _tasks: JoinSet<()>,
}

#[derive(Debug)]
struct Replicas {
    all: Vec<(Backend, AtomicBool)>,
    next: AtomicUsize,
}

impl Proxy {
    /// Listens, and waits until all replicas are ready.
    pub async fn start(backends: Vec<Backend>) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        let all = backends.iter().cloned();
        let replicas = Arc::new(Replicas {
            all: all.map(|it| (it, AtomicBool::new(false))).collect(),
            next: AtomicUsize::new(0),
        });
        let mut tasks = JoinSet::new();
        for number in 0..backends.len() {
            tasks.spawn(probe(Arc::clone(&replicas), number));
        }
        tasks.spawn(accept(listener, Arc::clone(&replicas)));
        let proxy = Self {
            port,
            replicas,
            _tasks: tasks,
        };
        for backend in &backends {
            proxy.wait_until_ready(backend).await?;
        }
        Ok(proxy)
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Waits until a replica gets connections.
    pub async fn wait_until_ready(&self, backend: &Backend) -> anyhow::Result<()> {
        let mut all = self.replicas.all.iter();
        let (_, is_ready) = all.find(|(it, _)| it == backend).context("a replica")?;
        let deadline = Instant::now() + READY_TIMEOUT;
        let mut polls = interval(PROBE_INTERVAL);
        while !is_ready.load(Ordering::Relaxed) {
            ensure!(Instant::now() < deadline, "{backend:?} is not ready");
            polls.tick().await;
        }
        Ok(())
    }
}

impl Replicas {
    /// Opens a connection to the replica whose turn it is, or to the next ready one that accepts it.
    async fn connect(&self) -> Option<TcpStream> {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        for step in 0..self.all.len() {
            let (backend, is_ready) = &self.all[(turn + step) % self.all.len()];
            if is_ready.load(Ordering::Relaxed)
                && let Ok(stream) = TcpStream::connect(("127.0.0.1", backend.port)).await
            {
                return Some(stream);
            }
        }
        None
    }
}

async fn probe(replicas: Arc<Replicas>, number: usize) {
    let (backend, is_ready) = &replicas.all[number];
    let url = format!("http://127.0.0.1:{}/readyz", backend.probes_port);
    let client = Client::new();
    let mut ticks = interval(PROBE_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let response = client.get(&url).timeout(PROBE_TIMEOUT).send().await;
        let ready = response.is_ok_and(|response| response.status().is_success());
        is_ready.store(ready, Ordering::Relaxed);
    }
}

async fn accept(listener: TcpListener, replicas: Arc<Replicas>) {
    let mut connections = JoinSet::new();
    while let Ok((mut client, _)) = listener.accept().await {
        let replicas = Arc::clone(&replicas);
        connections.spawn(async move {
            let _ = client.set_nodelay(true);
            if let Some(mut server) = replicas.connect().await {
                let _ = server.set_nodelay(true);
                let _ = copy_bidirectional(&mut client, &mut server).await;
            }
        });
    }
}
