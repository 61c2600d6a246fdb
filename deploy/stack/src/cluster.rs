//! A Postgres cluster of our own: made, started, stopped. What is in it is `database`'s.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::Signal;

use crate::account::Account;
use crate::database;
use crate::find::Found;
use crate::logs::Log;
use crate::process::{Process, Spec, poll};

/// How long a start may take: recovery after a crash needs its time.
const START_PATIENCE: Duration = Duration::from_mins(1);
const STOP_PATIENCE: Duration = Duration::from_secs(20);

/// What a cluster is like.
#[derive(Debug)]
pub struct ClusterOptions<'a> {
    /// The programs.
    pub programs: &'a Found,
    /// Where the data is, or will be.
    pub data: PathBuf,
    /// Who runs it, when not we.
    pub account: Option<Account>,
    /// Where it listens.
    pub port: u16,
    /// Of the superuser; without one the cluster trusts everybody on this machine.
    pub password: Option<String>,
    /// Whether commits survive a power cut. Tests do without, and are faster.
    pub durable: bool,
    /// Takes what it prints.
    pub log: Arc<Log>,
}

/// A running cluster.
#[derive(Debug)]
pub struct Cluster {
    process: Process,
    url: String,
}

/// The major version whose data is in `data`.
pub fn data_version(data: &Path) -> Option<u32> {
    fs::read_to_string(data.join("PG_VERSION"))
        .ok()?
        .trim()
        .parse()
        .ok()
}

impl Cluster {
    /// Makes the cluster where it is missing, and starts it.
    pub fn start(options: &ClusterOptions<'_>) -> Result<Self> {
        if data_version(&options.data).is_none() {
            make(options)?;
        }
        let process = Process::spawn(&server(options), Arc::clone(&options.log))?;
        let secret = options
            .password
            .as_ref()
            .map(|password| format!(":{password}"))
            .unwrap_or_default();
        let url = format!(
            "postgres://postgres{secret}@127.0.0.1:{}/postgres",
            options.port
        );
        let cluster = Self { process, url };
        cluster.wait_until_ready()?;
        database::check_case_mapping(&cluster.url)?;
        Ok(cluster)
    }

    /// The superuser's URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The server process.
    pub fn process(&self) -> &Process {
        &self.process
    }

    /// Fast shutdown: sessions are ended, data is written.
    pub fn stop(&self) {
        self.process.stop(STOP_PATIENCE);
    }

    fn wait_until_ready(&self) -> Result<()> {
        let mut last = None;
        let ready = poll(START_PATIENCE, || {
            if let Some(status) = self.process.ended() {
                return Some(Err(status));
            }
            database::ping(&self.url)
                .map_err(|error| last = Some(error))
                .ok()
                .map(Ok)
        });
        match ready {
            Some(Ok(())) => Ok(()),
            Some(Err(status)) => {
                bail!(
                    "Postgres ended at once ({status}):\n{}",
                    self.process.log().last_lines(15)
                )
            }
            None => Err(last
                .unwrap_or_else(|| anyhow::anyhow!("no answer"))
                .context("Postgres does not answer")),
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.stop();
    }
}

fn server(options: &ClusterOptions<'_>) -> Spec {
    let onoff = |value| if value { "on" } else { "off" };
    let settings = [
        format!("port={}", options.port),
        "listen_addresses=127.0.0.1".to_owned(),
        // A socket's path is limited to 107 bytes, which a deep clone exceeds.
        "unix_socket_directories=".to_owned(),
        "max_connections=300".to_owned(),
        "timezone=UTC".to_owned(),
        "log_timezone=UTC".to_owned(),
        "logging_collector=off".to_owned(),
        "synchronous_commit=on".to_owned(),
        format!("fsync={}", onoff(options.durable)),
        format!("full_page_writes={}", onoff(options.durable)),
    ];
    let data = ["-D".to_owned(), options.data.display().to_string()];
    Spec {
        name: "Postgres".to_owned(),
        program: options.programs.path.join("postgres"),
        args: data
            .into_iter()
            .chain(settings.into_iter().flat_map(|set| ["-c".to_owned(), set]))
            .collect(),
        env: neutral_environment(),
        isolated: true,
        account: options.account.clone(),
        stop: Signal::INT,
    }
}

/// The user's own settings, such as PGPORT, must not leak into the server's.
fn neutral_environment() -> Vec<(String, String)> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    [
        ("LC_ALL", "C"),
        ("LANG", "C"),
        ("PATH", &path.to_string_lossy()),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into()
}

/// Runs `initdb` beside the final place and renames, so that an interrupted one leaves nothing
/// that looks like a cluster.
fn make(options: &ClusterOptions<'_>) -> Result<()> {
    let parent = options
        .data
        .parent()
        .context("data needs a parent directory")?;
    let part = options.data.with_extension("part");
    let secret = parent.join("superuser-password");
    let mut failures = String::new();
    for locale in locales(options.programs.version.major) {
        let _ = fs::remove_dir_all(&part);
        fs::create_dir(&part).with_context(|| format!("{} can't be made", part.display()))?;
        give_to(options.account.as_ref(), &part)?;
        let output = initdb(options, &part, &secret, locale)?;
        let _ = fs::remove_file(&secret);
        if output.status.success() {
            let _ = fs::remove_dir_all(&options.data);
            return Ok(fs::rename(&part, &options.data)?);
        }
        failures.push_str(String::from_utf8_lossy(&output.stderr).trim());
        failures.push('\n');
    }
    bail!(
        "initdb made no cluster in {}:\n{failures}",
        options.data.display()
    )
}

fn initdb(
    options: &ClusterOptions<'_>,
    data: &Path,
    secret: &Path,
    locale: &[&str],
) -> Result<std::process::Output> {
    let mut command = Command::new(options.programs.path.join("initdb"));
    command
        .arg("-D")
        .arg(data)
        .args(["-U", "postgres", "-E", "UTF8", "--no-instructions"]);
    command
        .args(locale)
        .env_clear()
        .envs(neutral_environment())
        .current_dir("/")
        .stdin(Stdio::null());
    if let Some(password) = &options.password {
        let _ = fs::remove_file(secret);
        fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(secret)
            .and_then(|mut file| file.write_all(password.as_bytes()))?;
        give_to(options.account.as_ref(), secret)?;
        command
            .arg("--auth=scram-sha-256")
            .arg(format!("--pwfile={}", secret.display()));
    } else {
        command.arg("--auth=trust");
    }
    if !options.durable {
        command.arg("--no-sync");
    }
    if let Some(account) = &options.account {
        account.apply(&mut command);
    }
    command.output().context("initdb can't be started")
}

/// The ways to a locale whose `lower('É')` is 'é', best first.
fn locales(major: u32) -> &'static [&'static [&'static str]] {
    if major >= 17 {
        &[
            &["--locale-provider=builtin", "--locale=C.UTF-8"],
            &[
                "--locale-provider=builtin",
                "--locale=C",
                "--builtin-locale=C.UTF-8",
            ],
        ]
    } else {
        &[
            &["--locale=C.UTF-8"],
            &["--locale=en_US.UTF-8"],
            &["--locale-provider=icu", "--icu-locale=und", "--locale=C"],
        ]
    }
}

fn give_to(account: Option<&Account>, path: &Path) -> Result<()> {
    let Some(account) = account else {
        return Ok(());
    };
    chown(path, Some(account.uid), Some(account.gid))
        .with_context(|| format!("{} can't be given to {}", path.display(), account.name))
}
