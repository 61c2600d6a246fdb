//! The command line `cargo stack <command>`: one module a command, and what they share.

mod cargo;
mod clients;
mod exec;
mod prepare;
mod reset;
mod signals;
mod summary;
mod test;
mod test_run;
mod up;

use std::process::{ExitCode, ExitStatus};

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::{
    environment::{Environment, EnvironmentOptions},
    ports::Ports,
    progress::Progress,
    servers::ServerOptions,
    workspace::Workspace,
};

/// Runs the whole product on this machine: Postgres, NATS, four services and the gateway.
#[derive(Debug, Parser)]
#[command(name = "cargo stack", bin_name = "cargo stack", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Build and start everything, show its logs, stop it with Ctrl-C.
    Up(up::UpArgs),
    /// Run all tests of the workspace against servers of their own.
    Test(test::TestArgs),
    /// Run a command with servers and a database that has every schema.
    Exec(exec::ExecArgs),
    /// Do what needs the network (servers, crates, packages), so that the rest works offline.
    Prepare(prepare::PrepareArgs),
    /// Throw away all data of this clone's stack; downloaded servers stay.
    Reset,
}

/// Runs the command of the process's arguments.
pub fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Up(args) => up::run(&args),
        Command::Test(_) => test::run(&std::env::args_os().skip(2).collect::<Vec<_>>()),
        Command::Exec(args) => exec::run(&args),
        Command::Prepare(args) => prepare::run(&args),
        Command::Reset => reset::run(),
    };
    result.unwrap_or_else(|error| {
        eprintln!("\nerror: {error:#}");
        ExitCode::FAILURE
    })
}

/// Opens the clone's directories, and prints why some are elsewhere.
fn open_workspace() -> Result<(Workspace, Progress)> {
    let (workspace, progress) = (Workspace::current()?, Progress::detect());
    for note in &workspace.notes {
        progress.line(&format!("note: {note}"));
    }
    Ok((workspace, progress))
}

/// Starts the servers of `cargo stack up` on the data of the last run.
fn start_environment(
    workspace: &Workspace,
    servers: &ServerOptions,
    progress: Progress,
) -> Result<Environment> {
    Environment::start(EnvironmentOptions {
        servers: servers.clone(),
        ports: Ports::saved_in(&workspace.state.join("ports.json")),
        progress,
        ..EnvironmentOptions::new(workspace.clone())
    })
}

/// Returns the exit code of a command that ran on our behalf.
fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}
