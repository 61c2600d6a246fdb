//! `load kills`: a process is killed at each failpoint of each saga.

use anyhow::ensure;
use clap::Args;
use scenarios::kills;

use crate::{
    Server,
    environment::{Environment, Options},
};

/// Options of `load kills`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Kills at each failpoint.
    #[arg(long, default_value_t = 20)]
    runs: u32,
    #[command(flatten)]
    server: Server,
}

/// Prints when each saga had ended, and fails if one had not, or had several effects.
pub async fn run(arguments: Arguments) -> anyhow::Result<()> {
    ensure!(
        cfg!(debug_assertions),
        "a release build has no failpoints: use target/debug/load"
    );
    let environment = Environment::start_empty(Options::new("kills", arguments.server))?;
    let report = kills::run(&environment.stack, arguments.runs).await?;
    print!("{report}");
    environment.stop()
}
