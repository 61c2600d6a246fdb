//! Pages of the documentation, whose commands are run as they are.

use std::{ffi::OsString, path::Path, process::Command};

use crate::TestApp;

/// Returns the commands below a marker of a page.
///
/// # Panics
/// If the page has no such commands.
pub fn commands(page: &'static str, marker: &str) -> &'static str {
    let start = format!("<!-- {marker} -->\n```sh\n");
    let block = page.split(&start).nth(1).expect("the page has it");
    block.split("```").next().expect("it ends")
}

/// Returns `PATH` with the programs of `tests/clients` before those of the machine.
pub fn path_with_clients() -> OsString {
    let clients = Path::new(env!("CARGO_MANIFEST_DIR")).join("../clients/grpcurl/bin");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(clients).chain(std::env::split_paths(&path));
    std::env::join_paths(paths).expect("no colon in a path")
}

impl TestApp {
    /// Runs commands that begin with the stack's variables in the root of the clone, with more variables, and
    /// returns what they print.
    ///
    /// # Panics
    /// If a command fails.
    pub async fn run(&self, commands: &str, variables: &[(&str, &str)]) -> String {
        let commands = commands
            .strip_prefix(". .stack/env\n")
            .expect("the page begins with the stack's variables");
        let mut bash = Command::new("bash");
        bash.args(["-euo", "pipefail", "-c", commands])
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
            .env("PATH", path_with_clients())
            .envs(self.shell_variables())
            .envs(variables.iter().copied());
        let run = tokio::task::spawn_blocking(move || bash.output());
        let output = run.await.expect("no panic").expect("bash runs");
        let printed = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{printed}{errors}");
        printed.into_owned()
    }
}
