//! Processes of a stack that was killed before it could stop them. The kernel ends them where
//! `setpriv` exists; this is for where it does not, and for those that take their time.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::process::Signal;
use stack::process::{poll, signal};

/// The file that lists what runs.
#[derive(Debug)]
pub(super) struct Leftovers {
    file: PathBuf,
}

impl Leftovers {
    /// Ends what an earlier run's list names and still runs.
    pub(super) fn clear(file: PathBuf) -> Self {
        let list = fs::read_to_string(&file).unwrap_or_default();
        let listed = list.lines().filter_map(parse);
        let ours: Vec<(u32, u64)> = listed
            .filter(|(pid, start)| started(*pid) == Some(*start))
            .collect();
        let gone = || {
            ours.iter()
                .all(|(pid, start)| started(*pid) != Some(*start))
                .then_some(())
        };
        // Postgres takes SIGTERM as "when everybody has left", SIGINT as "now".
        for (wish, patience) in [(Signal::TERM, 3), (Signal::INT, 20), (Signal::KILL, 5)] {
            if gone().is_none() {
                for (pid, _) in &ours {
                    signal(*pid, wish);
                }
                let _ = poll(Duration::from_secs(patience), gone);
            }
        }
        let _ = fs::remove_file(&file);
        Self { file }
    }

    /// Lists what runs now.
    pub(super) fn note(&self, pids: impl IntoIterator<Item = u32>) -> Result<()> {
        let lines: Vec<String> = pids
            .into_iter()
            .filter_map(|pid| Some(format!("{pid} {}\n", started(pid)?)))
            .collect();
        fs::write(&self.file, lines.concat())
            .with_context(|| format!("{} can't be written", self.file.display()))
    }

    /// Nothing runs any more.
    pub(super) fn forget(&self) {
        let _ = fs::remove_file(&self.file);
    }
}

fn parse(line: &str) -> Option<(u32, u64)> {
    let (pid, start) = line.split_once(' ')?;
    Some((pid.parse().ok()?, start.parse().ok()?))
}

/// When a process started, in the kernel's ticks: tells it from a later one of the same id.
fn started(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")).ok()?;
    start_time(&stat)
}

fn start_time(stat: &str) -> Option<u64> {
    // The name in parentheses may hold blanks and parentheses itself; a zombie is gone for us.
    let (_, rest) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split(' ').collect();
    if fields.first() == Some(&"Z") {
        None
    } else {
        fields.get(19)?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_times_are_read_behind_odd_names() {
        let stat = "42 (a (b) c) S 1 42 42 0 -1 419 100 0 0 0 1 2 0 0 20 0 1 0 987654 1000 10";
        assert_eq!(start_time(stat), Some(987_654));
        assert_eq!(start_time(&stat.replace(") S", ") Z")), None);
    }

    #[test]
    fn a_later_process_of_the_same_id_is_spared() {
        let file = std::env::temp_dir().join(format!("stack-leftovers-{}", std::process::id()));
        fs::write(&file, format!("{} 1\n", std::process::id())).unwrap();
        Leftovers::clear(file.clone());
        assert!(!file.exists());
    }
}
