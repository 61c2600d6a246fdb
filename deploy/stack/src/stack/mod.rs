//! The five processes and their broker as one thing that starts, breaks on purpose and stops.

mod launch;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::database;
use crate::logs::Log;
use crate::nats::Nats;
use crate::options::{Broker, StackOptions};
use crate::process::{Process, poll};
use crate::programs;
use crate::service::GATEWAY;
use crate::wiring::{Variable, Wiring};

/// The services drain for at most 25 s.
const STOP_PATIENCE: Duration = Duration::from_secs(27);

/// A running system. Methods block, and may be called from any thread, also inside an async
/// runtime. Dropping it stops everything.
#[derive(Debug)]
pub struct Stack {
    wiring: Wiring,
    options: StackOptions,
    nats_port: Option<u16>,
    nats: Mutex<Option<Nats>>,
    logs: BTreeMap<String, Arc<Log>>,
    processes: Mutex<BTreeMap<String, Process>>,
}

impl Stack {
    /// Starts the broker where it is ours, sets up the database, migrates, starts the
    /// processes and waits until all of them are ready.
    pub fn start(mut options: StackOptions) -> Result<Self> {
        let nats_port = match &options.broker {
            Broker::Own { .. } => Some(options.ports.give("nats", None)?),
            Broker::Url(_) => None,
        };
        let wiring = options.wire(nats_port)?;
        let names = wiring.instances.iter().map(|instance| &instance.name);
        let logs = names
            .map(|name| {
                Ok((
                    name.clone(),
                    Log::open(&options.logs, name, options.screen.as_ref())?,
                ))
            })
            .collect::<Result<_>>()?;
        let (nats, processes) = (Mutex::default(), Mutex::default());
        let stack = Self {
            wiring,
            options,
            nats_port,
            nats,
            logs,
            processes,
        };
        stack.bring_up()?;
        Ok(stack)
    }

    /// Addresses, keys and settings.
    pub fn wiring(&self) -> &Wiring {
        &self.wiring
    }

    /// Starts our NATS server again after [`Stack::stop_nats`], with the data it had.
    pub fn start_nats(&self) -> Result<()> {
        let (Some(port), Broker::Own { program, home }) = (self.nats_port, &self.options.broker)
        else {
            bail!("this stack has no NATS server of its own");
        };
        let log = Log::open(&self.options.logs, "nats", None)?;
        let mut nats = self.nats.lock().unwrap_or_else(PoisonError::into_inner);
        ensure!(nats.is_none(), "NATS is running");
        *nats = Some(Nats::start(program, home, port, &log)?);
        Ok(())
    }

    /// Stops our NATS server.
    pub fn stop_nats(&self) {
        self.nats
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
    }

    /// Ends a process with SIGKILL. `name` is that of the program, such as `orders-svc`.
    pub fn kill(&self, name: &str) -> Result<()> {
        self.take(name).map(|process| process.kill())
    }

    /// Stops a process in good order.
    pub fn stop(&self, name: &str) -> Result<()> {
        self.take(name).map(|process| process.stop(STOP_PATIENCE))
    }

    /// Waits until a process ends by itself, as at a failpoint.
    pub fn wait_for_end(&self, name: &str, patience: Duration) -> Result<ExitStatus> {
        let status = poll(patience, || {
            self.running().get(name).and_then(Process::ended)
        });
        status.with_context(|| format!("{name} still runs after {} s", patience.as_secs()))
    }

    /// Starts a process that was killed, stopped or has ended, on its old ports, with `env`
    /// beside its settings, and waits until it is ready.
    pub fn start_again(&self, name: &str, env: &[Variable]) -> Result<()> {
        let instance = self.wiring.instance(name)?;
        let old = self.running().remove(name);
        ensure!(
            old.is_none_or(|old| old.ended().is_some()),
            "{name} is running"
        );
        self.spawn(instance, env)?;
        self.wait_until_ready(std::slice::from_ref(instance))
    }

    /// The last lines that a process printed.
    pub fn last_lines(&self, name: &str, count: usize) -> String {
        self.logs
            .get(name)
            .map(|log| log.last_lines(count))
            .unwrap_or_default()
    }

    /// The process ids by name, NATS included.
    pub fn process_ids(&self) -> BTreeMap<String, u32> {
        let nats = self.nats.lock().unwrap_or_else(PoisonError::into_inner);
        let nats = nats
            .iter()
            .map(|nats| ("nats".to_owned(), nats.process().id()));
        let running = self.running();
        running
            .iter()
            .map(|(name, process)| (name.clone(), process.id()))
            .chain(nats)
            .collect()
    }

    /// Fails when a process has ended without being asked to.
    pub fn check(&self) -> Result<()> {
        if let Some(nats) = &*self.nats.lock().unwrap_or_else(PoisonError::into_inner) {
            nats.process().check()?;
        }
        self.running().values().try_for_each(Process::check)
    }

    /// The executable of a program: `wallet-svc`.
    pub fn program(&self, name: &str) -> Result<PathBuf> {
        programs::find(&self.options.binaries, name)
    }

    /// Stops everything in order: the gateway first, so that nothing new comes in, the broker
    /// last.
    pub fn shut_down(&self) {
        let mut processes = std::mem::take(&mut *self.running());
        if let Some(gateway) = processes.remove(GATEWAY) {
            gateway.stop(STOP_PATIENCE);
        }
        processes.values().for_each(Process::ask_to_stop);
        for process in processes.values() {
            process.stop(STOP_PATIENCE);
        }
        self.stop_nats();
    }

    fn take(&self, name: &str) -> Result<Process> {
        self.running()
            .remove(name)
            .with_context(|| format!("{name} is not running"))
    }

    fn running(&self) -> MutexGuard<'_, BTreeMap<String, Process>> {
        self.processes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        self.shut_down();
        if self.options.database.is_none() {
            let _ = database::drop_database(&self.wiring.postgres_url, &self.wiring.database);
        }
    }
}
