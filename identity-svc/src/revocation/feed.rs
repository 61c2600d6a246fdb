//! Follows the table of revocations, which other replicas change too, and passes on what it reads.

use std::{convert::Infallible, io, sync::Arc, time::Duration};

use futures::{Stream, stream};
use platform::{
    auth::{Revocation, Revocations},
    backoff::Backoff,
    error::Failure,
    pg,
    service::Application as _,
};
use secrecy::{ExposeSecret as _, SecretString};
use sqlx::postgres::PgListener;
use tokio::{
    sync::{
        Notify,
        broadcast::{self, error::RecvError},
    },
    time::{MissedTickBehavior, interval, sleep},
};
use tokio_util::sync::CancellationToken;

use super::repo::{self, CHANNEL, Horizon};
use crate::{Service, error::Result};

/// The longest time between two reads: each is a message to the watchers, by which they know that nothing
/// is missing. It also finds what was not announced.
const READ_INTERVAL: Duration = Duration::from_secs(1);

/// How long a read may take, and a connection.
const READ_TIMEOUT: Duration = Duration::from_secs(2);

/// The delays between failed connections, short because changes are refused everywhere meanwhile.
const RECONNECT: Backoff = Backoff::new(Duration::from_millis(50), Duration::from_secs(1));

/// The reads that a watcher may be behind before its stream ends.
const READS_CAPACITY: usize = 256;

/// The revocations as this process has read them. Cloning is cheap and shares them.
#[derive(Debug, Clone)]
pub(crate) struct Feed {
    database_url: Arc<SecretString>,
    revocations: Revocations,
    reads: broadcast::Sender<Arc<[Revocation]>>,
    /// Asks for a read before the next interval.
    read_soon: Arc<Notify>,
}

impl Feed {
    /// Creates a feed that fills `revocations`. It reads once [`Feed::run`] runs.
    pub(crate) fn new(database_url: SecretString, revocations: Revocations) -> Self {
        Self {
            database_url: Arc::new(database_url),
            revocations,
            reads: broadcast::Sender::new(READS_CAPACITY),
            read_soon: Arc::default(),
        }
    }

    /// Reads the table until `stop`, over one connection after another.
    pub(crate) async fn run(self, stop: CancellationToken) {
        let mut backoff = RECONNECT;
        loop {
            let reading = Box::pin(self.read_over_one_connection(&mut backoff));
            let Some(Err(error)) = stop.run_until_cancelled(reading).await else {
                return;
            };
            if backoff.is_initial() {
                tracing::warn!(%error, "revocations: cannot be read, reconnecting");
            }
            let delay = sleep(backoff.next_delay());
            if stop.run_until_cancelled(delay).await.is_none() {
                return;
            }
        }
    }

    /// Reads the whole table, then what has changed, whenever that is announced and every second. The
    /// same connection listens and reads: if it is lost, nothing is sent until all is read again.
    async fn read_over_one_connection(
        &self,
        backoff: &mut Backoff,
    ) -> Result<Infallible, sqlx::Error> {
        let mut listener = pg::within(READ_TIMEOUT, self.listen()).await?;
        let mut horizon = Horizon::start();
        let mut ticks = interval(READ_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                () = self.read_soon.notified() => {}
                announced = listener.try_recv() => if announced?.is_none() {
                    return Err(io::Error::from(io::ErrorKind::ConnectionAborted).into());
                },
            }
            // One read answers all announcements so far.
            while listener.next_buffered().is_some() {}
            horizon = pg::within(READ_TIMEOUT, self.read(&mut listener, &horizon)).await?;
            if !backoff.is_initial() {
                tracing::info!("revocations: read again");
                backoff.reset();
            }
        }
    }

    /// Opens a connection of its own: one of the service's pool would be missing there.
    async fn listen(&self) -> Result<PgListener, sqlx::Error> {
        let options = pg::Options {
            max_connections: 1,
            ..pg::Options::new(Service::NAME)
        };
        let pool = pg::connect(self.database_url.expose_secret(), &options)?;
        let mut listener = PgListener::connect_with(&pool).await?;
        listener.eager_reconnect(false);
        listener.listen(CHANNEL).await?;
        Ok(listener)
    }

    /// Reads what has changed since `horizon` and passes it on, also if that is nothing.
    async fn read(
        &self,
        listener: &mut PgListener,
        horizon: &Horizon,
    ) -> Result<Horizon, sqlx::Error> {
        let (mut changed, next) = repo::read_since(listener, horizon).await?;
        changed.retain(|revocation| !self.revocations.includes(revocation));
        self.revocations.record(changed.iter().cloned());
        // An error means that nobody watches.
        _ = self.reads.send(changed.into());
        Ok(next)
    }

    /// Streams all revocations, as of a read after the call, then those of each later read. Fails if
    /// the reader is too slow.
    pub(crate) fn watch(
        &self,
    ) -> impl Stream<Item = Result<Vec<Revocation>, Failure>> + Send + use<> {
        let reads = self.reads.subscribe();
        self.read_soon.notify_one();
        let snapshot = Some(self.revocations.clone());
        stream::unfold((reads, snapshot), |(mut reads, mut snapshot)| async move {
            let message = match (reads.recv().await, snapshot.take()) {
                (Ok(_), Some(revocations)) => Ok(revocations.all()),
                (Ok(changed), None) => Ok(changed.to_vec()),
                (Err(RecvError::Lagged(_)), _) => {
                    Err(Failure::unavailable("the stream of a slow reader"))
                }
                (Err(RecvError::Closed), _) => return None,
            };
            Some((message, (reads, snapshot)))
        })
    }
}

#[cfg(test)]
mod tests {
    use futures::StreamExt as _;
    use platform::{auth::Kind, error::Code};

    use super::*;

    fn feed() -> Feed {
        Feed::new("postgres://unused".into(), Revocations::own())
    }

    fn read(feed: &Feed, min_version: i32) {
        let changed = vec![Revocation {
            kind: Kind::User,
            subject: "u".to_owned(),
            min_version,
        }];
        feed.revocations.record(changed.clone());
        feed.reads.send(changed.into()).unwrap();
    }

    #[tokio::test]
    async fn a_watcher_gets_all_of_the_next_read_then_the_changes() {
        let feed = feed();
        let mut watcher = Box::pin(feed.watch());
        read(&feed, 1);
        read(&feed, 2);
        for _ in 0..2 {
            let message = watcher.next().await.unwrap().unwrap();
            assert_eq!(message[0].min_version, 2);
        }
    }

    #[tokio::test]
    async fn a_watcher_that_is_far_behind_is_ended() {
        let feed = feed();
        let mut watcher = Box::pin(feed.watch());
        for number in 0..=READS_CAPACITY {
            read(&feed, i32::try_from(number).unwrap());
        }
        let failure = watcher.next().await.unwrap().unwrap_err();
        assert_eq!(failure.code, Code::Unavailable);
    }
}
