//! One run at a time in a directory of state. The next run finds out who the first is, and ends the
//! processes of a run that was killed before it could stop them.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use rustix::process::Signal;

use crate::process::{poll, signal};

/// Held for the length of a run; the kernel releases it when we die.
#[derive(Debug)]
pub struct RunLock {
    _file: File,
    pids: PathBuf,
}

impl RunLock {
    /// Takes the lock of `dir`; the error says that `what` is running already.
    pub fn take(dir: &Path, what: &str) -> Result<Self> {
        let path = dir.join("lock");
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .with_context(|| format!("cannot open {}", path.display()))?;
        if file.try_lock().is_err() {
            let pid = fs::read_to_string(&path).unwrap_or_default();
            let pid = pid.trim();
            bail!(
                "{what} of this clone is running already (pid {pid}): \
                 stop it with Ctrl-C there, or with `kill {pid}`"
            );
        }
        fs::write(&path, format!("{}\n", std::process::id()))?;
        let pids = dir.join("pids");
        end_leftovers(&pids);
        Ok(Self { _file: file, pids })
    }

    /// Records the processes that the next run has to end if this one is killed. `setpriv` makes the
    /// kernel end them; the record is for machines without it and for slow processes.
    pub fn record(&self, processes: &BTreeMap<String, u32>) -> Result<()> {
        let lines: Vec<String> = processes
            .values()
            .filter_map(|pid| Some(format!("{pid} {}\n", start_time(*pid)?)))
            .collect();
        fs::write(&self.pids, lines.concat())
            .with_context(|| format!("cannot write {}", self.pids.display()))
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.pids);
    }
}

/// Ends the processes that the file lists and that still run.
fn end_leftovers(file: &Path) {
    let list = fs::read_to_string(file).unwrap_or_default();
    let is_alive = |(pid, start): &(u32, u64)| start_time(*pid) == Some(*start);
    let leftovers: Vec<(u32, u64)> = list.lines().filter_map(parse).filter(is_alive).collect();
    let all_ended = || (!leftovers.iter().any(is_alive)).then_some(());
    // For Postgres, SIGTERM waits until every client has left; SIGINT does not.
    for (name, seconds) in [(Signal::TERM, 3), (Signal::INT, 20), (Signal::KILL, 5)] {
        if all_ended().is_none() {
            for (pid, _) in &leftovers {
                signal(*pid, name);
            }
            let _ = poll(Duration::from_secs(seconds), all_ended);
        }
    }
    let _ = fs::remove_file(file);
}

fn parse(line: &str) -> Option<(u32, u64)> {
    let (pid, start) = line.split_once(' ')?;
    Some((pid.parse().ok()?, start.parse().ok()?))
}

/// Returns when a process started, in the kernel's ticks: distinguishes it from a later process with
/// the same id.
fn start_time(pid: u32) -> Option<u64> {
    parse_start_time(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

fn parse_start_time(stat: &str) -> Option<u64> {
    // The name in parentheses may hold blanks and parentheses itself. A zombie counts as ended.
    let (_, rest) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split(' ').collect();
    if fields.first() == Some(&"Z") {
        return None;
    }
    fields.get(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory(name: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("stack-{name}-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        dir
    }

    #[test]
    fn start_times_are_read_behind_names_with_parentheses() {
        let stat = "42 (a (b) c) S 1 42 42 0 -1 419 100 0 0 0 1 2 0 0 20 0 1 0 987654 1000 10";
        assert_eq!(parse_start_time(stat), Some(987_654));
        assert_eq!(parse_start_time(&stat.replace(") S", ") Z")), None);
    }

    #[test]
    fn a_later_process_with_the_same_id_is_not_ended() {
        let dir = directory("leftovers");
        fs::write(dir.join("pids"), format!("{} 1\n", std::process::id())).unwrap();
        end_leftovers(&dir.join("pids"));
        assert!(!dir.join("pids").exists());
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn a_second_run_learns_the_pid_of_the_first() {
        let dir = directory("lock");
        let first = RunLock::take(&dir, "The stack").unwrap();
        let refused = RunLock::take(&dir, "The stack").unwrap_err().to_string();
        assert!(
            refused.contains(&format!("(pid {})", std::process::id())),
            "{refused}"
        );
        drop(first);
        RunLock::take(&dir, "The stack").unwrap();
        fs::remove_dir_all(dir).unwrap();
    }
}
