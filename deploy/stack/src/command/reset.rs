//! `cargo stack reset`: an empty stack again.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};

use super::Place;
use super::leftovers::Leftovers;
use super::lock::Lock;

/// Downloads stay, and the lock that we hold.
const KEPT: [&str; 2] = ["cache", "up.lock"];

/// Runs the command.
pub(crate) fn run() -> Result<ExitCode> {
    let place = Place::find()?;
    let _lock = Lock::take(&place.dirs.state.join("up.lock"), "The stack")?;
    let tests = place.dirs.apart("test")?;
    let _tests_lock = Lock::take(&tests.state.join("test.lock"), "A test run")?;
    Leftovers::clear(place.dirs.state.join("up.pids"));
    Leftovers::clear(tests.state.join("test.pids"));
    empty(&place.dirs.state)?;
    empty(&place.dirs.servers)?;
    place
        .progress
        .tell("All data of this clone's stack is gone; the next `up` starts afresh.");
    Ok(ExitCode::SUCCESS)
}

fn empty(dir: &Path) -> Result<()> {
    for entry in fs::read_dir(dir).with_context(|| format!("{} can't be read", dir.display()))? {
        let entry = entry?;
        if KEPT.iter().any(|kept| entry.file_name() == *kept) {
            continue;
        }
        let path = entry.path();
        let is_dir = entry.file_type()?.is_dir();
        let gone = if is_dir {
            fs::remove_dir_all(&path)
        } else {
            fs::remove_file(&path)
        };
        gone.with_context(|| format!("{} can't be removed", path.display()))?;
    }
    Ok(())
}
