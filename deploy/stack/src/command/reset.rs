//! `cargo stack reset`: removes all data of this clone's stack.

use std::{fs, path::Path, process::ExitCode};

use anyhow::{Context as _, Result};

use super::open_workspace;
use crate::run_lock::RunLock;

/// Downloads, and the lock that we hold.
const KEPT: [&str; 2] = ["cache", "lock"];

pub(super) fn run() -> Result<ExitCode> {
    let (workspace, progress) = open_workspace()?;
    let _up = RunLock::take(&workspace.state, "The stack")?;
    let _test = RunLock::take(&workspace.subdirectory("test")?.state, "A test run")?;
    let _load = RunLock::take(&workspace.subdirectory("load")?.state, "A load program")?;
    empty(&workspace.state)?;
    empty(&workspace.servers)?;
    progress.line("All data of this clone's stack is gone; the next `up` starts afresh.");
    Ok(ExitCode::SUCCESS)
}

fn empty(dir: &Path) -> Result<()> {
    for entry in fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))? {
        let entry = entry?;
        if KEPT.iter().any(|kept| entry.file_name() == *kept) {
            continue;
        }
        let path = entry.path();
        let removed = if entry.file_type()?.is_dir() {
            fs::remove_dir_all(&path)
        } else {
            fs::remove_file(&path)
        };
        removed.with_context(|| format!("cannot remove {}", path.display()))?;
    }
    Ok(())
}
