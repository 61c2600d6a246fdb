//! Cargo, called from a program that cargo itself started.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, kill_process_group};
use stack::service::programs;

use super::signals::Signals;

/// Cargo in the clone. What `cargo run` put into our environment is taken out again: build
/// scripts that watch those variables would otherwise rebuild half of the dependencies.
pub(super) fn cargo(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(is_of_cargo_run) {
            command.env_remove(name);
        }
    }
    command
}

fn is_of_cargo_run(name: &str) -> bool {
    name.starts_with("CARGO_PKG_")
        || name.starts_with("CARGO_MANIFEST_")
        || name.starts_with("CARGO_BIN_")
        || ["CARGO_CRATE_NAME", "CARGO_PRIMARY_PACKAGE", "OUT_DIR"].contains(&name)
}

/// Builds the five programs, with cargo's own progress bar, and gives their directory.
pub(super) fn build_programs(root: &Path, release: bool) -> Result<PathBuf> {
    let mut build = cargo(root);
    // One call for all: `--package` would build shared dependencies with other features.
    build.args(["build", "--workspace"]);
    for program in programs() {
        build.args(["--bin", program]);
    }
    if release {
        build.arg("--release");
    }
    run(&mut build)?;
    Ok(target_directory(root)?.join(if release { "release" } else { "debug" }))
}

/// Runs it, its output being ours.
pub(super) fn run(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("{} can't be started", command.get_program().display()))?;
    let args: Vec<_> = command
        .get_args()
        .map(|arg| arg.to_string_lossy())
        .collect();
    ensure!(
        status.success(),
        "`cargo {}` failed ({status})",
        args.join(" ")
    );
    Ok(())
}

/// Runs it in a process group of its own, so that a signal to us goes to all that it started.
pub(super) fn supervised(command: &mut Command, signals: &Signals) -> Result<ExitStatus> {
    command.stdin(Stdio::null()).process_group(0);
    let mut child = command
        .spawn()
        .with_context(|| format!("{} can't be started", command.get_program().display()))?;
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let mut asked = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if signals.came() && !asked {
            asked = true;
            group.map(|group| kill_process_group(group, Signal::TERM));
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// Where cargo puts what it builds.
pub(super) fn target_directory(root: &Path) -> Result<PathBuf> {
    let output = cargo(root)
        .args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
        ])
        .output()
        .context("cargo can't be started")?;
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).with_context(|| {
            format!(
                "cargo metadata: {}",
                String::from_utf8_lossy(&output.stderr)
            )
        })?;
    let directory = metadata["target_directory"].as_str();
    Ok(directory
        .context("cargo metadata names no target directory")?
        .into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_cargo_run_added_is_taken_out() {
        assert!(is_of_cargo_run("CARGO_PKG_NAME") && is_of_cargo_run("CARGO_MANIFEST_DIR"));
        for kept in [
            "CARGO_HOME",
            "CARGO_TARGET_DIR",
            "CARGO_NET_OFFLINE",
            "CARGO",
            "PATH",
        ] {
            assert!(!is_of_cargo_run(kept), "{kept}");
        }
    }
}
