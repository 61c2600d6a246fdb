//! The public Node SDK for the test in `tests/clients`, where this machine has Node.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    time::SystemTime,
};

use anyhow::ensure;

use crate::progress::Progress;

const OLDEST_NODE: u32 = 18;

/// Installs the packages of the lock file where they are missing. Without Node or network, the test
/// is skipped.
pub(super) fn install(root: &Path, progress: Progress) {
    let client = root.join("tests/clients/slyk-node");
    let modified = |file: &str| modified(&client.join(file));
    if modified("node_modules/.package-lock.json") >= modified("package-lock.json") {
        return;
    }
    if node_version() < Some(OLDEST_NODE) || version("npm").is_none() {
        progress.line("  --  no Node 18 with npm here: the test of the Node SDK is skipped");
        return;
    }
    let installed = progress.step("Fetching the Node SDK", || {
        let output = Command::new("npm")
            .args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"])
            .current_dir(&client)
            .stdin(Stdio::null())
            .output()?;
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "npm ci: {}", errors.trim());
        Ok(((), "Node SDK in tests/clients/slyk-node".to_owned()))
    });
    if let Err(error) = installed {
        progress.line(&format!("  --  {error:#}: its test is skipped"));
    }
}

/// Returns when the file changed; `None`, where it is missing, is less than any time.
fn modified(file: &Path) -> Option<SystemTime> {
    fs::metadata(file).and_then(|file| file.modified()).ok()
}

fn node_version() -> Option<u32> {
    let version = version("node")?;
    let major = version.trim_start_matches('v').split('.').next()?;
    major.parse().ok()
}

fn version(program: &str) -> Option<String> {
    let mut command = Command::new(program);
    let output = command
        .arg("--version")
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    output.status.success().then(|| text.into_owned())
}
