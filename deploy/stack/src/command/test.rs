//! `cargo stack test`: every test of the workspace, against servers of their own.

use std::ffi::OsString;
use std::process::{ExitCode, ExitStatus};

use anyhow::Result;
use clap::Args;
use stack::database;

use super::bed::TestBed;
use super::{Place, cargo, node, passed_on};

/// Options of `cargo stack test`.
#[derive(Debug, Args)]
#[command(override_usage = "cargo stack test [ARGUMENTS OF CARGO TEST]")]
pub(crate) struct TestArgs {
    /// Passed on to `cargo test --workspace`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

/// Runs the command with the arguments as they came: clap drops the `--` among them.
pub(crate) fn run(args: &[OsString]) -> Result<ExitCode> {
    let place = Place::find()?;
    node::install(&place.project.root, place.progress)?;
    let bed = TestBed::start(place)?;
    let status = build_and_test(&bed, args);
    bed.stop();
    Ok(passed_on(status?))
}

fn build_and_test(bed: &TestBed, args: &[OsString]) -> Result<ExitStatus> {
    const DATABASE: &str = "guerdon";
    database::ensure_database(&bed.postgres_url, DATABASE)?;
    let built = bed.build(&profile(args))?;
    if !built.success() {
        return Ok(built);
    }
    let mut test = cargo::cargo(&bed.place.project.root);
    test.args(["test", "--workspace"])
        .args(args)
        .env("SQLX_OFFLINE", "true");
    bed.run(&mut test, DATABASE)
}

/// The arguments that choose what is built, which the build before the tests must share.
fn profile(args: &[OsString]) -> Vec<OsString> {
    const FLAGS: [&str; 5] = ["--release", "-r", "--offline", "--locked", "--frozen"];
    let mut chosen = Vec::new();
    let mut args = args.iter().take_while(|arg| *arg != "--");
    while let Some(arg) = args.next() {
        let text = arg.to_string_lossy();
        if FLAGS.contains(&&*text) || text.starts_with("--profile=") {
            chosen.push(arg.clone());
        } else if text == "--profile" {
            chosen.push(arg.clone());
            chosen.extend(args.next().cloned());
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_build_shares_the_tests_profile() {
        let of = |args: &[&str]| profile(&args.iter().map(OsString::from).collect::<Vec<_>>());
        let args = ["--test", "e2e", "--release", "--", "--profile", "x"];
        assert_eq!(of(&args), ["--release"]);
        assert_eq!(of(&["--profile", "bench", "name"]), ["--profile", "bench"]);
        assert!(of(&["--lib"]).is_empty());
    }
}
