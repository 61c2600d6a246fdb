//! The command line of the local stack: `cargo stack <command>`.

mod command;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Runs the whole product on this machine: Postgres, NATS, four services and the gateway.
#[derive(Debug, Parser)]
#[command(name = "cargo stack", bin_name = "cargo stack", version)]
struct Cli {
    #[command(subcommand)]
    command: Commands,
}

#[derive(Debug, Subcommand)]
enum Commands {
    /// Build and start everything, show its logs, stop it with Ctrl-C.
    Up(command::up::UpArgs),
    /// Run all tests of the workspace against servers of their own.
    Test(command::test::TestArgs),
    /// Run a command with servers and a database that has every schema.
    Exec(command::exec::ExecArgs),
    /// Do what needs the network (servers, crates, packages), so that the rest works offline.
    Prepare(command::prepare::PrepareArgs),
    /// Throw away all data of this clone's stack; downloaded servers stay.
    Reset,
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Commands::Up(args) => command::up::run(&args),
        Commands::Test(_) => command::test::run(&std::env::args_os().skip(2).collect::<Vec<_>>()),
        Commands::Exec(args) => command::exec::run(&args),
        Commands::Prepare(args) => command::prepare::run(&args),
        Commands::Reset => command::reset::run(),
    };
    done.unwrap_or_else(|error| {
        eprintln!("\nerror: {error:#}");
        ExitCode::FAILURE
    })
}
