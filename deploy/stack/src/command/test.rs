//! `cargo stack test`: every test of the workspace, against servers of their own.

use std::{ffi::OsString, fs, process::ExitCode};

use anyhow::Result;
use clap::Args;

use super::{cargo, clients, exit_code, open_workspace, test_run::TestRun};

const DATABASE: &str = "guerdon";

#[derive(Debug, Args)]
#[command(override_usage = "cargo stack test [ARGUMENTS OF CARGO TEST]")]
pub(super) struct TestArgs {
    /// Passed on to `cargo test`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

/// Runs the command with the arguments as given: clap drops the `--` among them.
pub(super) fn run(args: &[OsString]) -> Result<ExitCode> {
    let (workspace, progress) = open_workspace()?;
    clients::install(&workspace.root, progress);
    let (run, environment) = TestRun::start(&workspace, progress)?;
    environment.ensure_test_database(DATABASE)?;
    let built = run.build(&profile(args))?;
    if !built.success() {
        return Ok(exit_code(built));
    }
    let skipped = environment.directory().join("skipped");
    let _ = fs::remove_file(&skipped);
    let mut test = cargo::cargo(&workspace.root);
    test.args(["test", "--locked"])
        .args(unlocked(args))
        .env("SQLX_OFFLINE", "true")
        .env("STACK_SKIPPED_TESTS", &skipped);
    let status = run.execute(&mut test, &environment, DATABASE)?;
    let skipped = fs::read_to_string(&skipped).unwrap_or_default();
    progress.line(&skipped_summary(&skipped));
    Ok(exit_code(status))
}

/// Formats the reports of skipped tests, one a line.
fn skipped_summary(reports: &str) -> String {
    let tests: Vec<_> = reports.lines().map(|test| format!("\n  {test}")).collect();
    format!("\nskipped tests: {}{}", tests.len(), tests.concat())
}

/// Returns the arguments without `--locked`, which cargo takes once: it is always given.
fn unlocked(args: &[OsString]) -> impl Iterator<Item = &OsString> {
    let end = args.iter().position(|arg| arg == "--");
    let (ours, theirs) = args.split_at(end.unwrap_or(args.len()));
    let ours = ours.iter().filter(|arg| *arg != "--locked");
    ours.chain(theirs)
}

/// Selects the arguments that the build before the tests must share.
fn profile(args: &[OsString]) -> Vec<OsString> {
    const FLAGS: [&str; 5] = ["--release", "-r", "--offline", "--locked", "--frozen"];
    let mut selected = Vec::new();
    let mut args = args.iter().take_while(|arg| *arg != "--");
    while let Some(arg) = args.next() {
        let text = arg.to_string_lossy();
        if FLAGS.contains(&&*text) || text.starts_with("--profile=") {
            selected.push(arg.clone());
        } else if text == "--profile" {
            selected.push(arg.clone());
            selected.extend(args.next().cloned());
        }
    }
    selected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_tests_are_counted_and_listed() {
        assert_eq!(skipped_summary(""), "\nskipped tests: 0");
        let summary = "\nskipped tests: 2\n  a: no node\n  b: no network";
        assert_eq!(skipped_summary("a: no node\nb: no network\n"), summary);
    }

    #[test]
    fn the_lock_file_is_never_rewritten() {
        let args = ["--locked", "-p", "stack", "--", "--locked"].map(OsString::from);
        let passed: Vec<_> = unlocked(&args).collect();
        assert_eq!(passed, ["-p", "stack", "--", "--locked"]);
    }

    #[test]
    fn the_build_shares_the_profile_of_the_tests() {
        let of = |args: &[&str]| profile(&args.iter().map(OsString::from).collect::<Vec<_>>());
        let args = ["--test", "e2e", "--release", "--", "--profile", "x"];
        assert_eq!(of(&args), ["--release"]);
        assert_eq!(of(&["--profile", "bench", "name"]), ["--profile", "bench"]);
        assert!(of(&["--lib"]).is_empty());
    }
}
