//! The options of a stack.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context as _, Result};
use clap::Parser;
use rand::Rng as _;

use crate::{
    environment::{Environment, EnvironmentOptions},
    logs::Terminal,
    roles::Roles,
    secrets::Secrets,
    servers::ServerOptions,
    service::{Auth, Replicas},
    wiring::Variable,
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
    /// Settings of all processes, beside those of the stack.
    pub settings: Vec<Variable>,
    pub(crate) terminal: Option<Arc<Terminal>>,
    /// The name in roles that no other stack has.
    pub(crate) role_suffix: Option<String>,
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
            settings: Vec::new(),
            terminal: None,
            role_suffix: None,
        }
    }

    /// Returns the roles by which the processes log in.
    pub(crate) fn roles(&self) -> Roles {
        let secret = &self.secrets.database_password;
        match &self.role_suffix {
            Some(suffix) => Roles::for_test(suffix, secret),
            None => Roles::new(secret),
        }
    }

    /// Defaults for a test: a database and roles of its own on the server of `DATABASE_URL`, which
    /// `cargo stack test` sets, a NATS server of its own, and the executables beside the test's or in
    /// `STACK_BINARIES`.
    pub fn for_test(name: &str) -> Result<Self> {
        Self::for_test_with_nats_nodes(name, 1)
    }

    /// Defaults for a test, with a cluster of NATS servers.
    pub fn for_test_with_nats_nodes(name: &str, nats_nodes: usize) -> Result<Self> {
        let test = TestSettings::try_parse_from(["stack"])?;
        let database_url = test.database_url.context(
            "no DATABASE_URL: run it within `cargo stack test` or `cargo stack exec`, which start \
             Postgres",
        )?;
        let suffix = random_suffix();
        let directory = format!("test/stacks/{name}-{suffix}");
        let environment = Environment::start(EnvironmentOptions {
            servers: ServerOptions {
                database_url: Some(database_url),
                nats_url: None,
                nats_server: test.nats_server,
            },
            nats_nodes,
            ..EnvironmentOptions::new(Workspace::current()?.subdirectory(&directory)?)
        })?;
        let binaries = match test.binaries {
            Some(binaries) => binaries,
            None => beside_the_test()?,
        };
        Ok(Self {
            role_suffix: Some(suffix),
            ..Self::new(binaries, environment)
        })
    }
}

/// Returns the directory of the executables that were built with the test.
fn beside_the_test() -> Result<PathBuf> {
    // Tests are in `target/<profile>/deps`, the executables one level up.
    let test = std::env::current_exe()?;
    let binaries = test.ancestors().nth(2).map(Path::to_path_buf);
    binaries.context("a test is two levels below the executables")
}

/// What the environment says about a test run, such as its servers ([`Environment::variables`]): only that is
/// read, because the arguments are those of the test.
#[derive(Debug, Parser)]
struct TestSettings {
    #[arg(long, env = "DATABASE_URL", hide_env_values = true)]
    database_url: Option<String>,
    #[arg(long, env = "STACK_NATS_SERVER")]
    nats_server: Option<PathBuf>,
    /// The directory of other executables than those that were built with the test.
    #[arg(long, env = "STACK_BINARIES")]
    binaries: Option<PathBuf>,
}

/// Returns the name of a database that no other stack has.
pub(crate) fn unique_database() -> String {
    format!("guerdon_{}", random_suffix())
}

fn random_suffix() -> String {
    format!("{:08x}", rand::rng().random::<u32>())
}
