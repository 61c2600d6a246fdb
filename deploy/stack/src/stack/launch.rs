//! Starts the processes of a stack and waits until they are ready.

use std::{sync::Arc, time::Duration};

use anyhow::Result;
use rustix::process::Signal;

use super::Stack;
use crate::{
    http,
    logs::Log,
    process::{self, Process},
    programs,
    wiring::{Instance, Variable},
};

/// Includes recovery and the first connections.
const READY_TIMEOUT: Duration = Duration::from_mins(1);
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

impl Stack {
    pub(super) fn set_up_database(&self) -> Result<()> {
        let environment = self.environment();
        let name = &self.wiring.database;
        let title = "Setting up the database";
        environment.options.progress.step(title, || {
            environment.ensure_database(name)?;
            programs::migrate(&self.options.binaries, &self.wiring)?;
            Ok(((), format!("database {name}, migrated")))
        })
    }

    pub(super) fn start_processes(&self) -> Result<()> {
        let title = "Starting the services";
        self.environment().options.progress.step(title, || {
            let instances = self.wiring.instances.iter();
            let started = instances.map(|instance| Ok((instance, self.spawn(instance, &[])?)));
            let started = started.collect::<Result<Vec<_>>>()?;
            wait_until_ready(&started)?;
            Ok(((), format!("{} processes ready", started.len())))
        })
    }

    pub(super) fn spawn(&self, instance: &Instance, env: &[Variable]) -> Result<Arc<Process>> {
        let logs = self.environment().options.workspace.logs();
        let log = Log::open(&logs, &instance.name, self.options.terminal.as_ref())?;
        let program = programs::find(&self.options.binaries, instance.program())?;
        let mut command = process::command(&program, Signal::TERM);
        command.envs(self.wiring.environment(instance)?);
        command.envs(env.iter().cloned());
        let process = Arc::new(Process::spawn(&instance.name, command, Signal::TERM, log)?);
        let mut running = self.running();
        running.insert(instance.name.clone(), Arc::clone(&process));
        Ok(process)
    }
}

/// Waits for `/readyz` of each process. Fails as soon as one of them has ended.
pub(super) fn wait_until_ready(started: &[(&Instance, Arc<Process>)]) -> Result<()> {
    let client = http::client(PROBE_TIMEOUT);
    let group: Vec<_> = started.iter().map(|(_, it)| Arc::clone(it)).collect();
    started.iter().try_for_each(|(instance, process)| {
        let probe = || http::check(&client, instance.metrics_port, "/readyz");
        process.wait_until_ready(READY_TIMEOUT, &group, probe)
    })
}
