//! Postgres and NATS for a stack, for tests or for a command: servers that somebody else runs, or
//! our own.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, ensure};

use crate::{
    cluster::{Cluster, ClusterOptions, data_version},
    database, find,
    nats::{
        NatsOptions, NatsServer, cluster,
        users::{NatsAccess, OPERATOR, Passwords},
    },
    ports::Ports,
    process::Process,
    progress::Progress,
    roles::{self, Roles, Server},
    secrets::Secrets,
    servers::ServerOptions,
    wiring::{Variable, variable},
    workspace::Workspace,
};

/// How to run an [`Environment`].
#[derive(Debug)]
pub struct EnvironmentOptions {
    /// The directories for data and logs.
    pub workspace: Workspace,
    /// Servers to use instead of our own.
    pub servers: ServerOptions,
    /// Whether commits survive a power cut. Tests do without, and are faster.
    pub durable: bool,
    /// How many NATS servers of our own, which are a cluster if there are several.
    pub nats_nodes: usize,
    pub(crate) ports: Ports,
    pub(crate) progress: Progress,
}

impl EnvironmentOptions {
    /// Our own durable servers, on any free ports.
    pub fn new(workspace: Workspace) -> Self {
        Self {
            workspace,
            servers: ServerOptions::default(),
            durable: true,
            nats_nodes: 1,
            ports: Ports::default(),
            progress: Progress::Silent,
        }
    }

    fn nats_program(&self) -> Result<PathBuf> {
        if let Some(program) = &self.servers.nats_server {
            return Ok(program.clone());
        }
        let title = "Finding NATS (downloaded where the machine has none)";
        self.progress.step(title, || {
            let nats = find::nats(&self.workspace.cache)?;
            let found = format!("NATS {}: {}", nats.version, nats.path.display());
            Ok((nats.path, found))
        })
    }

    /// Returns the secrets of the servers, which are made where they are missing.
    fn secrets(&self) -> Result<Secrets> {
        Secrets::load_or_generate(&self.workspace.secrets())
    }

    fn start_nats(&mut self, passwords: &Passwords) -> Result<Vec<NatsServer>> {
        let program = self.nats_program()?;
        self.servers.nats_server = Some(program.clone());
        let options = NatsOptions {
            program: &program,
            workspace: &self.workspace,
            passwords,
        };
        self.progress.step("Starting NATS", || {
            let nats = cluster::start(options, &mut self.ports, self.nats_nodes)?;
            let addresses: Vec<_> = nats.iter().map(NatsServer::address).collect();
            let started = format!("NATS with JetStream on {}", addresses.join(", "));
            Ok((nats, started))
        })
    }

    fn start_postgres(&mut self) -> Result<Cluster> {
        let data = self.workspace.servers.join("postgres");
        let title = "Finding Postgres (downloaded where the machine has none)";
        let installation = self.progress.step(title, || {
            let postgres = find::postgres(&self.workspace.cache, data_version(&data))?;
            let found = format!("Postgres {}: {}", postgres.version, postgres.path.display());
            Ok((postgres, found))
        })?;
        let account = self.workspace.account.clone();
        let user = account
            .as_ref()
            .map(|account| format!(" as user {}", account.name));
        let options = ClusterOptions {
            installation,
            data,
            account,
            password: self.secrets()?.database_password,
            durable: self.durable,
            logs: self.workspace.logs(),
        };
        let ports = &mut self.ports;
        self.progress.step("Starting Postgres", || {
            let cluster = ports.serve("postgres", |port| Cluster::start(&options, port))?;
            let (address, user) = (cluster.address(), user.unwrap_or_default());
            let started = format!("Postgres on {address}{user}");
            Ok((cluster, started))
        })
    }
}

#[cfg(test)]
impl EnvironmentOptions {
    /// Starts a Postgres of a test's own, in directories that the test removes.
    pub(crate) fn start_scratch_postgres() -> (Environment, Workspace) {
        let workspace = Workspace::scratch();
        let options = Self {
            servers: ServerOptions {
                nats_url: Some("nats://127.0.0.1:1".to_owned()),
                ..ServerOptions::default()
            },
            durable: false,
            ..Self::new(workspace.clone())
        };
        (Environment::start(options).unwrap(), workspace)
    }

    /// Returns the NATS server of the test run, or else one that is searched for.
    pub(crate) fn nats_program_of_tests(workspace: &Workspace) -> PathBuf {
        let options = Self {
            servers: ServerOptions::from_env().unwrap(),
            ..Self::new(workspace.clone())
        };
        options.nats_program().unwrap()
    }
}

/// Postgres and NATS. Dropping it stops those that are our own.
#[derive(Debug)]
pub struct Environment {
    pub(crate) options: EnvironmentOptions,
    pub(crate) nats_access: NatsAccess,
    pub(crate) postgres_url: String,
    nats: Vec<NatsServer>,
    postgres: Option<Cluster>,
}

impl Environment {
    /// Starts the servers that nobody else runs.
    pub fn start(mut options: EnvironmentOptions) -> Result<Self> {
        let (mut postgres, mut nats) = (None, Vec::new());
        let postgres_url = if let Some(url) = options.servers.database_url.clone() {
            options.progress.line("  ok  Postgres of --database-url");
            url
        } else {
            let cluster = postgres.insert(options.start_postgres()?);
            cluster.url().to_owned()
        };
        let nats_access = if let Some(url) = options.servers.nats_url.clone() {
            NatsAccess::Foreign(url)
        } else {
            let passwords = options.secrets()?.nats;
            nats = options.start_nats(&passwords)?;
            NatsAccess::Own {
                addresses: nats.iter().map(NatsServer::address).collect(),
                passwords,
            }
        };
        Ok(Self {
            options,
            nats_access,
            postgres_url,
            nats,
            postgres,
        })
    }

    /// Returns the superuser's URL of a database.
    pub fn database_url(&self, database: &str) -> Result<String> {
        database::url_with(&self.postgres_url, None, database)
    }

    /// Returns the URL of NATS for a user: a service's program, or `operator`, who may do everything.
    pub fn nats_url(&self, user: &str) -> String {
        self.nats_access.url_of(user)
    }

    /// Sets up a database for the services, and the roles by which they log in.
    pub(crate) fn ensure_database(&self, name: &str, roles: &Roles) -> Result<()> {
        let server = match self.postgres {
            Some(_) => Server::Ours,
            None => Server::Foreign,
        };
        roles.ensure(&self.postgres_url, server)?;
        database::ensure_database(&self.postgres_url, name)
    }

    /// Drops what killed tests left behind, if the server is ours: nobody else has tests on it.
    pub(crate) fn drop_leftovers(&self) -> Result<()> {
        let ours = self.postgres.as_ref();
        ours.map_or(Ok(()), |_| database::drop_leftovers(&self.postgres_url))
    }

    /// Sets up a database for tests that migrate databases of their own as superuser.
    pub(crate) fn ensure_test_database(&self, name: &str) -> Result<()> {
        roles::ensure_all_named(&self.postgres_url)?;
        database::ensure_database(&self.postgres_url, name)
    }

    /// Returns the variables by which tests and tools find the servers and a database.
    pub(crate) fn variables(&self, database: &str) -> Result<Vec<Variable>> {
        let nats_program = self.options.nats_program()?.display().to_string();
        Ok(vec![
            variable("DATABASE_URL", self.database_url(database)?),
            variable("NATS_URL", self.nats_url(OPERATOR)),
            variable("STACK_NATS_SERVER", nats_program),
        ])
    }

    /// Returns our own NATS servers, at least one.
    pub(crate) fn nats(&self) -> Result<&[NatsServer]> {
        let none = "this environment has no NATS server of its own";
        ensure!(!self.nats.is_empty(), none);
        Ok(&self.nats)
    }

    /// Returns the directory of the programs of our own Postgres.
    pub fn postgres_programs(&self) -> Result<&Path> {
        let postgres = self.postgres.as_ref();
        Ok(postgres
            .context("this environment has no Postgres of its own")?
            .programs())
    }

    /// Returns the log file of our own Postgres.
    pub fn postgres_log(&self) -> PathBuf {
        self.options.workspace.logs().join("postgres.log")
    }

    /// Returns the directory of everything that the environment stores, apart from Postgres data.
    pub fn directory(&self) -> &Path {
        &self.options.workspace.state
    }

    /// Returns the process ids of our own servers: `postgres`, `nats`.
    pub fn process_ids(&self) -> BTreeMap<String, u32> {
        let postgres = self.postgres.as_ref().map(|it| it.process().id());
        let nats = self.nats.iter().map(|it| (it.label(), it.process_id()));
        [("postgres", postgres)]
            .into_iter()
            .chain(nats)
            .filter_map(|(name, pid)| Some((name.to_owned(), pid?)))
            .collect()
    }

    /// Fails when a server of our own has ended.
    pub(crate) fn check(&self) -> Result<()> {
        self.nats.iter().try_for_each(NatsServer::check)?;
        let postgres = self.postgres.as_ref().map(Cluster::process);
        postgres.map_or(Ok(()), Process::check)
    }
}
