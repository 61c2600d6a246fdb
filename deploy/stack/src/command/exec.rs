//! `cargo stack exec -- <command>`: a command that needs a database with every schema in it, such as
//! the check of the SQL queries.

use std::{
    ffi::OsString,
    process::{Command, ExitCode},
};

use anyhow::Result;
use clap::Args;

use super::{cargo, exit_code, open_workspace, test_run::TestRun};
use crate::{options::StackOptions, stack::Stack};

#[derive(Debug, Args)]
pub(super) struct ExecArgs {
    /// The command; it finds a superuser's `DATABASE_URL` and `NATS_URL` in its environment.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

pub(super) fn run(args: &ExecArgs) -> Result<ExitCode> {
    let (workspace, progress) = open_workspace()?;
    let (run, environment) = TestRun::start(&workspace, progress)?;
    let built = run.build(&[])?;
    if !built.success() {
        return Ok(exit_code(built));
    }
    let binaries = cargo::target_directory(&workspace.root)?.join("debug");
    // A new database: the migrations of this branch may differ from those of the last run.
    let stack = Stack::without_processes(StackOptions::new(binaries, environment))?;
    let mut command = Command::new(&args.command[0]);
    cargo::forget_cargo_run(command.args(&args.command[1..]));
    let status = run.execute(&mut command, stack.environment(), &stack.wiring().database)?;
    Ok(exit_code(status))
}
