//! Servers for one run of tests or tools: apart from a running `up`, gone afterwards.

use std::ffi::OsString;
use std::fs;
use std::process::{Command, ExitStatus};

use anyhow::Result;
use clap::Parser;
use stack::logs::Log;
use stack::nats::Nats;
use stack::ports::Ports;
use stack::project::Dirs;
use stack::{Broker, database};

use super::leftovers::Leftovers;
use super::lock::Lock;
use super::servers::{ServerArgs, Servers, Wish, find_nats};
use super::signals::Signals;
use super::{Place, cargo};

/// Servers are named by the environment only: the arguments are somebody else's.
#[derive(Debug, Parser)]
struct FromEnv {
    #[command(flatten)]
    servers: ServerArgs,
}

/// Running servers with roles and a database.
pub(super) struct TestBed {
    pub(super) place: Place,
    pub(super) postgres_url: String,
    dirs: Dirs,
    signals: Signals,
    messages: Messages,
    servers: Servers,
    leftovers: Leftovers,
    _lock: Lock,
}

impl TestBed {
    /// Starts the servers. Postgres keeps its data between runs, and is not durable.
    pub(super) fn start(place: Place) -> Result<Self> {
        let dirs = place.dirs.apart("test")?;
        let lock = Lock::take(&dirs.state.join("test.lock"), "A test run")?;
        let leftovers = Leftovers::clear(dirs.state.join("test.pids"));
        let signals = Signals::catch()?;
        for passing in ["stacks", "nats", "logs"] {
            let _ = fs::remove_dir_all(dirs.state.join(passing));
        }
        let mut ports = Ports::kept_in(&dirs.state.join("ports.json"));
        let wish = Wish {
            dirs: &dirs,
            password: None,
            durable: false,
        };
        let given = FromEnv::parse_from(["test"]).servers;
        let servers = Servers::start(&place, &given, &wish, &mut ports)?;
        let messages = Messages::start(&place, &servers.broker, &dirs, &mut ports)?;
        let postgres = servers.cluster.iter().map(|cluster| cluster.process().id());
        leftovers.note(postgres.chain(messages.own.iter().map(|nats| nats.process().id())))?;
        let postgres_url = servers.postgres_url.clone();
        database::ensure_roles(&postgres_url, None)?;
        Ok(Self {
            place,
            postgres_url,
            dirs,
            signals,
            messages,
            servers,
            leftovers,
            _lock: lock,
        })
    }

    /// Builds programs and tests alike. Together they have the same features; `--bins` alone
    /// would compile the dependencies a second time.
    pub(super) fn build(&self, args: &[OsString]) -> Result<ExitStatus> {
        let mut build = cargo::cargo(&self.place.project.root);
        build
            .args(["build", "--workspace", "--bins", "--tests"])
            .args(args);
        cargo::supervised(&mut build, &self.signals)
    }

    /// Runs something that finds the servers, and `database`, in its environment.
    pub(super) fn run(&self, command: &mut Command, database: &str) -> Result<ExitStatus> {
        let url = database::url_with(&self.postgres_url, None, database)?;
        command.env("DATABASE_URL", url);
        command.env("NATS_URL", &self.messages.url);
        command.env("STACK_NATS_SERVER", &self.messages.program);
        command.env("STACK_TEST_HOME", &self.dirs.state);
        cargo::supervised(command, &self.signals)
    }

    /// The broker's URL.
    pub(super) fn nats_url(&self) -> String {
        self.messages.url.clone()
    }

    /// Stops the servers.
    pub(super) fn stop(self) {
        drop((self.messages, self.servers));
        self.leftovers.forget();
    }
}

/// The NATS server that tests share, and the program for those that want their own.
struct Messages {
    own: Option<Nats>,
    url: String,
    program: OsString,
}

impl Messages {
    fn start(place: &Place, broker: &Broker, dirs: &Dirs, ports: &mut Ports) -> Result<Self> {
        match broker {
            Broker::Url(url) => Ok(Self {
                own: None,
                url: url.clone(),
                program: find_nats(place)?.into(),
            }),
            Broker::Own { program, home } => {
                let log = Log::open(&dirs.state.join("logs"), "nats", None)?;
                let port = ports.give("nats", None)?;
                let own = Nats::start(program, home, port, &log)?;
                let url = format!("nats://127.0.0.1:{port}");
                Ok(Self {
                    own: Some(own),
                    url,
                    program: program.into(),
                })
            }
        }
    }
}
