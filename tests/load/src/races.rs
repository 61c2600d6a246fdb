//! `load races`: two actions on one order at the same time.

use clap::Args;
use scenarios::races;

use crate::{
    Server,
    environment::{Environment, Options},
};

/// Options of `load races`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Rounds of each pair.
    #[arg(long, default_value_t = 200)]
    rounds: u32,
    #[command(flatten)]
    server: Server,
}

/// Prints how the rounds ended, and fails if one ended as it must not.
pub async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let mut environment = Environment::start_empty(Options {
        replicas: races::replicas(),
        ..Options::new("races", arguments.server)
    })?;
    let outcomes = races::run(&mut environment.stack, arguments.rounds).await?;
    for outcome in &outcomes {
        print!("{outcome}");
    }
    races::ensure_correct(&outcomes)?;
    environment.stop()
}
