//! Cargo, called from a program that cargo itself started.

use std::{
    ffi::OsStr,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use rustix::process::{Pid, Signal, kill_process_group};

use super::signals::Signals;
use crate::service::programs;

const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Returns a cargo command in the clone.
pub(super) fn cargo(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    forget_cargo_run(command.current_dir(root));
    command
}

/// Removes the variables that `cargo run` set for us: build scripts that watch them, such as that of
/// ring, would rebuild half of the dependencies.
pub(super) fn forget_cargo_run(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(is_set_by_cargo_run) {
            command.env_remove(name);
        }
    }
}

fn is_set_by_cargo_run(name: &str) -> bool {
    name.starts_with("CARGO_PKG_")
        || name.starts_with("CARGO_MANIFEST_")
        || name.starts_with("CARGO_BIN_")
        || ["CARGO_CRATE_NAME", "CARGO_PRIMARY_PACKAGE", "OUT_DIR"].contains(&name)
}

/// Builds the five programs, with cargo's own progress bar, and returns their directory.
pub(super) fn build_programs(root: &Path, release: bool) -> Result<PathBuf> {
    let mut build = cargo(root);
    // One call for all: `--package` would build shared dependencies with other features.
    build.args(["build", "--locked"]);
    for program in programs() {
        build.args(["--bin", program]);
    }
    if release {
        build.arg("--release");
    }
    run(&mut build)?;
    Ok(target_directory(root)?.join(if release { "release" } else { "debug" }))
}

/// Runs a command; its output is ours.
pub(super) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| cannot_start(command))?;
    let args: Vec<_> = command.get_args().map(OsStr::to_string_lossy).collect();
    ensure!(
        status.success(),
        "`cargo {}` failed ({status})",
        args.join(" ")
    );
    Ok(())
}

/// Runs a command in a process group of its own: a signal to us goes to all that it started.
pub(super) fn supervise(command: &mut Command, signals: &Signals) -> Result<ExitStatus> {
    command.stdin(Stdio::null()).process_group(0);
    let mut child = command.spawn().with_context(|| cannot_start(command))?;
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let mut signaled = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if signals.received() && !signaled {
            signaled = true;
            group.map(|group| kill_process_group(group, Signal::TERM));
        }
        thread::sleep(POLL_INTERVAL);
    }
}

fn cannot_start(command: &Command) -> String {
    format!("cannot start {}", command.get_program().display())
}

/// Returns the directory of cargo's output.
pub(super) fn target_directory(root: &Path) -> Result<PathBuf> {
    let output = cargo(root)
        .args(["metadata", "--no-deps", "--offline", "--format-version=1"])
        .output()
        .context("cannot start cargo")?;
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)
        .with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())
        .context("cargo metadata")?;
    let directory = metadata["target_directory"].as_str();
    Ok(directory
        .context("cargo metadata names no target directory")?
        .into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_does_not_get_the_variables_of_cargo_run() {
        let mut command = Command::new("cargo");
        forget_cargo_run(&mut command);
        // Cargo sets them for tests too.
        let removed: Vec<_> = command.get_envs().collect();
        assert!(
            removed.contains(&(OsStr::new("CARGO_PKG_NAME"), None)),
            "{removed:?}"
        );
    }

    #[test]
    fn only_variables_of_cargo_run_are_removed() {
        assert!(is_set_by_cargo_run("CARGO_PKG_NAME") && is_set_by_cargo_run("CARGO_MANIFEST_DIR"));
        for kept in [
            "CARGO_HOME",
            "CARGO_TARGET_DIR",
            "CARGO_NET_OFFLINE",
            "CARGO",
            "PATH",
        ] {
            assert!(!is_set_by_cargo_run(kept), "{kept}");
        }
    }
}
