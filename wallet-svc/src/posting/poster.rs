//! The poster: takes what is queued, posts it as a group, answers each caller.

use std::{collections::HashSet, io, time::Duration};

use platform::{
    ids::Ids,
    pg::{self, is_transient},
};
use sqlx::{PgPool, Postgres, pool::PoolConnection};
use tokio::{
    runtime,
    sync::mpsc,
    task::{JoinHandle, spawn_blocking},
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

use super::{
    group::{self, InDoubt, Verdict},
    memory::Memory,
    queue::{Postings, Rejection, Request, queue},
    write::is_stale,
};

/// The largest group.
const GROUP: usize = 256;
/// Groups that are posted under locks at once after one was beaten without them: another replica got
/// in between, as it will again.
const WARY: u32 = 64;
/// How long a group is tried again while the database says "not now".
const PATIENCE: Duration = Duration::from_millis(2_500);

/// Posts in groups; one an instance.
pub struct Poster {
    queue: mpsc::Receiver<Request>,
    pub(super) pool: PgPool,
    /// Kept from group to group, until one fails on it.
    conn: Option<PoolConnection<Postgres>>,
    pub(super) memory: Memory,
    /// For how many more groups locks are taken at once.
    wary: u32,
    pub(super) ids: Ids,
}

impl Poster {
    /// A poster and the way to it. The pool is its own: see [`Poster::connect`].
    pub fn new(pool: PgPool, ids: Ids) -> (Postings, Self) {
        let (postings, queue) = queue();
        let poster = Self {
            queue,
            pool,
            conn: None,
            memory: Memory::default(),
            wary: 0,
            ids,
        };
        (postings, poster)
    }

    /// The poster's own connections: one to post on, one to make balance rows and to look up what
    /// became of a commit. Plans are made once, since a group's arrays differ in length only, and
    /// find each row by its key: the planner doesn't know how few rows a group is of a table.
    pub fn connect(url: &str) -> Result<PgPool, sqlx::Error> {
        let options = pg::Options {
            max_connections: 2,
            ..pg::Options::new("wallet-svc poster")
        };
        let separator = if url.contains('?') { '&' } else { '?' };
        let url = format!(
            "{url}{separator}options[plan_cache_mode]=force_generic_plan\
             &options[enable_seqscan]=off\
             &options[enable_hashjoin]=off\
             &options[enable_mergejoin]=off"
        );
        pg::connect(&url, &options)
    }

    /// Posts until stopped, then what is still queued; on a thread of its own, because on the shared
    /// ones each of a group's round trips waits until the requests before it are polled.
    pub fn spawn(self, stop: CancellationToken) -> io::Result<JoinHandle<()>> {
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        Ok(spawn_blocking(move || runtime.block_on(self.run(stop))))
    }

    /// Posts until stopped, then what is still queued.
    pub async fn run(mut self, stop: CancellationToken) {
        let mut requests = Vec::with_capacity(GROUP);
        loop {
            let taken = tokio::select! {
                biased;
                taken = self.queue.recv_many(&mut requests, GROUP) => taken,
                () = stop.cancelled(), if !self.queue.is_closed() => {
                    self.queue.close();
                    continue;
                }
            };
            if taken == 0 {
                return;
            }
            metrics::histogram!("wallet_group_size").record(count(taken));
            self.post_all(std::mem::take(&mut requests)).await;
        }
    }

    /// Posts a group. Repeats of an idempotency key wait for the first of them to be committed.
    async fn post_all(&mut self, mut requests: Vec<Request>) {
        while !requests.is_empty() {
            let mut seen = HashSet::new();
            let (group, repeats) = requests.into_iter().partition(|request: &Request| {
                let key = request.posting.key.as_ref();
                key.is_none_or(|key| seen.insert(*key.scope()))
            });
            self.post_group(group).await;
            requests = repeats;
        }
    }

    async fn post_group(&mut self, group: Vec<Request>) {
        match self.settle(&group).await {
            Ok(verdicts) => {
                for (request, verdict) in group.into_iter().zip(verdicts) {
                    // The caller may have gone; what is posted stays posted.
                    let _ = request.reply.send(verdict);
                }
            }
            Err(error) if group.len() > 1 && !is_transient(&error) => {
                // One poison posting must not hurt its neighbours.
                tracing::warn!(%error, size = group.len(), "posting a refused group one by one");
                for request in group {
                    Box::pin(self.post_group(vec![request])).await;
                }
            }
            Err(error) => give_up(group, &error),
        }
    }

    /// Posts the group, again while trouble passes.
    async fn settle(&mut self, group: &[Request]) -> Result<Vec<Verdict>, sqlx::Error> {
        let give_up_at = Instant::now() + PATIENCE;
        let mut pause = Duration::from_millis(2);
        let mut in_doubt: Option<InDoubt> = None;
        let mut beaten = 0;
        if let Some(verdicts) = self.try_unlocked(group, &mut in_doubt).await {
            return Ok(verdicts);
        }
        loop {
            match self.try_locked(group, &mut in_doubt).await {
                // Another replica was first with a key or operation: what it did shows now.
                Err(error) if is_unique_violation(&error) && beaten < 2 => beaten += 1,
                Err(error) if is_transient(&error) && Instant::now() + pause < give_up_at => {
                    metrics::counter!("wallet_groups_retried_total").increment(1);
                    tracing::debug!(%error, "posting a group again");
                    sleep(pause).await;
                    pause = (pause * 2).min(Duration::from_millis(250));
                }
                settled => return settled,
            }
        }
    }

    /// Posts the group on the connection of the one before, if it can do without locks. What goes
    /// wrong, the try with locks tells; so nobody waits for a connection twice.
    async fn try_unlocked(
        &mut self,
        group: &[Request],
        in_doubt: &mut Option<InDoubt>,
    ) -> Option<Vec<Verdict>> {
        if self.wary > 0 {
            self.wary -= 1;
            return None;
        }
        let mut conn = self.conn.take()?;
        match group::post_unlocked(&mut conn, self, group, in_doubt).await {
            Ok(verdicts) => {
                self.conn = Some(conn);
                verdicts
            }
            Err(error) => {
                tracing::debug!(%error, "posting a group again, with locks");
                self.memory.forget();
                if is_stale(&error) {
                    self.wary = WARY;
                }
                None
            }
        }
    }

    async fn try_locked(
        &mut self,
        group: &[Request],
        in_doubt: &mut Option<InDoubt>,
    ) -> Result<Vec<Verdict>, sqlx::Error> {
        let mut conn = match self.conn.take() {
            Some(conn) => conn,
            None => self.pool.acquire().await?,
        };
        let verdicts = group::post_locked(&mut conn, self, group, in_doubt).await?;
        self.conn = Some(conn);
        Ok(verdicts)
    }
}

fn is_unique_violation(error: &sqlx::Error) -> bool {
    error
        .as_database_error()
        .is_some_and(sqlx::error::DatabaseError::is_unique_violation)
}

fn give_up(group: Vec<Request>, error: &sqlx::Error) {
    let transient = is_transient(error);
    if transient {
        tracing::warn!(%error, size = group.len(), "the ledger's database is away");
    } else {
        tracing::error!(%error, "a posting could not be written");
    }
    for request in group {
        let rejection = if transient {
            Rejection::Unavailable
        } else {
            Rejection::Fault
        };
        let _ = request.reply.send(Err(rejection));
    }
}

fn count(taken: usize) -> f64 {
    u32::try_from(taken).map_or(0.0, f64::from)
}
