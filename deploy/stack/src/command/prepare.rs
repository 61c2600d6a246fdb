//! `cargo stack prepare`: everything that needs the network, so that the rest works offline.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use super::{cargo, clients, open_workspace, start_environment};
use crate::{run_lock::RunLock, servers::ServerOptions};

#[derive(Debug, Args)]
pub(super) struct PrepareArgs {
    #[command(flatten)]
    servers: ServerOptions,
}

pub(super) fn run(args: &PrepareArgs) -> Result<ExitCode> {
    let (workspace, progress) = open_workspace()?;
    let lock = RunLock::take(&workspace.state, "The stack")?;
    cargo::run(cargo::cargo(&workspace.root).args(["fetch", "--locked"]))?;
    clients::install(&workspace.root, progress);
    let environment = start_environment(&workspace, &args.servers, progress)?;
    lock.record(&environment.process_ids())?;
    drop(environment);
    progress.line("Ready: `cargo stack up` and `cargo stack test` need no network now.");
    Ok(ExitCode::SUCCESS)
}
