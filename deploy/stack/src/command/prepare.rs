//! `cargo stack prepare`: everything that needs the network, so that the rest works offline.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use stack::ports::Ports;
use stack::secrets::Secrets;

use super::lock::Lock;
use super::servers::{ServerArgs, Servers, Wish};
use super::{Place, cargo, node};

/// Options of `cargo stack prepare`.
#[derive(Debug, Args)]
pub(crate) struct PrepareArgs {
    #[command(flatten)]
    servers: ServerArgs,
}

/// Runs the command.
pub(crate) fn run(args: &PrepareArgs) -> Result<ExitCode> {
    let place = Place::find()?;
    let state = &place.dirs.state;
    let _lock = Lock::take(&state.join("up.lock"), "The stack")?;
    cargo::run(cargo::cargo(&place.project.root).args(["fetch", "--locked"]))?;
    node::install(&place.project.root, place.progress)?;
    let secrets = Secrets::kept_in(&state.join("secrets"))?;
    let mut ports = Ports::kept_in(&state.join("ports.json"));
    let password = Some(secrets.database_password);
    let wish = Wish {
        dirs: &place.dirs,
        password,
        durable: true,
    };
    Servers::start(&place, &args.servers, &wish, &mut ports)?;
    place
        .progress
        .tell("Ready: `cargo stack up` and `cargo stack test` need no network now.");
    Ok(ExitCode::SUCCESS)
}
