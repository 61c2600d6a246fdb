//! A Postgres cluster of our own: initialised, started, stopped. `database` sets up what is in it.

use std::{
    fs,
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use rustix::process::Signal;

use crate::{
    account::Account,
    database,
    find::Installation,
    logs::Log,
    process::{self, Process},
};

/// Includes recovery after a crash.
const START_TIMEOUT: Duration = Duration::from_mins(1);
const STOP_TIMEOUT: Duration = Duration::from_secs(20);

/// How to run a cluster.
#[derive(Debug)]
pub(crate) struct ClusterOptions {
    pub(crate) installation: Installation,
    pub(crate) data: PathBuf,
    /// The account that runs it, when it isn't ours.
    pub(crate) account: Option<Account>,
    /// The superuser's.
    pub(crate) password: String,
    /// Whether commits survive a power cut.
    pub(crate) durable: bool,
    /// The directory of the log file.
    pub(crate) logs: PathBuf,
}

/// A running cluster.
#[derive(Debug)]
pub(crate) struct Cluster {
    process: Process,
    port: u16,
    url: String,
    programs: PathBuf,
}

/// Returns the major version of Postgres that made the data.
pub(crate) fn data_version(data: &Path) -> Option<u32> {
    let version = fs::read_to_string(data.join("PG_VERSION")).ok()?;
    version.trim().parse().ok()
}

impl Cluster {
    /// Starts the cluster on a port; it is initialised first where it is missing.
    pub(crate) fn start(options: &ClusterOptions, port: u16) -> Result<Self> {
        options.discard_trusting_data()?;
        if data_version(&options.data).is_none() {
            options.initialise()?;
        }
        let password = &options.password;
        let cluster = Self {
            process: options.spawn(port)?,
            port,
            url: format!("postgres://postgres:{password}@127.0.0.1:{port}/postgres"),
            programs: options.installation.path.clone(),
        };
        let probe = || ensure_listening(&options.data, cluster.process.id());
        cluster
            .process
            .wait_until_ready(START_TIMEOUT, &[], probe)?;
        database::ping(&cluster.url)?;
        database::check_case_mapping(&cluster.url)?;
        Ok(cluster)
    }

    /// Returns the address of the server, `127.0.0.1:5432`.
    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Returns the superuser's URL.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn process(&self) -> &Process {
        &self.process
    }

    /// Returns the directory of the Postgres programs.
    pub(crate) fn programs(&self) -> &Path {
        &self.programs
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.process.stop(STOP_TIMEOUT);
    }
}

impl ClusterOptions {
    fn spawn(&self, port: u16) -> Result<Process> {
        let durable = if self.durable { "on" } else { "off" };
        // Fast shutdown: ends sessions and writes the data.
        let mut command = process::command(&self.program("postgres"), Signal::INT);
        command.arg("-D").arg(&self.data);
        for setting in [
            &format!("port={port}"),
            "listen_addresses=127.0.0.1",
            // A socket's path is limited to 107 bytes, which a deep clone exceeds.
            "unix_socket_directories=",
            "max_connections=300",
            "timezone=UTC",
            "log_timezone=UTC",
            "logging_collector=off",
            "synchronous_commit=on",
            &format!("fsync={durable}"),
            &format!("full_page_writes={durable}"),
        ] {
            command.args(["-c", setting]);
        }
        self.isolate(&mut command);
        let log = Log::open(&self.logs, "postgres", None)?;
        Process::spawn("Postgres", command, Signal::INT, log)
    }

    fn program(&self, name: &str) -> PathBuf {
        self.installation.path.join(name)
    }

    /// Runs the command as the account, without our environment: PGPORT, for example, must not reach
    /// the server.
    fn isolate(&self, command: &mut Command) {
        let path = std::env::var_os("PATH").unwrap_or_default();
        command
            .env_clear()
            .envs([("LC_ALL", "C"), ("LANG", "C")])
            .env("PATH", path);
        if let Some(account) = &self.account {
            account.apply(command);
        }
    }

    /// Removes test data of an earlier version, which let everybody on this machine log in.
    fn discard_trusting_data(&self) -> Result<()> {
        let rules = fs::read_to_string(self.data.join("pg_hba.conf")).unwrap_or_default();
        if !trusts(&rules) {
            return Ok(());
        }
        ensure!(
            !self.durable,
            "the data in {} lets everybody on this machine log in: remove it with \
             `cargo stack reset`",
            self.data.display()
        );
        fs::remove_dir_all(&self.data)
            .with_context(|| format!("cannot remove {}", self.data.display()))
    }

    /// Runs `initdb` in a directory beside the final one and renames it: an interrupted run leaves
    /// nothing that looks like a cluster.
    fn initialise(&self) -> Result<()> {
        let part = self.data.with_extension("part");
        let mut failures = String::new();
        for locale in locales(self.installation.version.major) {
            let _ = fs::remove_dir_all(&part);
            fs::create_dir(&part).with_context(|| format!("cannot make {}", part.display()))?;
            self.chown(&part)?;
            let output = self.initdb(&part, locale)?;
            if output.status.success() {
                let _ = fs::remove_dir_all(&self.data);
                return Ok(fs::rename(&part, &self.data)?);
            }
            failures.push_str(String::from_utf8_lossy(&output.stderr).trim());
            failures.push('\n');
        }
        bail!("initdb failed in {}:\n{failures}", self.data.display())
    }

    fn initdb(&self, directory: &Path, locale: &str) -> Result<Output> {
        let mut command = Command::new(self.program("initdb"));
        command
            .arg("-D")
            .arg(directory)
            .args(["-U", "postgres", "-E", "UTF8", "--no-instructions"])
            .args(locale.split(' '))
            .stdin(Stdio::null());
        let password_file = self.data.with_extension("password");
        self.write_password(&password_file)?;
        command
            .arg("--auth=scram-sha-256")
            .arg(format!("--pwfile={}", password_file.display()));
        if !self.durable {
            command.arg("--no-sync");
        }
        self.isolate(&mut command);
        let output = command.output().context("cannot start initdb");
        let _ = fs::remove_file(password_file);
        output
    }

    fn write_password(&self, file: &Path) -> Result<()> {
        let _ = fs::remove_file(file);
        fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(file)?
            .write_all(self.password.as_bytes())?;
        self.chown(file)
    }

    fn chown(&self, path: &Path) -> Result<()> {
        let account = self.account.as_ref();
        account.map_or(Ok(()), |account| account.give(path))
    }
}

/// Fails until the server of this process accepts connections. Read from the file by which `pg_ctl` waits,
/// and not asked at the port, where another process may listen that never responds.
fn ensure_listening(data: &Path, process_id: u32) -> Result<()> {
    let file = fs::read_to_string(data.join("postmaster.pid"))?;
    let lines: Vec<_> = file.lines().map(str::trim).collect();
    let (pid, status) = (lines.first(), lines.get(7));
    ensure!(
        pid.is_some_and(|pid| *pid == process_id.to_string()) && status == Some(&"ready"),
        "it is starting"
    );
    Ok(())
}

/// Returns whether a `pg_hba.conf` has a rule that asks for no password.
fn trusts(rules: &str) -> bool {
    let rules = rules.lines().filter(|line| !line.starts_with('#'));
    rules
        .into_iter()
        .any(|rule| rule.split_whitespace().any(|word| word == "trust"))
}

/// Returns options of `initdb` for a locale whose `lower('É')` is 'é', best first.
fn locales(major: u32) -> &'static [&'static str] {
    if major >= 17 {
        &[
            "--locale-provider=builtin --locale=C.UTF-8",
            "--locale-provider=builtin --locale=C --builtin-locale=C.UTF-8",
        ]
    } else {
        &[
            "--locale=C.UTF-8",
            "--locale=en_US.UTF-8",
            "--locale-provider=icu --icu-locale=und --locale=C",
        ]
    }
}

#[cfg(test)]
mod tests;
