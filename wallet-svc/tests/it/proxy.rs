//! A TCP proxy between a service and Postgres that drops replies, or a commit, or falls silent.

use std::{
    mem,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use sqlx::{
    PgPool,
    postgres::{PgConnectOptions, PgSslMode},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::Mutex,
    time::sleep,
};

use crate::harness::TestApp;

/// Starts a service that reaches the database through a proxy.
pub(crate) async fn app_behind_proxy(pool: PgPool) -> (TestApp, PostgresProxy) {
    let proxy = PostgresProxy::start(&pool.connect_options()).await;
    let app = TestApp::through_proxy(pool, proxy.options()).await;
    (app, proxy)
}

/// The application name of the posting worker's connections.
const POSTING_WORKER: &[u8] = b"wallet-svc posting";

/// Forwards everything, except some messages of the posting worker: its connection is closed instead,
/// or stays open, and forwards nothing any more.
pub(crate) struct PostgresProxy {
    options: PgConnectOptions,
    fault: Arc<Mutex<Fault>>,
    shared: Arc<Shared>,
}

/// What all connections of the worker share.
#[derive(Default)]
struct Shared {
    commits: AtomicUsize,
}

/// What to drop.
#[derive(Default)]
enum Fault {
    #[default]
    None,
    /// The reply after this many.
    After(usize),
    /// So many replies once this query counts a row: its statement took effect.
    OnceCounted(&'static str, PgPool, usize),
    /// The next commit, once this query counts a row.
    Commit(&'static str, PgPool),
    /// All from the reply on that comes after this many.
    SilenceAfter(usize),
}

/// The outcome of a reply.
enum Reply {
    Forward,
    Close,
    Silence,
}

/// A connection of the worker.
#[derive(Clone)]
struct Worker {
    fault: Arc<Mutex<Fault>>,
    shared: Arc<Shared>,
    silent: Arc<AtomicBool>,
}

impl PostgresProxy {
    pub(crate) async fn start(server: &PgConnectOptions) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let options = server.clone().host("127.0.0.1").port(port);
        // The proxy has to read the replies.
        let options = options.ssl_mode(PgSslMode::Disable);
        let fault = Arc::<Mutex<Fault>>::default();
        let shared = Arc::<Shared>::default();
        let (server, faults, counts) = (server.clone(), fault.clone(), shared.clone());
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let address = (server.get_host().to_owned(), server.get_port());
                let postgres = TcpStream::connect(address).await.unwrap();
                tokio::spawn(forward(client, postgres, faults.clone(), counts.clone()));
            }
        });
        Self {
            options,
            fault,
            shared,
        }
    }

    /// Returns how to connect to Postgres through the proxy.
    pub(crate) fn options(&self) -> PgConnectOptions {
        self.options.clone()
    }

    /// Drops the reply that comes after this many.
    pub(crate) async fn drop_reply_after(&self, replies: usize) {
        *self.fault.lock().await = Fault::After(replies);
    }

    /// Drops the first reply once this query counts a row.
    pub(crate) async fn drop_reply_once(&self, count: &'static str, pool: &PgPool) {
        self.drop_replies_once(count, pool, 1).await;
    }

    /// Drops so many replies, each of a connection of its own, once this query counts a row.
    pub(crate) async fn drop_replies_once(
        &self,
        count: &'static str,
        pool: &PgPool,
        replies: usize,
    ) {
        *self.fault.lock().await = Fault::OnceCounted(count, pool.clone(), replies);
    }

    /// Keeps the next commit from Postgres until this query counts a row, and drops it then.
    pub(crate) async fn drop_commit_once(&self, count: &'static str, pool: &PgPool) {
        *self.fault.lock().await = Fault::Commit(count, pool.clone());
    }

    /// Silences the connection that the reply after this many comes from.
    pub(crate) async fn silence_after(&self, replies: usize) {
        *self.fault.lock().await = Fault::SilenceAfter(replies);
    }

    /// Returns how many transactions the worker has committed by a statement of its own.
    pub(crate) fn commits(&self) -> usize {
        self.shared.commits.load(Ordering::SeqCst)
    }

    /// Whether everything was dropped; from now on nothing is.
    pub(crate) async fn has_dropped(&self) -> bool {
        matches!(mem::take(&mut *self.fault.lock().await), Fault::None)
    }
}

impl Fault {
    async fn next_reply(&mut self) -> Reply {
        match self {
            Self::None | Self::Commit(..) => Reply::Forward,
            Self::After(0) => {
                *self = Self::None;
                Reply::Close
            }
            Self::SilenceAfter(0) => {
                *self = Self::None;
                Reply::Silence
            }
            Self::After(replies) | Self::SilenceAfter(replies) => {
                *replies -= 1;
                Reply::Forward
            }
            Self::OnceCounted(query, pool, replies) => {
                let drops = count(query, pool).await > 0;
                *replies -= usize::from(drops);
                if *replies == 0 {
                    *self = Self::None;
                }
                if drops { Reply::Close } else { Reply::Forward }
            }
        }
    }

    /// Returns the query that has to count a row before the commit is dropped, if it is to be.
    fn take_commit(&mut self) -> Option<(&'static str, PgPool)> {
        match mem::take(self) {
            Self::Commit(query, pool) => Some((query, pool)),
            other => {
                *self = other;
                None
            }
        }
    }
}

async fn count(query: &'static str, pool: &PgPool) -> i64 {
    sqlx::query_scalar(query).fetch_one(pool).await.unwrap()
}

/// Forwards until one side closes or a message is dropped; then closes both connections.
async fn forward(
    client: TcpStream,
    postgres: TcpStream,
    fault: Arc<Mutex<Fault>>,
    shared: Arc<Shared>,
) {
    let (mut from_client, to_client) = client.into_split();
    let (from_postgres, mut to_postgres) = postgres.into_split();
    let mut buffer = vec![0; 1 << 16];
    let Ok(length) = from_client.read(&mut buffer).await else {
        return;
    };
    let is_worker = contains(&buffer[..length], POSTING_WORKER);
    if to_postgres.write_all(&buffer[..length]).await.is_err() {
        return;
    }
    let worker = is_worker.then(|| Worker {
        fault,
        shared,
        silent: Arc::default(),
    });
    tokio::select! {
        () = forward_requests(from_client, to_postgres, worker.clone()) => {}
        () = forward_replies(from_postgres, to_client, worker) => {}
    }
}

async fn forward_requests(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, worker: Option<Worker>) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        let bytes = &buffer[..length];
        let mut dropped = None;
        if let Some(worker) = &worker {
            if worker.silent.load(Ordering::SeqCst) {
                continue;
            }
            if contains(bytes, b"COMMIT") {
                worker.shared.commits.fetch_add(1, Ordering::SeqCst);
                // Not locked while waiting: other connections go on.
                dropped = worker.fault.lock().await.take_commit();
            }
        }
        if let Some((query, pool)) = dropped {
            while count(query, &pool).await == 0 {
                sleep(Duration::from_millis(5)).await;
            }
            return;
        }
        if to.write_all(bytes).await.is_err() {
            return;
        }
    }
}

async fn forward_replies(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, worker: Option<Worker>) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        let bytes = &buffer[..length];
        if let Some(worker) = &worker
            && ends_reply(bytes)
        {
            match worker.fault.lock().await.next_reply().await {
                Reply::Forward => {}
                Reply::Close => return,
                Reply::Silence => worker.silent.store(true, Ordering::SeqCst),
            }
        }
        let is_silent = |worker: &Worker| worker.silent.load(Ordering::SeqCst);
        if worker.as_ref().is_some_and(is_silent) {
            continue;
        }
        if to.write_all(bytes).await.is_err() {
            return;
        }
    }
}

fn contains(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|part| part == text)
}

/// A reply ends in `ReadyForQuery`: Z, a length of 5, the state of the transaction.
fn ends_reply(bytes: &[u8]) -> bool {
    bytes.iter().rev().nth(5) == Some(&b'Z') && bytes[bytes.len() - 5..].starts_with(&[0, 0, 0, 5])
}
