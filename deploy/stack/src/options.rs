//! The options of a stack.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context as _, Result, ensure};
use rand::Rng as _;

use crate::{
    environment::{Environment, EnvironmentOptions, ServerOptions},
    logs::Terminal,
    secrets::Secrets,
    service::{Auth, Replicas},
    workspace::Workspace,
};

/// How to run a [`Stack`](crate::Stack).
#[derive(Debug)]
pub struct StackOptions {
    /// The directory of the five executables.
    pub binaries: PathBuf,
    /// Postgres and NATS.
    pub environment: Environment,
    /// A database to keep; without one, a new one that is dropped at the end.
    pub database: Option<String>,
    /// Who may call.
    pub auth: Auth,
    /// Where to send traces (OTLP over gRPC).
    pub otlp: Option<String>,
    /// Keys and passwords.
    pub secrets: Secrets,
    /// The REST port. With it, the documented gRPC ports are used where free; without it, any ports.
    pub rest_port: Option<u16>,
    /// How many processes of each service.
    pub replicas: Replicas,
    pub(crate) terminal: Option<Arc<Terminal>>,
}

impl StackOptions {
    /// Defaults: a new database, free ports, one replica, open to every caller.
    pub fn new(binaries: PathBuf, environment: Environment) -> Self {
        Self {
            binaries,
            environment,
            database: None,
            auth: Auth::default(),
            otlp: None,
            secrets: Secrets::generate(),
            rest_port: None,
            replicas: Replicas::new(),
            terminal: None,
        }
    }

    /// Defaults for a test: a database on the server of `cargo stack test`, a NATS server of its
    /// own, and the executables beside the test's.
    pub fn for_test(name: &str) -> Result<Self> {
        let servers = ServerOptions::from_env()?;
        ensure!(
            servers.database_url.is_some(),
            "no DATABASE_URL: run the tests with `cargo stack test`, which starts Postgres"
        );
        let directory = format!("test/stacks/{name}-{}", random_suffix());
        let environment = Environment::start(EnvironmentOptions {
            servers: ServerOptions {
                nats_url: None,
                ..servers
            },
            ..EnvironmentOptions::new(Workspace::current()?.subdirectory(&directory)?)
        })?;
        // Tests are in `target/<profile>/deps`, the executables one level up.
        let test = std::env::current_exe()?;
        let binaries = test.ancestors().nth(2).map(Path::to_path_buf);
        let binaries = binaries.context("a test is two levels below the executables")?;
        Ok(Self::new(binaries, environment))
    }
}

/// Returns the name of a database that no other stack has.
pub(crate) fn unique_database() -> String {
    format!("guerdon_{}", random_suffix())
}

fn random_suffix() -> String {
    format!("{:08x}", rand::rng().random::<u32>())
}
