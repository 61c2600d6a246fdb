//! Programs that measure a stack. They print figures; what must hold whatever the machine, such as
//! clean books, they fail on.

mod bed;
mod catalogue;
mod debits;
mod idle;
mod ledger;
mod lists;
mod machine;
mod rpc;

use clap::{Args, Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(about = "Measures a stack of its own; build it with --release first")]
struct Arguments {
    #[command(subcommand)]
    program: Program,
}

#[derive(Debug, Subcommand)]
enum Program {
    /// Time from start to ready with existing data, and what the idle processes hold in memory;
    /// run it as `cargo stack exec -- cargo run --release --bin load -- idle`.
    Idle,
    /// How fast something is.
    #[command(subcommand)]
    Bench(Bench),
    /// 400 debits of 1.00 at once on a wallet with 100.00: exactly 100 are confirmed.
    Debits(debits::Arguments),
    /// Data that a benchmark needs, kept between runs.
    #[command(subcommand)]
    Seed(Seed),
}

#[derive(Debug, Subcommand)]
enum Bench {
    /// Transfers a second through gRPC, beside one transfer per transaction in PL/pgSQL.
    Ledger(ledger::Arguments),
    /// Imports, an export with the gateway's memory, and page 1 of 100 000 products.
    Catalogue(Server),
    /// What lists of transactions cost in Postgres; needs `seed transactions`.
    Lists(Server),
}

#[derive(Debug, Subcommand)]
enum Seed {
    /// Transactions for `bench lists`.
    Transactions(lists::SeedArguments),
}

/// Programs that are not found where others are.
#[derive(Debug, Clone, Args)]
struct Server {
    /// The NATS server's executable, where it is not to be looked for.
    #[arg(long, env = "STACK_NATS_SERVER")]
    nats_server: Option<std::path::PathBuf>,
}

fn main() -> anyhow::Result<()> {
    let program = Arguments::parse().program;
    if cfg!(debug_assertions) {
        eprintln!("This is a debug build: its figures mean nothing.");
    }
    // The load generator shares the machine with what it measures: one thread wakes up less.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    match program {
        Program::Idle => idle::run(),
        Program::Bench(Bench::Ledger(arguments)) => runtime.block_on(ledger::run(arguments)),
        Program::Bench(Bench::Catalogue(server)) => runtime.block_on(catalogue::run(server)),
        Program::Bench(Bench::Lists(server)) => runtime.block_on(lists::run(server)),
        Program::Debits(arguments) => runtime.block_on(debits::run(arguments)),
        Program::Seed(Seed::Transactions(arguments)) => runtime.block_on(lists::seed(arguments)),
    }
}
