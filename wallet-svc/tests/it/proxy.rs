//! A way to Postgres that breaks where a test wants it to.

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

/// How the poster's connections say who they are.
const POSTER: &[u8] = b"wallet-svc posting";

/// Passes on what a service and Postgres say to each other, but for one answer to the poster: in
/// place of that its connection ends.
pub(crate) struct Wire {
    way: PgConnectOptions,
    plan: Arc<Mutex<Plan>>,
}

/// Which answer is lost.
#[derive(Default)]
enum Plan {
    #[default]
    None,
    /// The one after so many.
    After(usize),
    /// The first after this counts something: what was asked is done, and nobody is told.
    Done(&'static str, PgPool),
}

impl Wire {
    pub(crate) async fn to(server: &PgConnectOptions) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        // What is encrypted can't be read.
        let way = server.clone().host("127.0.0.1").port(port);
        let way = way.ssl_mode(PgSslMode::Disable);
        let plan = Arc::<Mutex<Plan>>::default();
        let (server, kept) = (server.clone(), plan.clone());
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let address = (server.get_host().to_owned(), server.get_port());
                let postgres = TcpStream::connect(address).await.unwrap();
                tokio::spawn(carry(client, postgres, kept.clone()));
            }
        });
        Self { way, plan }
    }

    /// The server, as it is reached over this wire.
    pub(crate) fn way(&self) -> PgConnectOptions {
        self.way.clone()
    }

    /// Loses the answer that comes after so many more.
    pub(crate) async fn lose_after(&self, answers: usize) {
        *self.plan.lock().await = Plan::After(answers);
    }

    /// Loses the answer to what makes this count something.
    pub(crate) async fn lose_done(&self, count: &'static str, pool: &PgPool) {
        *self.plan.lock().await = Plan::Done(count, pool.clone());
    }

    /// Whether the answer was lost; from now on none is.
    pub(crate) async fn has_lost(&self) -> bool {
        matches!(std::mem::take(&mut *self.plan.lock().await), Plan::None)
    }
}

impl Plan {
    async fn loses_next(&mut self) -> bool {
        let loses = match self {
            Self::None => false,
            Self::After(0) => true,
            Self::After(answers) => {
                *answers -= 1;
                false
            }
            Self::Done(count, pool) => {
                let done = sqlx::query_scalar::<_, i64>(*count).fetch_one(&*pool);
                done.await.unwrap() > 0
            }
        };
        if loses {
            *self = Self::None;
        }
        loses
    }
}

/// Until one of them leaves or the answer is to be lost; then both connections end.
async fn carry(client: TcpStream, postgres: TcpStream, plan: Arc<Mutex<Plan>>) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_postgres, mut to_postgres) = postgres.into_split();
    let mut buffer = vec![0; 1 << 16];
    let Ok(length) = from_client.read(&mut buffer).await else {
        return;
    };
    let posts = buffer[..length]
        .windows(POSTER.len())
        .any(|part| part == POSTER);
    if to_postgres.write_all(&buffer[..length]).await.is_err() {
        return;
    }
    let asked = tokio::spawn(async move {
        let _ = tokio::io::copy(&mut from_client, &mut to_postgres).await;
    });
    while let Ok(length @ 1..) = from_postgres.read(&mut buffer).await {
        let said = &buffer[..length];
        if posts && ends_an_answer(said) && plan.lock().await.loses_next().await {
            break;
        }
        if to_client.write_all(said).await.is_err() {
            break;
        }
    }
    asked.abort();
}

/// An answer ends in `ReadyForQuery`: Z, a length of 5, the state of the transaction.
fn ends_an_answer(said: &[u8]) -> bool {
    said.iter().rev().nth(5) == Some(&b'Z') && said[said.len() - 5..].starts_with(&[0, 0, 0, 5])
}
