//! The packages and programs of the clients in `tests/clients`, where this machine has Node and Python.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    time::SystemTime,
};

use anyhow::ensure;

use crate::progress::Progress;

const OLDEST_NODE: u32 = 18;

/// Installs the packages of the lock files where they are missing. Without Node, Python or network,
/// their tests are skipped.
pub(super) fn install(root: &Path, progress: Progress) {
    let clients = root.join("tests/clients");
    for (client, what) in [
        ("slyk-node", "Node SDK"),
        ("typescript", "TypeScript client"),
    ] {
        install_node(&clients.join(client), what, progress);
    }
    install_python(&clients.join("python"), progress);
    install_grpcurl(&clients.join("grpcurl"), progress);
}

fn install_node(client: &Path, what: &str, progress: Progress) {
    let modified = |file: &str| modified(&client.join(file));
    if modified("node_modules/.package-lock.json") >= modified("package-lock.json") {
        return;
    }
    if node_version() < Some(OLDEST_NODE) || version("npm").is_none() {
        progress.line(&format!(
            "  --  no Node 18 with npm here: the test of the {what} is skipped"
        ));
        return;
    }
    let arguments = ["ci", "--no-audit", "--no-fund", "--ignore-scripts"];
    let mut npm = Command::new("npm");
    npm.args(arguments).current_dir(client);
    fetch(what, &mut [npm], progress);
}

/// Makes a virtual environment with the packages, which are pinned with their hashes.
fn install_python(client: &Path, progress: Progress) {
    let what = "Python client";
    let modified = |file: &str| modified(&client.join(file));
    if modified(".venv/installed") >= modified("requirements.txt") {
        return;
    }
    let mut make = Command::new("python3");
    make.args(["-m", "venv", "--clear", ".venv"]);
    let mut pip = Command::new(".venv/bin/python");
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]);
    pip.args([
        "--no-deps",
        "--require-hashes",
        "--requirement",
        "requirements.txt",
    ]);
    let mut mark = Command::new("touch");
    mark.arg(".venv/installed");
    let mut commands = [make, pip, mark];
    for command in &mut commands {
        command.current_dir(client);
    }
    fetch(what, &mut commands, progress);
}

/// Fetches grpcurl, unless this machine has its own.
fn install_grpcurl(client: &Path, progress: Progress) {
    let modified = |file: &str| modified(&client.join(file));
    if modified("bin/grpcurl") >= modified("fetch.py") || version("grpcurl").is_some() {
        return;
    }
    let mut python = Command::new("python3");
    python.arg("fetch.py").current_dir(client);
    fetch("grpcurl", &mut [python], progress);
}

fn fetch(what: &str, commands: &mut [Command], progress: Progress) {
    let installed = progress.step(&format!("Fetching the {what}"), || {
        for command in commands {
            let output = command.stdin(Stdio::null()).output()?;
            let errors = String::from_utf8_lossy(&output.stderr);
            let program = command.get_program().to_string_lossy();
            ensure!(output.status.success(), "{program}: {}", errors.trim());
        }
        Ok(((), format!("{what} in tests/clients")))
    });
    if let Err(error) = installed {
        progress.line(&format!(
            "  --  {error:#}: the test of the {what} is skipped"
        ));
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
