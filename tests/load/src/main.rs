//! Programs that measure a stack. They print figures and assert nothing about time.

mod idle;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(
    about = "Measures a stack; run it as `cargo stack exec -- cargo run --release --bin load`"
)]
struct Arguments {
    #[command(subcommand)]
    program: Program,
}

#[derive(Debug, Subcommand)]
enum Program {
    /// Time from start to ready with existing data, and what the idle processes hold in memory.
    Idle,
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().program {
        Program::Idle => idle::run(),
    }
}
