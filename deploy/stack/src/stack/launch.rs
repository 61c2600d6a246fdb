//! The way of a stack from nothing to ready.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::Signal;

use super::Stack;
use crate::process::{Process, Spec, poll};
use crate::wiring::{Instance, Variable};
use crate::{database, http, programs};

/// Recovery and first connections included.
const READY_PATIENCE: Duration = Duration::from_mins(1);

impl Stack {
    pub(super) fn bring_up(&self) -> Result<()> {
        let progress = self.options.progress;
        if let Some(port) = self.nats_port {
            progress.step("Starting NATS", || {
                self.start_nats()?;
                Ok(((), format!("NATS with JetStream on 127.0.0.1:{port}")))
            })?;
        }
        progress.step("Setting up the database", || {
            let url = &self.wiring.postgres_url;
            database::ensure_roles(url, self.wiring.role_password.as_deref())?;
            database::ensure_database(url, &self.wiring.database)?;
            programs::migrate(&self.options.binaries, &self.wiring)?;
            Ok(((), format!("database {}, migrated", self.wiring.database)))
        })?;
        progress.step("Starting the services", || {
            for instance in &self.wiring.instances {
                self.spawn(instance, &[])?;
            }
            self.wait_until_ready(&self.wiring.instances)?;
            Ok((
                (),
                format!("{} processes ready", self.wiring.instances.len()),
            ))
        })
    }

    pub(super) fn spawn(&self, instance: &Instance, env: &[Variable]) -> Result<()> {
        let own = self
            .options
            .program_env
            .get(instance.program())
            .into_iter()
            .flatten();
        let mut settings = self.wiring.environment(instance)?;
        settings.extend(self.options.env.iter().chain(own).chain(env).cloned());
        let spec = Spec {
            name: instance.name.clone(),
            program: programs::find(&self.options.binaries, instance.program())?,
            args: Vec::new(),
            env: settings,
            isolated: false,
            account: None,
            stop: Signal::TERM,
        };
        let log = self
            .logs
            .get(&instance.name)
            .context("every process has a log")?;
        let process = Process::spawn(&spec, Arc::clone(log))?;
        self.running().insert(instance.name.clone(), process);
        Ok(())
    }

    pub(super) fn wait_until_ready(&self, instances: &[Instance]) -> Result<()> {
        for instance in instances {
            let mut last = "no answer".to_owned();
            let ready = poll(READY_PATIENCE, || {
                if let Err(error) = self.check_started(instances) {
                    return Some(Err(error));
                }
                match http::get(instance.metrics_port, "/readyz") {
                    Ok((200, _)) => return Some(Ok(())),
                    Ok((status, body)) => last = format!("{status} {body}"),
                    Err(error) => last = format!("{error:#}"),
                }
                None
            });
            ready.unwrap_or_else(|| {
                let tail = self.last_lines(&instance.name, 15);
                bail!(
                    "{} is not ready after {READY_PATIENCE:?} ({last}); it says:\n{tail}",
                    instance.name
                )
            })?;
        }
        Ok(())
    }

    fn check_started(&self, instances: &[Instance]) -> Result<()> {
        let running = self.running();
        instances
            .iter()
            .filter_map(|instance| running.get(&instance.name))
            .try_for_each(Process::check)
    }
}
