//! The stack that is measured: a durable Postgres of its own, NATS and the five processes, built
//! beside this program.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::Context as _;
use sqlx::{Connection as _, PgConnection};
use stack::{
    EnvironmentOptions, Replicas, RunLock, Secrets, Stack, StackOptions, Variable, Workspace,
};
use tokio::time::{interval, timeout};

use crate::Server;

/// How long [`Environment::settle`] waits for the relay to publish the events of a run.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// How to run an environment.
#[derive(Debug)]
pub struct Options {
    /// The name of its directory and database.
    pub name: &'static str,
    /// Whether the data stays for the next run.
    pub keep: bool,
    /// The number of processes of each service, where it is not one.
    pub replicas: Replicas,
    /// The number of NATS servers.
    pub nats_nodes: usize,
    /// Settings of all processes.
    pub settings: Vec<Variable>,
    /// Where servers are found.
    pub server: Server,
}

impl Options {
    /// One process of each service, on data that is removed.
    pub const fn new(name: &'static str, server: Server) -> Self {
        Self {
            name,
            keep: false,
            replicas: Replicas::new(),
            nats_nodes: 1,
            settings: Vec::new(),
            server,
        }
    }
}

/// Counts of wallet-svc's events.
#[derive(Debug, Clone, Copy)]
pub struct Events {
    /// Since the database was made.
    pub written: i64,
    /// Not published yet.
    pub pending: i64,
}

impl Events {
    const fn published(self) -> i64 {
        self.written - self.pending
    }

    /// Returns how many were published since `before`.
    pub const fn published_since(self, before: Self) -> i64 {
        self.published() - before.published()
    }
}

/// Running servers and processes. Dropping it stops them.
#[derive(Debug)]
pub struct Environment {
    /// Postgres, NATS and the processes.
    pub stack: Stack,
    workspace: Workspace,
    keep: bool,
    lock: Arc<RunLock>,
}

impl Environment {
    /// Starts everything, on the data of the last run where it is kept.
    pub fn start(options: Options) -> anyhow::Result<Self> {
        let discard = !options.keep;
        Self::start_after(options, discard)
    }

    /// Starts everything without the data of the last run.
    pub fn start_empty(options: Options) -> anyhow::Result<Self> {
        Self::start_after(options, true)
    }

    fn start_after(options: Options, discard: bool) -> anyhow::Result<Self> {
        // One program at a time: it would remove the data of the other, and change its figures.
        let lock = RunLock::take(&Self::directories()?.state, "A load program")?;
        Self::start_locked(options, discard, Arc::new(lock), &BTreeMap::new())
    }

    /// Starts another stack with servers of its own, without the data of the last run.
    pub fn start_beside(&self, options: Options) -> anyhow::Result<Self> {
        let running = self.stack.process_ids();
        Self::start_locked(options, true, Arc::clone(&self.lock), &running)
    }

    fn directories() -> anyhow::Result<Workspace> {
        Workspace::current()?.subdirectory("load")
    }

    /// Starts everything beside the processes that are running already.
    fn start_locked(
        options: Options,
        discard: bool,
        lock: Arc<RunLock>,
        running: &BTreeMap<String, u32>,
    ) -> anyhow::Result<Self> {
        let all = Self::directories()?;
        if discard {
            all.subdirectory(options.name)?.remove()?;
        }
        let record = |started: BTreeMap<String, u32>| {
            let running = running.iter();
            let mut processes: BTreeMap<_, _> = running
                .map(|(name, pid)| (format!("other {name}"), *pid))
                .collect();
            processes.extend(started);
            lock.record(&processes)
        };
        let workspace = all.subdirectory(options.name)?;
        let mut servers = EnvironmentOptions::new(workspace.clone());
        servers.servers.nats_server = options.server.nats_server;
        servers.nats_nodes = options.nats_nodes;
        let servers = stack::Environment::start(servers)?;
        record(servers.process_ids())?;
        let program = std::env::current_exe()?;
        let binaries = program.parent().context("the program is in a directory")?;
        let mut stack = StackOptions::new(binaries.to_owned(), servers);
        stack.database = Some(format!("guerdon_load_{}", options.name));
        stack.secrets = Secrets::load_or_generate(&workspace.secrets())?;
        stack.replicas = options.replicas;
        stack.settings = options.settings;
        let stack = Stack::start(stack)?;
        record(stack.process_ids())?;
        Ok(Self {
            stack,
            workspace,
            keep: options.keep,
            lock,
        })
    }

    /// Returns the log of Postgres.
    pub fn postgres_log(&self) -> PathBuf {
        self.stack.environment().postgres_log()
    }

    /// Returns a directory for temporary files.
    pub fn directory(&self) -> &Path {
        &self.workspace.state
    }

    /// Returns a superuser's connection to a database; without a name, to that of the stack.
    pub async fn connect(&self, database: Option<&str>) -> anyhow::Result<PgConnection> {
        let name = database.unwrap_or(&self.stack.wiring().database);
        Ok(PgConnection::connect(&self.url(name)?).await?)
    }

    /// Returns a superuser's URL of a database.
    pub fn url(&self, database: &str) -> anyhow::Result<String> {
        self.stack.environment().database_url(database)
    }

    /// Counts the events of wallet-svc.
    pub async fn events(&self) -> anyhow::Result<Events> {
        let mut conn = self.connect(None).await?;
        let counts = "select coalesce(pg_sequence_last_value(
                 pg_get_serial_sequence('wallet.outbox', 'position')::regclass), 0),
             (select coalesce(sum(last_position - first_position + 1), 0)::bigint
              from wallet.outbox_pending)";
        let (written, pending) = sqlx::query_as(counts).fetch_one(&mut conn).await?;
        Ok(Events { written, pending })
    }

    /// Keeps a run from paying for the one before it: waits until events are published, discards
    /// those that are still pending after a while, and has Postgres write its pages.
    pub async fn settle(&self) -> anyhow::Result<()> {
        let drain = async {
            let mut interval = interval(POLL_INTERVAL);
            loop {
                interval.tick().await;
                if self.events().await?.pending == 0 {
                    return Ok::<(), anyhow::Error>(());
                }
            }
        };
        if let Ok(drained) = timeout(DRAIN_TIMEOUT, drain).await {
            drained?;
        }
        let mut conn = self.connect(None).await?;
        for sql in [
            "delete from wallet.outbox_pending",
            "vacuum analyze",
            "checkpoint",
        ] {
            sqlx::raw_sql(sql).execute(&mut conn).await?;
        }
        Ok(())
    }

    /// Stops everything, and removes the data.
    pub fn discard(mut self) -> anyhow::Result<()> {
        self.keep = false;
        self.stop()
    }

    /// Stops everything, and removes data that is not kept.
    pub fn stop(self) -> anyhow::Result<()> {
        let Self {
            stack,
            workspace,
            keep,
            lock: _lock,
        } = self;
        drop(stack);
        if keep { Ok(()) } else { workspace.remove() }
    }
}
