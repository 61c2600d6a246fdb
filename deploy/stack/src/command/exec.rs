//! `cargo stack exec -- <command>`: a command that needs a database with every schema in it,
//! such as the check of the SQL queries.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus};

use anyhow::Result;
use clap::Args;
use stack::{Broker, StackOptions, database, programs};

use super::bed::TestBed;
use super::{Place, cargo, passed_on};

/// Options of `cargo stack exec`.
#[derive(Debug, Args)]
pub(crate) struct ExecArgs {
    /// The command; it finds a superuser's `DATABASE_URL` and `NATS_URL` in its environment.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

/// Runs the command.
pub(crate) fn run(args: &ExecArgs) -> Result<ExitCode> {
    let bed = TestBed::start(Place::find()?)?;
    let status = build_and_run(&bed, &args.command);
    bed.stop();
    Ok(passed_on(status?))
}

fn build_and_run(bed: &TestBed, command: &[OsString]) -> Result<ExitStatus> {
    let built = bed.build(&[])?;
    if !built.success() {
        return Ok(built);
    }
    let binaries = cargo::target_directory(&bed.place.project.root)?.join("debug");
    let broker = Broker::Url(bed.nats_url());
    let url = bed.postgres_url.clone();
    // A new one each time: the migrations of this branch may differ from those of the last run.
    let mut options = StackOptions::new(binaries, url, broker, PathBuf::new());
    let wiring = options.wire(None)?;
    database::ensure_database(&bed.postgres_url, &wiring.database)?;
    let status = programs::migrate(&options.binaries, &wiring).and_then(|()| {
        bed.run(
            Command::new(&command[0]).args(&command[1..]),
            &wiring.database,
        )
    });
    database::drop_database(&bed.postgres_url, &wiring.database)?;
    status
}
