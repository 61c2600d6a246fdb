//! A stack to measure: a Postgres of its own that survives power cuts, NATS and the five processes,
//! all of them beside this program.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context as _, ensure};
use sqlx::{Connection as _, PgConnection};
use stack::{
    Broker, Service, Stack, StackOptions,
    account::Account,
    cluster::{Cluster, ClusterOptions, data_version},
    database, find,
    logs::Log,
    ports::Ports,
    project::{Dirs, Project},
    secrets::Secrets,
};
use tokio::time::{interval, timeout};

use crate::Server;

/// How long the relay is waited for to publish what a run left.
const DRAIN: Duration = Duration::from_secs(10);
const BETWEEN_LOOKS: Duration = Duration::from_millis(250);

/// What a bed is to be like.
#[derive(Debug)]
pub struct Options {
    /// Names its directory and database.
    pub name: &'static str,
    /// Whether the data stays for the next run. Where not, it starts empty.
    pub keep: bool,
    /// Processes of wallet-svc.
    pub wallets: usize,
    /// Where servers are.
    pub server: Server,
}

impl Options {
    fn stack(&self, postgres: &str, cache: &Path, own: &Path) -> anyhow::Result<StackOptions> {
        let program = match &self.server.nats_server {
            Some(program) => program.clone(),
            None => find::nats(cache)?.path,
        };
        let home = own.join("nats");
        let broker = Broker::Own { program, home };
        let mut stack =
            StackOptions::new(beside_us()?, postgres.to_owned(), broker, own.to_owned());
        stack.database = Some(format!("guerdon_load_{}", self.name));
        stack.secrets = Secrets::kept_in(&own.join("secrets.env"))?;
        stack.replicas.insert(Service::Wallet, self.wallets);
        Ok(stack)
    }
}

/// Events of wallet-svc.
#[derive(Debug, Clone, Copy)]
pub struct Events {
    /// Since there is a database.
    pub written: i64,
    /// Not published yet.
    pub waiting: i64,
}

impl Events {
    const fn published(self) -> i64 {
        self.written - self.waiting
    }

    /// How many were published since `before`.
    pub const fn published_since(self, before: Self) -> i64 {
        self.published() - before.published()
    }
}

/// Running servers and processes. Dropping it stops them.
#[derive(Debug)]
pub struct Bed {
    /// The processes; stopped before Postgres.
    pub stack: Stack,
    /// Postgres.
    pub cluster: Cluster,
    /// Where Postgres' programs are.
    pub programs: PathBuf,
    /// Where what it prints is.
    pub postgres_log: PathBuf,
    /// For files that come and go.
    pub scratch: PathBuf,
    passing: Vec<PathBuf>,
    _lock: File,
}

impl Bed {
    /// Starts everything, on the data of the last run where it was kept.
    pub fn start(options: &Options) -> anyhow::Result<Self> {
        Self::start_on(options, options.keep)
    }

    /// Starts everything, on nothing.
    pub fn start_anew(options: &Options) -> anyhow::Result<Self> {
        Self::start_on(options, false)
    }

    fn start_on(options: &Options, old_data: bool) -> anyhow::Result<Self> {
        let account = Account::for_postgres();
        let dirs = Dirs::prepare(&Project::current()?, account.as_ref())?.apart("load")?;
        let lock = lock(&dirs)?;
        let data = dirs.servers.join(format!("{}-postgres", options.name));
        let own = dirs.state.join(options.name);
        if !old_data {
            remove(&[data.clone(), own.clone()])?;
        }
        fs::create_dir_all(&own)?;
        let cache = dirs.servers.join("cache");
        let programs = find::postgres(&cache, data_version(&data))?;
        let log = Log::open(&own, "postgres", None)?;
        let postgres_log = log.path().to_owned();
        let cluster = Cluster::start(&ClusterOptions {
            programs: &programs,
            data: data.clone(),
            account,
            port: Ports::passing().give("postgres", None)?,
            password: None,
            durable: true,
            log,
        })?;
        let wanted = options.stack(cluster.url(), &cache, &own)?;
        Ok(Self {
            stack: Stack::start(wanted)?,
            cluster,
            programs: programs.path,
            postgres_log,
            scratch: own.clone(),
            passing: if options.keep {
                Vec::new()
            } else {
                vec![data, own]
            },
            _lock: lock,
        })
    }

    /// A superuser's connection to a database; without a name, to that of the stack.
    pub async fn connect(&self, database: Option<&str>) -> anyhow::Result<PgConnection> {
        let name = database.unwrap_or(&self.stack.wiring().database);
        Ok(PgConnection::connect(&self.url(name)?).await?)
    }

    /// A superuser's URL of a database.
    pub fn url(&self, database: &str) -> anyhow::Result<String> {
        database::url_with(self.cluster.url(), None, database)
    }

    /// Runs `wallet-svc verify`: a run whose books are not clean has no figures.
    pub fn verify(&self) -> anyhow::Result<()> {
        let url = self.stack.wiring().app_url(Service::Wallet)?;
        let output = Command::new(self.stack.program("wallet-svc")?)
            .arg("verify")
            .env("WALLET_DATABASE_URL", url)
            .env("SERVICE_SECRET", "unused")
            .output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        let why = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "the books are wrong: {said}{why}");
        Ok(())
    }

    /// How many events wallet-svc has written so far, and how many of them wait to be published.
    pub async fn events(&self) -> anyhow::Result<Events> {
        let mut conn = self.connect(None).await?;
        let counts = "select coalesce(pg_sequence_last_value(
                 pg_get_serial_sequence('wallet.outbox', 'position')::regclass), 0),
             (select coalesce(sum(last_position - first_position + 1), 0)::bigint
              from wallet.outbox_pending)";
        let (written, waiting) = sqlx::query_as(counts).fetch_one(&mut conn).await?;
        Ok(Events { written, waiting })
    }

    /// So that no run pays for the one before it: waits a while for events to be published, sets
    /// aside those that then still wait, and has Postgres write its pages.
    pub async fn settle(&self) -> anyhow::Result<()> {
        let drained = async {
            let mut looks = interval(BETWEEN_LOOKS);
            loop {
                looks.tick().await;
                if self.events().await?.waiting == 0 {
                    return Ok::<(), anyhow::Error>(());
                }
            }
        };
        if let Ok(drained) = timeout(DRAIN, drained).await {
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

    /// Stops everything, and removes what is not to be kept.
    pub fn stop(self) -> anyhow::Result<()> {
        let passing = self.passing.clone();
        drop(self);
        remove(&passing)
    }
}

/// One at a time: the next one would remove this one's data.
fn lock(dirs: &Dirs) -> anyhow::Result<File> {
    let file = File::create(dirs.state.join("load.lock"))?;
    let taken = file.try_lock();
    taken.context("another load program of this clone is running")?;
    Ok(file)
}

fn remove(directories: &[PathBuf]) -> anyhow::Result<()> {
    for directory in directories.iter().filter(|one| one.exists()) {
        let removed = fs::remove_dir_all(directory);
        removed.with_context(|| format!("{} can't be removed", directory.display()))?;
    }
    Ok(())
}

fn beside_us() -> anyhow::Result<PathBuf> {
    let here = std::env::current_exe()?;
    let directory = here.parent().context("the program is in a directory")?;
    Ok(directory.to_owned())
}
