//! A NATS server of our own, with JetStream.

use std::{
    ffi::OsStr,
    fs,
    io::{BufRead as _, BufReader, Read as _},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use rustix::process::Signal;

use self::users::Passwords;
use crate::{
    envfile,
    logs::Log,
    process::{self, Process},
    workspace::Workspace,
};

pub(crate) mod cluster;
pub(crate) mod users;

const START_TIMEOUT: Duration = Duration::from_secs(20);
const STOP_TIMEOUT: Duration = Duration::from_secs(10);
const PROBE_TIMEOUT: Duration = Duration::from_secs(1);
/// Bytes of a greeting; a server of another kind may send any number.
const MAX_GREETING: u64 = 8 << 10;

/// What a server is started with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NatsOptions<'a> {
    pub(crate) program: &'a Path,
    pub(crate) workspace: &'a Workspace,
    /// The passwords of its users.
    pub(crate) passwords: &'a Passwords,
}

/// A server that can be stopped and started again with its data.
#[derive(Debug)]
pub(crate) struct NatsServer {
    /// The name of its directory and of its log.
    label: String,
    program: PathBuf,
    config: PathBuf,
    /// Tells this server from another one that listens on the same port.
    name: String,
    port: u16,
    workspace: Workspace,
    log: Arc<Log>,
    process: Mutex<Option<Process>>,
}

impl NatsServer {
    /// Starts the program with its data in a directory of the workspace, and waits until it listens.
    /// The configuration, to which `cluster` is added, holds the passwords: only the server may read it.
    pub(crate) fn start(
        options: NatsOptions<'_>,
        label: &str,
        port: u16,
        cluster: &str,
    ) -> Result<Self> {
        let NatsOptions {
            program,
            workspace,
            passwords,
        } = options;
        let home = workspace.subdirectory(label)?.servers;
        let (config, store) = (home.join("nats.conf"), home.join("jetstream"));
        let name = format!("guerdon-{:08x}", rand::random::<u32>());
        let text = configuration(&name, &store, port)? + cluster + &passwords.authorization();
        envfile::write_private(&config, &text)?;
        let mut directory = fs::DirBuilder::new();
        directory.recursive(true).mode(0o700).create(&store)?;
        if let Some(account) = &workspace.account {
            account.give(&config)?;
            account.give_all(&store)?;
        }
        let server = Self {
            label: label.to_owned(),
            program: runnable(program, workspace)?,
            config,
            name,
            port,
            log: Log::open(&workspace.logs(), label, None)?,
            workspace: workspace.clone(),
            process: Mutex::default(),
        };
        server.start_again()?;
        Ok(server)
    }

    /// Starts the server after [`NatsServer::stop`] or [`NatsServer::kill`].
    pub(crate) fn start_again(&self) -> Result<()> {
        let mut running = self.process();
        ensure!(running.is_none(), "NATS is running");
        let mut command = process::command(&self.program, Signal::TERM);
        command.arg("--config").arg(&self.config);
        self.workspace.isolate(&mut command, "nats")?;
        let process = Process::spawn("NATS", command, Signal::TERM, Arc::clone(&self.log))?;
        process.wait_until_ready(START_TIMEOUT, &[], || self.probe())?;
        *running = Some(process);
        Ok(())
    }

    /// Stops the server gracefully.
    pub(crate) fn stop(&self) {
        if let Some(process) = self.process().take() {
            process.stop(STOP_TIMEOUT);
        }
    }

    /// Kills the server: nothing of it runs on after SIGKILL.
    pub(crate) fn kill(&self) {
        if let Some(process) = self.process().take() {
            process.kill();
        }
    }

    /// Returns its name among the servers of a cluster.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name of its directory and of its log.
    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    /// Fails when the server has ended by itself.
    pub(crate) fn check(&self) -> Result<()> {
        self.process().as_ref().map_or(Ok(()), Process::check)
    }

    pub(crate) fn process_id(&self) -> Option<u32> {
        self.process().as_ref().map(Process::id)
    }

    /// Returns the address of the server, `127.0.0.1:4222`.
    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Reads the line by which a NATS server greets its clients; it has the server's name.
    fn probe(&self) -> Result<()> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let stream = TcpStream::connect_timeout(&address, PROBE_TIMEOUT)?;
        stream.set_read_timeout(Some(PROBE_TIMEOUT))?;
        let mut line = String::new();
        BufReader::new(stream.take(MAX_GREETING)).read_line(&mut line)?;
        ensure!(
            line.starts_with("INFO ") && line.contains(&self.name),
            "another server listens on port {}",
            self.port
        );
        Ok(())
    }

    fn process(&self) -> MutexGuard<'_, Option<Process>> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Returns the program where the account of the servers can run it.
fn runnable(program: &Path, workspace: &Workspace) -> Result<PathBuf> {
    let name = program.file_name().and_then(OsStr::to_str);
    let (directory, name) = program
        .parent()
        .zip(name)
        .context("NATS is not a program")?;
    Ok(workspace.runnable(directory, &[name])?.join(name))
}

/// `sync_interval: always`: by default the server acknowledges messages that are not on disk yet.
fn configuration(name: &str, store: &Path, port: u16) -> Result<String> {
    let store = store.display().to_string();
    // JSON strings are also strings of the server's configuration language.
    let store = serde_json::to_string(&store)?;
    Ok(format!(
        "listen: \"127.0.0.1:{port}\"\n\
         server_name: {name}\n\
         jetstream {{\n  store_dir: {store}\n  sync_interval: always\n}}\n"
    ))
}

#[cfg(test)]
mod tests {
    use std::{cell::OnceCell, net::TcpListener};

    use super::*;
    use crate::{EnvironmentOptions, ports::Ports};

    #[test]
    fn a_server_whose_port_was_taken_starts_on_another() {
        let workspace = Workspace::scratch();
        let program = EnvironmentOptions::nats_program_of_tests(&workspace);
        let passwords = Passwords::complete(str::to_lowercase);
        let taken = OnceCell::new();
        let options = NatsOptions {
            program: &program,
            workspace: &workspace,
            passwords: &passwords,
        };
        let start = |port| {
            // Assigned, and taken before the first start.
            taken.get_or_init(|| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap());
            NatsServer::start(options, "nats", port, "")
        };
        let server = Ports::default().serve("nats", start).unwrap();
        let taken = taken.get().unwrap().local_addr().unwrap();
        assert_ne!(server.address(), taken.to_string());
        server.probe().unwrap();
        let config = fs::read_to_string(&server.config).unwrap();
        assert!(config.contains(&server.address()), "{config}");
        drop(server);
        workspace.remove().unwrap();
    }

    #[test]
    fn messages_are_synced_before_they_are_acknowledged() {
        let text = configuration("x", Path::new("/data/my \"nats\""), 4333).unwrap();
        assert!(text.contains("sync_interval: always"));
        assert!(text.contains("listen: \"127.0.0.1:4333\""));
        assert!(text.contains(r#"store_dir: "/data/my \"nats\"""#));
    }
}
