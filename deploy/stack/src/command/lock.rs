//! One stack a clone: the second finds out who the first is.

use std::fs::{self, File, OpenOptions};
use std::path::Path;

use anyhow::{Context, Result, bail};

/// Held as long as the command runs; the kernel lets go of it when we die.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock in `file`; `what` runs otherwise.
    pub(super) fn take(file: &Path, what: &str) -> Result<Self> {
        let opened = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(file);
        let opened = opened.with_context(|| format!("{} can't be opened", file.display()))?;
        if opened.try_lock().is_err() {
            let pid = fs::read_to_string(file).unwrap_or_default();
            let pid = pid.trim();
            bail!(
                "{what} of this clone is running already (pid {pid}): \
                 stop it with Ctrl-C there, or with `kill {pid}`"
            );
        }
        fs::write(file, format!("{}\n", std::process::id()))?;
        Ok(Self { _file: opened })
    }
}
