//! The worker's connection to Postgres and the cache of what was committed over it. Neither outlives
//! the other: a new connection may lead to another server, or to an earlier state of the same.

use std::time::Duration;

use platform::{clock::Clock, pg};
use sqlx::{PgPool, Postgres, pool::PoolConnection};

use super::cache::BalanceCache;

/// A connection and its cache.
pub(super) struct Session {
    pub conn: PoolConnection<Postgres>,
    pub cache: BalanceCache,
}

impl Session {
    /// Takes a connection from the pool, with an empty cache.
    pub(super) async fn open(pool: &PgPool, clock: &Clock) -> Result<Self, sqlx::Error> {
        Ok(Self {
            conn: pool.acquire().await?,
            cache: BalanceCache::new(clock.clone()),
        })
    }

    /// Closes the connection without waiting for the server, which may be gone.
    pub(super) fn close(self) {
        drop(self.conn.detach());
    }
}

/// Makes the worker's pool: one connection to post on, and one while another is opened.
///
/// Its limits are shorter than those of requests, because all postings wait for the worker: a locked
/// row or a lost connection may hold them up for a moment only. What the server keeps open for a lost
/// connection has to end before the batch is given up.
pub(crate) fn connect(url: &str) -> Result<PgPool, sqlx::Error> {
    let options = pg::Options {
        max_connections: 2,
        acquire_timeout: Duration::from_secs(1),
        statement_timeout: Duration::from_secs(2),
        lock_timeout: Duration::from_millis(500),
        idle_in_transaction_timeout: Duration::from_secs(2),
        ..pg::Options::new("wallet-svc posting")
    };
    pg::connect(url, &options)
}
