//! Starts the processes of a stack and waits until they are ready.

use std::{sync::Arc, time::Duration};

use anyhow::Result;
use rustix::process::Signal;

use super::Stack;
use crate::{
    http,
    logs::Log,
    ports,
    process::Process,
    wiring::{Instance, Variable},
};

/// Includes recovery and the first connections.
const READY_TIMEOUT: Duration = Duration::from_mins(1);
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);
/// The exit code of a program whose address is taken: `platform::service`.
const ADDRESS_IN_USE: i32 = 98;

impl Stack {
    pub(super) fn set_up_database(&self) -> Result<()> {
        let environment = self.environment();
        let name = &self.wiring.database;
        let title = "Setting up the database";
        environment.options.progress.step(title, || {
            environment.ensure_database(name, &self.wiring.roles)?;
            self.programs.migrate(&self.wiring)?;
            Ok(((), format!("database {name}, migrated")))
        })
    }

    /// Starts the processes and waits until all of them are ready. A process that finds one of its
    /// ports taken gets others, and all start again, because each knows the addresses of the rest.
    pub fn start_processes(&mut self) -> Result<()> {
        let progress = self.environment().options.progress;
        progress.step("Starting the services", || {
            let mut started = self.start_all();
            for _ in 0..ports::MAX_CHANGES {
                if started.is_ok() || !self.replace_taken_ports()? {
                    break;
                }
                started = self.start_all();
            }
            Ok(((), format!("{} processes ready", started?)))
        })
    }

    fn start_all(&self) -> Result<usize> {
        let instances = self.wiring.instances.iter();
        let started = instances.map(|instance| Ok((instance, self.spawn(instance, &[])?)));
        let started = started.collect::<Result<Vec<_>>>()?;
        wait_until_ready(&started)?;
        Ok(started.len())
    }

    /// Stops all processes and assigns other ports to those that ended because one was taken.
    /// Returns whether that is possible: a REST port that was asked for stays, so it must be free.
    fn replace_taken_ports(&mut self) -> Result<bool> {
        let lost: Vec<String> = {
            let running = self.running();
            let ended = running.iter().filter(|(_, process)| {
                let code = process.exit_status().and_then(|status| status.code());
                code == Some(ADDRESS_IN_USE)
            });
            ended.map(|(name, _)| name.clone()).collect()
        };
        if lost.is_empty() {
            return Ok(false);
        }
        self.stop_processes();
        let fixed = self.options.rest_port;
        let ports = &mut self.options.environment.options.ports;
        let instances = self.wiring.instances.iter_mut();
        for instance in instances.filter(|instance| lost.contains(&instance.name)) {
            if fixed != Some(instance.port) {
                instance.reassign_port(ports)?;
            } else if !ports::is_free(instance.port) {
                return Ok(false);
            }
            instance.reassign_metrics_port(ports)?;
        }
        Ok(true)
    }

    pub(super) fn spawn(&self, instance: &Instance, env: &[Variable]) -> Result<Arc<Process>> {
        let logs = self.environment().options.workspace.logs();
        let log = Log::open(&logs, &instance.name, self.options.terminal.as_ref())?;
        let mut settings = self.wiring.environment(instance)?;
        settings.extend(self.options.settings.iter().chain(env).cloned());
        let command = self.programs.command(instance.program(), settings)?;
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
