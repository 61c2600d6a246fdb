//! `load walk`: random actions on orders, compared with a model.

use clap::Args;
use scenarios::walk;

use crate::{
    Server,
    environment::{Environment, Options},
};

/// Options of `load walk`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Number of steps.
    #[arg(long, default_value_t = 2_000)]
    steps: u32,
    /// The steps are the same for the same seed; without it, they are random.
    #[arg(long)]
    seed: Option<u64>,
    #[command(flatten)]
    server: Server,
}

/// Prints the seed and what was answered, and fails if an answer was not that of the model.
pub async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let seed = arguments.seed.unwrap_or_else(rand::random);
    println!("seed {seed}");
    let mut options = Options::new("walk", arguments.server);
    options.settings = walk::settings();
    let environment = Environment::start_empty(options)?;
    let report = walk::run(&environment.stack, arguments.steps, seed).await?;
    print!("{report}");
    environment.stop()
}
