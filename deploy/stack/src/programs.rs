//! The five executables: where they are, and their `migrate` command.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
};

use anyhow::{Context as _, Result, bail, ensure};

use crate::{service::Service, wiring::Wiring};

/// Returns the path of the executable called `name`.
pub(crate) fn find(binaries: &Path, name: &str) -> Result<PathBuf> {
    let program = binaries.join(name);
    ensure!(
        program.is_file(),
        "{} is missing: run `cargo build --workspace --bins`",
        program.display()
    );
    Ok(program)
}

/// Migrates every schema, each as its owner, concurrently.
pub(crate) fn migrate(binaries: &Path, wiring: &Wiring) -> Result<()> {
    thread::scope(|scope| {
        let runs =
            Service::ALL.map(|service| scope.spawn(move || migrate_one(binaries, wiring, service)));
        runs.into_iter()
            .try_for_each(|run| run.join().unwrap_or_else(|_| bail!("a migration panicked")))
    })
}

fn migrate_one(binaries: &Path, wiring: &Wiring, service: Service) -> Result<()> {
    let name = service.program();
    let output = Command::new(find(binaries, name)?)
        .arg("migrate")
        .envs(wiring.migration_environment(service)?)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {name}"))?;
    let text = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
    ensure!(
        output.status.success(),
        "{name} migrate: {}\n{}",
        output.status,
        text.trim()
    );
    Ok(())
}
