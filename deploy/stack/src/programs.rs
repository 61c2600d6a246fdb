//! The five executables: where they are, and the runs of them that end, the migrations.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, Result, bail, ensure};

use crate::service::Service;
use crate::wiring::Wiring;

/// The executable called `name`.
pub(crate) fn find(binaries: &Path, name: &str) -> Result<PathBuf> {
    let program = binaries.join(name);
    ensure!(
        program.is_file(),
        "{} is missing: `cargo build --workspace --bins`",
        program.display()
    );
    Ok(program)
}

/// Brings every schema up to date, each as its owner, all at the same time.
pub fn migrate(binaries: &Path, wiring: &Wiring) -> Result<()> {
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
        .envs(wiring.migration_environment(wiring.instance(name)?, service)?)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("{name} can't be started"))?;
    let said = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
    ensure!(
        output.status.success(),
        "{name} migrate: {}\n{}",
        output.status,
        said.trim()
    );
    Ok(())
}
