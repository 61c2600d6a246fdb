//! The five executables: how each is run, and their `migrate` command.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
};

use anyhow::{Context as _, Result, bail, ensure};
use rustix::process::Signal;

use crate::{
    process,
    service::{Service, programs},
    wiring::{Variable, Wiring},
    workspace::Workspace,
};

/// The executables of a stack. Dropping it removes the copies that were made of them.
#[derive(Debug)]
pub(crate) struct Programs {
    directory: PathBuf,
    workspace: Workspace,
}

impl Programs {
    /// Finds all five in a directory.
    pub(crate) fn find(binaries: &Path, workspace: &Workspace) -> Result<Self> {
        let names: Vec<_> = programs().collect();
        for name in &names {
            let program = binaries.join(name);
            ensure!(
                program.is_file(),
                "{} is missing: run `cargo build --workspace --bins`",
                program.display()
            );
        }
        Ok(Self {
            directory: workspace.runnable(binaries, &names)?,
            workspace: workspace.clone(),
        })
    }

    /// Returns the command of a program, with `env` and nothing else of its settings.
    pub(crate) fn command(&self, name: &str, env: Vec<Variable>) -> Result<Command> {
        let mut command = process::command(&self.directory.join(name), Signal::TERM);
        self.workspace.isolate(&mut command, name)?;
        command.envs(env);
        Ok(command)
    }

    /// Runs a command of a program to its end.
    pub(crate) fn output(
        &self,
        service: Service,
        arguments: &[&str],
        env: Vec<Variable>,
    ) -> Result<Output> {
        let name = service.program();
        let mut command = self.command(name, env)?;
        let output = command.args(arguments).stdin(Stdio::null()).output();
        output.with_context(|| format!("cannot start {name}"))
    }

    /// Migrates every schema, each as its owner, concurrently.
    pub(crate) fn migrate(&self, wiring: &Wiring) -> Result<()> {
        thread::scope(|scope| {
            let runs =
                Service::ALL.map(|service| scope.spawn(move || self.migrate_one(wiring, service)));
            runs.into_iter()
                .try_for_each(|run| run.join().unwrap_or_else(|_| bail!("a migration panicked")))
        })
    }

    fn migrate_one(&self, wiring: &Wiring, service: Service) -> Result<()> {
        let output = self.output(
            service,
            &["migrate"],
            wiring.migration_environment(service)?,
        )?;
        let text =
            String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
        ensure!(
            output.status.success(),
            "{} migrate: {}\n{}",
            service.program(),
            output.status,
            text.trim()
        );
        Ok(())
    }
}

impl Drop for Programs {
    fn drop(&mut self) {
        self.workspace.remove_handed_over();
    }
}
