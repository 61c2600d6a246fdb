//! A run of tests or tools: servers apart from a running `up`, and commands that find them in their
//! environment.

use std::{
    ffi::OsString,
    fs,
    path::PathBuf,
    process::{Command, ExitStatus},
};

use anyhow::Result;

use super::{cargo, signals::Signals};
use crate::{
    environment::{Environment, EnvironmentOptions},
    ports::Ports,
    progress::Progress,
    run_lock::RunLock,
    servers::ServerOptions,
    workspace::Workspace,
};

pub(super) struct TestRun {
    root: PathBuf,
    signals: Signals,
    _lock: RunLock,
}

impl TestRun {
    /// Starts the servers. Postgres keeps its data between runs, and is not durable. The arguments
    /// of the command line belong to somebody else.
    pub(super) fn start(workspace: &Workspace, progress: Progress) -> Result<(Self, Environment)> {
        let tests = workspace.subdirectory("test")?;
        let lock = RunLock::take(&tests.state, "A test run")?;
        let signals = Signals::catch()?;
        for temporary in ["stacks", "nats", "logs"] {
            let _ = fs::remove_dir_all(tests.state.join(temporary));
            let _ = fs::remove_dir_all(tests.servers.join(temporary));
        }
        let environment = Environment::start(EnvironmentOptions {
            servers: ServerOptions::from_env()?,
            durable: false,
            ports: Ports::saved_in(&tests.state.join("ports.json")),
            progress,
            ..EnvironmentOptions::new(tests)
        })?;
        lock.record(&environment.process_ids())?;
        environment.drop_leftovers()?;
        let run = Self {
            root: workspace.root.clone(),
            signals,
            _lock: lock,
        };
        Ok((run, environment))
    }

    /// Builds programs and tests together: `--bins` alone has other features, and would compile the
    /// dependencies a second time.
    pub(super) fn build(&self, args: &[OsString]) -> Result<ExitStatus> {
        let mut build = cargo::cargo(&self.root);
        build.args(["build", "--locked", "--bins", "--tests"]);
        build.args(args.iter().filter(|arg| *arg != "--locked"));
        cargo::supervise(&mut build, &self.signals)
    }

    /// Runs a command that finds the servers, and `database`, in its environment.
    pub(super) fn execute(
        &self,
        command: &mut Command,
        environment: &Environment,
        database: &str,
    ) -> Result<ExitStatus> {
        command.envs(environment.variables(database)?);
        cargo::supervise(command, &self.signals)
    }
}
