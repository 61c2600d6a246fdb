//! Programs that measure a stack. They print figures, and fail on what must hold on every machine,
//! such as a consistent ledger.

mod api;
mod catalogue;
mod cost;
mod debits;
mod edge;
mod environment;
mod failover;
mod fixture;
mod growth;
mod heavy_page;
mod idle;
mod kills;
mod latency;
mod ledger;
mod lists;
mod machine;
mod outage;
mod output;
mod passwords;
mod plot;
mod product_read;
mod races;
mod rest;
mod revocations;
mod rollout;
mod rpc;
mod starts;
mod table;
mod target;
mod tracing;
mod wal;
mod walk;
mod webhooks;

use clap::{Args, Parser, Subcommand};

use self::rest::Benchmark;

#[derive(Debug, Parser)]
#[command(about = "Measures a stack of its own; build it with --release first")]
struct Arguments {
    #[command(subcommand)]
    program: Program,
}

#[derive(Debug, Subcommand)]
enum Program {
    /// Time from start to ready with existing data, and the memory of idle processes.
    Idle(Server),
    /// Benchmarks.
    #[command(subcommand)]
    Bench(Bench),
    /// 400 concurrent debits of 1.00 on a wallet with 100.00: exactly 100 are confirmed.
    Debits(debits::Arguments),
    /// 200 payments a second while wallet-svc is stopped for 30 s: all end within 60 s of its return.
    Outage(outage::Arguments),
    /// Orders while the node of NATS that leads their stream is killed: no event is lost.
    Failover(failover::Arguments),
    /// Every process restarted while clients send requests, twice: at most one of a thousand requests fails.
    Rollout(rollout::Arguments),
    /// 200 blocks of a user: its token is refused at gateways and services within a second.
    Revocations(revocations::Arguments),
    /// 1000 wrong passwords against one account: others are not slowed down and log in; and an unknown
    /// email takes as long as a wrong password.
    Passwords(passwords::Arguments),
    /// 10 000 events to 10 webhooks, one of which is dead and one slow, with a kill -9 of identity-svc:
    /// the others wait for neither, and nothing is lost.
    Webhooks(webhooks::Arguments),
    /// Two actions on one order at the same time, through different processes: only ends that one of them
    /// after the other would lead to.
    Races(races::Arguments),
    /// A kill -9 at each failpoint of each saga: one effect, within a minute. Needs a debug build.
    Kills(kills::Arguments),
    /// Random actions on orders while the catalogue changes: every answer is that of a model.
    Walk(walk::Arguments),
    /// Starts on busy ports: every one of them succeeds; run it as
    /// `cargo stack exec -- target/debug/load starts`.
    Starts(starts::Arguments),
    /// The server that `bench edge` compares with.
    #[command(hide = true)]
    Hello,
    /// Creates the data of a benchmark, kept between runs.
    #[command(subcommand)]
    Seed(Seed),
}

#[derive(Debug, Subcommand)]
enum Bench {
    /// Transfers a second through gRPC, compared with one transfer per transaction in PL/pgSQL.
    Ledger(ledger::Arguments),
    /// The cost of transfers and reads, and the disk, of a ledger whose history grows.
    Growth(growth::Arguments),
    /// Imports, an export with the gateway's memory, and page 1 of 100 000 products.
    Catalogue(Server),
    /// Pages of 100 orders with 200 lines each, and the memory of the processes that answer them.
    HeavyPage(Server),
    /// Orders that are created and paid in one request, beside reads of a product.
    Checkout(rest::Arguments),
    /// Pages of 30 of 3 000 products, beside reads of a product.
    ProductList(rest::Arguments),
    /// Reads of a product.
    ProductRead(rest::Arguments),
    /// 60 % reads of a product, 25 % pages of products, 10 % orders created and paid, 5 % reads of an order.
    Mixed(rest::Arguments),
    /// The CPU time of a read through REST, over gRPC, and of a hello world.
    Edge(Server),
    /// The CPU time of a read on a stack that exports traces, and on one that does not.
    Tracing(tracing::Arguments),
    /// The cost of transaction lists in Postgres; needs `seed transactions`.
    Lists(Server),
}

#[derive(Debug, Subcommand)]
enum Seed {
    /// Transactions for `bench lists`.
    Transactions(lists::SeedArguments),
}

/// Server programs in unusual places.
#[derive(Debug, Clone, Args)]
struct Server {
    /// The nats-server executable; without it, it is searched for.
    #[arg(long, env = "STACK_NATS_SERVER")]
    nats_server: Option<std::path::PathBuf>,
}

impl Program {
    /// Returns whether it prints figures that depend on the speed of the build.
    const fn measures(&self) -> bool {
        !matches!(
            self,
            Self::Starts(_)
                | Self::Hello
                | Self::Races(_)
                | Self::Kills(_)
                | Self::Walk(_)
                | Self::Failover(_)
        )
    }
}

fn main() -> anyhow::Result<()> {
    let program = Arguments::parse().program;
    if cfg!(debug_assertions) && program.measures() {
        eprintln!("This is a debug build: its figures mean nothing.");
    }
    // The load generator shares the machine with the stack: one thread wakes up less.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    match program {
        Program::Idle(server) => idle::run(&server),
        Program::Bench(Bench::Ledger(arguments)) => runtime.block_on(ledger::run(arguments)),
        Program::Bench(Bench::Growth(arguments)) => runtime.block_on(growth::run(arguments)),
        Program::Bench(Bench::Catalogue(server)) => runtime.block_on(catalogue::run(server)),
        Program::Bench(Bench::HeavyPage(server)) => runtime.block_on(heavy_page::run(server)),
        Program::Bench(Bench::Edge(server)) => runtime.block_on(edge::run(server)),
        Program::Bench(Bench::Tracing(arguments)) => runtime.block_on(tracing::run(arguments)),
        Program::Bench(Bench::Checkout(arguments)) => {
            runtime.block_on(rest::run(Benchmark::Checkout, arguments))
        }
        Program::Bench(Bench::ProductList(arguments)) => {
            runtime.block_on(rest::run(Benchmark::ProductList, arguments))
        }
        Program::Bench(Bench::ProductRead(arguments)) => {
            runtime.block_on(rest::run(Benchmark::ProductRead, arguments))
        }
        Program::Bench(Bench::Mixed(arguments)) => {
            runtime.block_on(rest::run(Benchmark::Mixed, arguments))
        }
        Program::Hello => runtime.block_on(edge::hello()),
        Program::Bench(Bench::Lists(server)) => runtime.block_on(lists::run(server)),
        Program::Starts(arguments) => starts::run(&arguments),
        Program::Outage(arguments) => runtime.block_on(outage::run(arguments)),
        Program::Failover(arguments) => runtime.block_on(failover::run(arguments)),
        Program::Rollout(arguments) => runtime.block_on(rollout::run(arguments)),
        Program::Revocations(arguments) => runtime.block_on(revocations::run(arguments)),
        Program::Passwords(arguments) => runtime.block_on(passwords::run(arguments)),
        Program::Races(arguments) => runtime.block_on(races::run(arguments)),
        Program::Kills(arguments) => runtime.block_on(kills::run(arguments)),
        Program::Walk(arguments) => runtime.block_on(walk::run(arguments)),
        Program::Debits(arguments) => runtime.block_on(debits::run(arguments)),
        Program::Webhooks(arguments) => runtime.block_on(webhooks::run(arguments)),
        Program::Seed(Seed::Transactions(arguments)) => runtime.block_on(lists::seed(arguments)),
    }
}
