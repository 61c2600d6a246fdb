//! A TCP proxy between a service and Postgres that drops one reply.

use std::sync::Arc;

use sqlx::{
    PgPool,
    postgres::{PgConnectOptions, PgSslMode},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::Mutex,
};

/// The application name of the posting worker's connections.
const POSTING_WORKER: &[u8] = b"wallet-svc posting";

/// Forwards everything, except one reply to the posting worker: its connection is closed instead.
pub(crate) struct PostgresProxy {
    options: PgConnectOptions,
    fault: Arc<Mutex<Fault>>,
}

/// The reply to drop.
#[derive(Default)]
enum Fault {
    #[default]
    None,
    /// The one after this many.
    After(usize),
    /// The first one once this query counts a row: its statement took effect.
    OnceCounted(&'static str, PgPool),
}

impl PostgresProxy {
    pub(crate) async fn start(server: &PgConnectOptions) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let options = server.clone().host("127.0.0.1").port(port);
        // The proxy has to read the replies.
        let options = options.ssl_mode(PgSslMode::Disable);
        let fault = Arc::<Mutex<Fault>>::default();
        let (server, shared) = (server.clone(), fault.clone());
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let address = (server.get_host().to_owned(), server.get_port());
                let postgres = TcpStream::connect(address).await.unwrap();
                tokio::spawn(forward(client, postgres, shared.clone()));
            }
        });
        Self { options, fault }
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
        *self.fault.lock().await = Fault::OnceCounted(count, pool.clone());
    }

    /// Whether the reply was dropped; from now on none is.
    pub(crate) async fn has_dropped(&self) -> bool {
        matches!(std::mem::take(&mut *self.fault.lock().await), Fault::None)
    }
}

impl Fault {
    async fn drops_next(&mut self) -> bool {
        let drops = match self {
            Self::None => false,
            Self::After(0) => true,
            Self::After(replies) => {
                *replies -= 1;
                false
            }
            Self::OnceCounted(count, pool) => {
                let counted = sqlx::query_scalar::<_, i64>(*count).fetch_one(&*pool);
                counted.await.unwrap() > 0
            }
        };
        if drops {
            *self = Self::None;
        }
        drops
    }
}

/// Forwards until one side closes or a reply is dropped; then closes both connections.
async fn forward(client: TcpStream, postgres: TcpStream, fault: Arc<Mutex<Fault>>) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_postgres, mut to_postgres) = postgres.into_split();
    let mut buffer = vec![0; 1 << 16];
    let Ok(length) = from_client.read(&mut buffer).await else {
        return;
    };
    let is_worker = buffer[..length]
        .windows(POSTING_WORKER.len())
        .any(|part| part == POSTING_WORKER);
    if to_postgres.write_all(&buffer[..length]).await.is_err() {
        return;
    }
    let requests = tokio::spawn(async move {
        let _ = tokio::io::copy(&mut from_client, &mut to_postgres).await;
    });
    while let Ok(length @ 1..) = from_postgres.read(&mut buffer).await {
        let bytes = &buffer[..length];
        if is_worker && ends_reply(bytes) && fault.lock().await.drops_next().await {
            break;
        }
        if to_client.write_all(bytes).await.is_err() {
            break;
        }
    }
    requests.abort();
}

/// A reply ends in `ReadyForQuery`: Z, a length of 5, the state of the transaction.
fn ends_reply(bytes: &[u8]) -> bool {
    bytes.iter().rev().nth(5) == Some(&b'Z') && bytes[bytes.len() - 5..].starts_with(&[0, 0, 0, 5])
}
