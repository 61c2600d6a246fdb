//! The five processes and their servers as one system, which tests can also break.

mod launch;

use std::{
    collections::BTreeMap,
    env,
    process::ExitStatus,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};

use self::launch::wait_until_ready;
use crate::{
    database,
    environment::Environment,
    options::{StackOptions, unique_database},
    process::{Process, poll},
    programs::Programs,
    service::{GATEWAY, Service},
    wiring::{self, Instance, Variable, Wiring},
};

/// The setting by which services serve with TLS.
const CERTIFICATE: &str = "TLS_CERT_FILE";
/// The services drain for at most 25 s.
const STOP_TIMEOUT: Duration = Duration::from_secs(27);

/// A running system. Methods block, and may be called from any thread, also inside an async
/// runtime. Dropping it stops everything.
#[derive(Debug)]
pub struct Stack {
    wiring: Wiring,
    options: StackOptions,
    programs: Programs,
    processes: Mutex<BTreeMap<String, Arc<Process>>>,
}

impl Stack {
    /// Migrates the database, starts the processes and waits until all of them are ready.
    pub fn start(options: StackOptions) -> Result<Self> {
        let mut stack = Self::without_processes(options)?;
        stack.start_processes()?;
        Ok(stack)
    }

    /// Sets up the database and migrates it. The ports are assigned, and nobody listens yet.
    pub fn without_processes(mut options: StackOptions) -> Result<Self> {
        let wiring = wire(&mut options)?;
        let workspace = &options.environment.options.workspace;
        let stack = Self {
            wiring,
            programs: Programs::find(&options.binaries, workspace)?,
            options,
            processes: Mutex::default(),
        };
        stack.set_up_database()?;
        Ok(stack)
    }

    /// Returns addresses, keys and settings.
    pub fn wiring(&self) -> &Wiring {
        &self.wiring
    }

    /// Returns Postgres and NATS.
    pub fn environment(&self) -> &Environment {
        &self.options.environment
    }

    /// Starts those of our NATS servers that don't run, with the data they had.
    pub fn start_nats(&self) -> Result<()> {
        let mut servers = self.environment().nats()?.iter();
        servers.try_for_each(|server| match server.process_id() {
            Some(_) => Ok(()),
            None => server.start_again(),
        })
    }

    /// Stops our NATS servers.
    pub fn stop_nats(&self) -> Result<()> {
        for server in self.environment().nats()? {
            server.stop();
        }
        Ok(())
    }

    /// Kills the NATS server with this name in its cluster: nothing of it runs on after SIGKILL.
    pub fn kill_nats(&self, name: &str) -> Result<()> {
        let mut servers = self.environment().nats()?.iter();
        let server = servers.find(|server| server.name() == name);
        server
            .with_context(|| format!("no NATS server {name}"))?
            .kill();
        Ok(())
    }

    /// Stops a process gracefully. `name` is that of the instance, such as `orders-svc`.
    pub fn stop(&self, name: &str) -> Result<()> {
        let process = self.running().remove(name);
        let process = process.with_context(|| format!("{name} is not running"))?;
        process.stop(STOP_TIMEOUT);
        Ok(())
    }

    /// Kills a process: nothing of it runs on after SIGKILL.
    pub fn kill(&self, name: &str) -> Result<()> {
        let process = self.running().remove(name);
        let process = process.with_context(|| format!("{name} is not running"))?;
        process.kill();
        Ok(())
    }

    /// Waits until a process ends by itself, as at a failpoint.
    pub fn wait_for_exit(&self, name: &str, timeout: Duration) -> Result<ExitStatus> {
        let exited = || self.running().get(name)?.exit_status();
        poll(timeout, exited).with_context(|| format!("{name} still runs after {timeout:?}"))
    }

    /// Starts a process that was killed, stopped or has ended, on its old ports, with `env`
    /// beside its settings, and waits until it is ready.
    pub fn start_again(&self, name: &str, env: &[Variable]) -> Result<()> {
        let instance = self.wiring.instance(name)?;
        let old = self.running().remove(name);
        ensure!(
            old.is_none_or(|old| old.exit_status().is_some()),
            "{name} is running"
        );
        let process = self.spawn(instance, env)?;
        wait_until_ready(&[(instance, process)])
    }

    /// Starts another process of the gateway on a free port, and returns its name.
    pub fn add_gateway(&mut self) -> Result<String> {
        let instances = &mut self.wiring.instances;
        let gateways = instances.iter().filter(|it| it.service.is_none());
        let name = format!("{GATEWAY}-{}", gateways.count() + 1);
        let ports = &mut self.options.environment.options.ports;
        instances.push(Instance::assign(ports, name.clone(), None, None)?);
        self.start_again(&name, &[])?;
        Ok(name)
    }

    /// Returns the process ids by name, those of our own servers included.
    pub fn process_ids(&self) -> BTreeMap<String, u32> {
        let mut ids = self.environment().process_ids();
        let running = self.running();
        let processes = running.iter();
        ids.extend(processes.map(|(name, process)| (name.clone(), process.id())));
        ids
    }

    /// Fails when a process has ended by itself.
    pub fn check(&self) -> Result<()> {
        self.environment().check()?;
        let running = self.running();
        running.values().try_for_each(|process| process.check())
    }

    /// Runs `wallet-svc verify`. Fails with its report when the ledger is inconsistent.
    pub fn verify_ledger(&self) -> Result<()> {
        self.run(Service::Wallet, &["verify"])
    }

    /// Runs a command of a service with the settings of its process. Fails with its output.
    pub fn run(&self, service: Service, arguments: &[&str]) -> Result<()> {
        let wiring = &self.wiring;
        let settings = wiring.environment(wiring.instance(service.program())?)?;
        let output = self.programs.output(service, arguments, settings)?;
        ensure!(
            output.status.success(),
            "{} {}: {}{}",
            service.program(),
            arguments.join(" "),
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(())
    }

    /// Stops the processes: the gateway first, which ends the requests from outside.
    fn stop_processes(&self) {
        let mut processes = std::mem::take(&mut *self.running());
        if let Some(gateway) = processes.remove(GATEWAY) {
            gateway.stop(STOP_TIMEOUT);
        }
        for process in processes.values() {
            process.signal_stop();
        }
        for process in processes.values() {
            process.stop(STOP_TIMEOUT);
        }
    }

    fn running(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Process>>> {
        let processes = self.processes.lock();
        processes.unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        self.stop_processes();
        if self.options.database.is_none() {
            let _ = database::drop_database(&self.wiring.postgres_url, &self.wiring.database);
        }
        let _ = self.wiring.roles.drop_logins(&self.wiring.postgres_url);
    }
}

fn wire(options: &mut StackOptions) -> Result<Wiring> {
    let environment = &mut options.environment;
    let mails = environment.options.workspace.mails()?;
    let mut settings = options.settings.iter();
    let tls = settings.any(|(name, _)| name == CERTIFICATE) || env::var_os(CERTIFICATE).is_some();
    Ok(Wiring {
        instances: wiring::instances(
            &mut environment.options.ports,
            options.rest_port,
            &options.replicas,
        )?,
        auth: options.auth,
        otlp: options.otlp.clone(),
        secrets: options.secrets.clone(),
        nats: environment.nats_access.clone(),
        postgres_url: environment.postgres_url.clone(),
        database: options.database.clone().unwrap_or_else(unique_database),
        roles: options.roles(),
        mails,
        tls,
    })
}
