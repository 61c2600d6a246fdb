//! What a stack is to be like.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use clap::Parser;
use rand::Rng;

use crate::find;
use crate::logs::Screen;
use crate::ports::Ports;
use crate::progress::Progress;
use crate::project::Project;
use crate::secrets::Secrets;
use crate::service::{Auth, Replicas};
use crate::wiring::{self, Variable, Wiring};

/// Where messages go through.
#[derive(Debug, Clone)]
pub enum Broker {
    /// A server that somebody else runs.
    Url(String),
    /// A server of the stack's own.
    Own {
        /// The NATS server's executable.
        program: PathBuf,
        /// Where its data is.
        home: PathBuf,
    },
}

/// What a stack is to be like.
#[derive(Debug)]
pub struct StackOptions {
    /// The directory of the five executables.
    pub binaries: PathBuf,
    /// A running Postgres, as a user that may make roles and databases.
    pub postgres_url: String,
    /// Of all roles; their own names without one.
    pub role_password: Option<String>,
    /// A database to keep; without one, a new one that is dropped at the end.
    pub database: Option<String>,
    /// The message broker.
    pub broker: Broker,
    /// Who may call.
    pub auth: Auth,
    /// Where spans go.
    pub otlp: Option<String>,
    /// Keys and passwords.
    pub secrets: Secrets,
    /// More settings for every process.
    pub env: Vec<Variable>,
    /// More settings by program: `orders-svc` to `FAILPOINTS`.
    pub program_env: BTreeMap<String, Vec<Variable>>,
    /// Source of ports.
    pub ports: Ports,
    /// The REST port; any without one.
    pub rest_port: Option<u16>,
    /// Whether the documented gRPC ports are tried first.
    pub usual_ports: bool,
    /// How many of each service.
    pub replicas: Replicas,
    /// The directory of the log files.
    pub logs: PathBuf,
    /// Where log lines are shown besides.
    pub screen: Option<Arc<Screen>>,
    /// Where progress is told.
    pub progress: Progress,
}

/// What `cargo stack test` tells the tests.
#[derive(Debug, Parser)]
struct TestSettings {
    #[arg(long, env = "DATABASE_URL")]
    database_url: Option<String>,
    #[arg(long, env = "STACK_NATS_SERVER")]
    nats_server: Option<PathBuf>,
    #[arg(long, env = "STACK_TEST_HOME")]
    home: Option<PathBuf>,
}

impl StackOptions {
    /// For a test: a database and a NATS server of its own, free ports, the executables beside
    /// the test's, everybody admitted. Needs what `cargo stack test` provides.
    pub fn for_test(name: &str) -> Result<Self> {
        let settings = TestSettings::try_parse_from(["test"])?;
        let postgres_url = settings.database_url.context(
            "no DATABASE_URL: run the tests with `cargo stack test`, which starts Postgres",
        )?;
        let root = Project::current()?.root;
        let home = settings.home.unwrap_or_else(|| root.join(".stack/test"));
        let program = match settings.nats_server {
            Some(program) => program,
            None => find::nats(&root.join(".stack/cache"))?.path,
        };
        let own = home
            .join("stacks")
            .join(format!("{name}-{}", fresh_database()));
        let broker = Broker::Own {
            program,
            home: own.join("nats"),
        };
        Ok(Self::new(beside_test()?, postgres_url, broker, own))
    }

    /// Everything else as it is by default.
    pub fn new(binaries: PathBuf, postgres_url: String, broker: Broker, logs: PathBuf) -> Self {
        Self {
            binaries,
            postgres_url,
            role_password: None,
            database: None,
            broker,
            auth: Auth::default(),
            otlp: None,
            secrets: Secrets::generate(),
            env: Vec::new(),
            program_env: BTreeMap::new(),
            ports: Ports::passing(),
            rest_port: None,
            usual_ports: false,
            replicas: Replicas::new(),
            logs,
            screen: None,
            progress: Progress::Silent,
        }
    }

    /// Gives everything its address; `nats_port` is that of the stack's own broker.
    pub fn wire(&mut self, nats_port: Option<u16>) -> Result<Wiring> {
        let nats_url = match (&self.broker, nats_port) {
            (Broker::Url(url), _) => url.clone(),
            (Broker::Own { .. }, port) => format!("nats://127.0.0.1:{}", port.unwrap_or_default()),
        };
        let (rest, usual) = (self.rest_port, self.usual_ports);
        Ok(Wiring {
            instances: wiring::instances(&mut self.ports, rest, &self.replicas, usual)?,
            auth: self.auth,
            otlp: self.otlp.clone(),
            secrets: self.secrets.clone(),
            nats_url,
            postgres_url: self.postgres_url.clone(),
            database: self.database.clone().unwrap_or_else(fresh_database),
            role_password: self.role_password.clone(),
        })
    }
}

/// A name that no other stack of the server has.
fn fresh_database() -> String {
    format!("guerdon_{:08x}", rand::rng().random::<u32>())
}

/// Tests are in `target/<profile>/deps`, the executables one level up.
fn beside_test() -> Result<PathBuf> {
    let test = std::env::current_exe().context("the test's own path is unknown")?;
    let dir = test
        .ancestors()
        .nth(2)
        .context("a test is two levels below the executables")?;
    Ok(dir.to_path_buf())
}
