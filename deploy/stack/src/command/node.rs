//! The public Node SDK for the tests of `tests/clients`, where this machine has Node.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Result, ensure};
use stack::progress::Progress;

/// Installs what the lock file says, unless it is there already.
pub(super) fn install(root: &Path, progress: Progress) -> Result<()> {
    let clients = root.join("tests/clients");
    let lock = clients.join("package-lock.json");
    let installed = clients.join("node_modules/.package-lock.json");
    if !lock.is_file() || is_current(&lock, &installed) {
        return Ok(());
    }
    if !runs("node") || !runs("npm") {
        progress.tell("  --  no Node with npm here: tests/clients will be skipped");
        return Ok(());
    }
    progress.step("Fetching the Node SDK", || {
        let output = Command::new("npm")
            .args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"])
            .current_dir(&clients)
            .stdin(Stdio::null())
            .output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "npm ci: {}", said.trim());
        Ok(((), "Node SDK in tests/clients".to_owned()))
    })
}

fn runs(program: &str) -> bool {
    let version = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .output();
    version.is_ok_and(|version| version.status.success())
}

fn is_current(lock: &Path, installed: &Path) -> bool {
    let changed = |path: &Path| fs::metadata(path).and_then(|found| found.modified()).ok();
    matches!((changed(lock), changed(installed)), (Some(lock), Some(at)) if at >= lock)
}
