//! What the processes print: the last lines kept in memory, all of it in a file, and, when
//! wanted, shown with a coloured prefix.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};

const KEPT_LINES: usize = 400;

/// The output of one process, across its restarts.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    file: Mutex<File>,
    tail: Mutex<VecDeque<String>>,
    shown: Option<(Arc<Screen>, String)>,
}

impl Log {
    /// Adds to `<dir>/<name>.log`; with a screen, also shows every line there.
    pub fn open(dir: &Path, name: &str, screen: Option<&Arc<Screen>>) -> Result<Arc<Self>> {
        std::fs::create_dir_all(dir).with_context(|| format!("{} can't be made", dir.display()))?;
        let path = dir.join(format!("{name}.log"));
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let file = file.with_context(|| format!("{} can't be written", path.display()))?;
        let shown = screen.map(|screen| (Arc::clone(screen), screen.prefix(name)));
        Ok(Arc::new(Self {
            path,
            file: Mutex::new(file),
            tail: Mutex::default(),
            shown,
        }))
    }

    /// The file that holds all of it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The last lines, indented, for a message that says why a process failed.
    pub fn last_lines(&self, count: usize) -> String {
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.iter()
            .skip(tail.len().saturating_sub(count))
            .fold(String::new(), |mut text, line| {
                let _ = writeln!(text, "    {line}");
                text
            })
    }

    /// Takes in everything from `source` until its end.
    pub(crate) fn follow(&self, source: impl Read) {
        let mut source = BufReader::new(source);
        let mut line = Vec::new();
        while source
            .read_until(b'\n', &mut line)
            .is_ok_and(|read| read > 0)
        {
            self.take(String::from_utf8_lossy(&line).trim_end());
            line.clear();
        }
    }

    fn take(&self, line: &str) {
        // A full disk must not stop the process that writes into our pipe.
        let _ = writeln!(
            self.file.lock().unwrap_or_else(PoisonError::into_inner),
            "{line}"
        );
        let mut tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        if tail.len() == KEPT_LINES {
            tail.pop_front();
        }
        tail.push_back(line.to_owned());
        drop(tail);
        if let Some((screen, prefix)) = &self.shown {
            screen.show(prefix, line);
        }
    }
}

/// The terminal (or pipe) that all processes share.
#[derive(Debug)]
pub struct Screen {
    width: usize,
    colours: bool,
    open: AtomicBool,
}

impl Screen {
    /// Closed at first: lines before [`Screen::open`] go to the files only, so that they don't
    /// tear the summary apart.
    pub fn new(width: usize, colours: bool) -> Arc<Self> {
        Arc::new(Self {
            width,
            colours,
            open: AtomicBool::new(false),
        })
    }

    /// Shows lines from now on.
    pub fn open(&self) {
        self.open.store(true, Ordering::Relaxed);
    }

    fn prefix(&self, name: &str) -> String {
        prefix(name, self.width, self.colours)
    }

    fn show(&self, prefix: &str, line: &str) {
        if self.open.load(Ordering::Relaxed) {
            // One write a line, so that lines don't mix; a closed terminal is no reason to fail.
            let _ = io::stdout().write_all(format!("{prefix}{line}\n").as_bytes());
        }
    }
}

fn prefix(name: &str, width: usize, colours: bool) -> String {
    const PALETTE: [u8; 6] = [36, 33, 32, 35, 34, 31];
    if !colours {
        return format!("{name:<width$} | ");
    }
    let known = [
        "gateway",
        "catalog-svc",
        "orders-svc",
        "wallet-svc",
        "identity-svc",
    ];
    // A replica (wallet-svc-2) has the colour of its service.
    let place = known
        .iter()
        .position(|known| name.starts_with(known))
        .unwrap_or(known.len());
    format!("\x1b[{}m{name:<width$} |\x1b[0m ", PALETTE[place])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_line_up() {
        assert_eq!(prefix("gateway", 12, false), "gateway      | ");
        assert_eq!(prefix("identity-svc", 12, false), "identity-svc | ");
    }

    #[test]
    fn each_service_has_one_colour() {
        let colour = |name| prefix(name, 0, true)[..5].to_owned();
        assert_eq!(colour("wallet-svc"), colour("wallet-svc-2"));
        let mut all: Vec<_> = [
            "gateway",
            "catalog-svc",
            "orders-svc",
            "wallet-svc",
            "identity-svc",
            "other",
        ]
        .map(colour)
        .into();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 6);
    }

    #[test]
    fn keeps_the_last_lines_and_all_in_the_file() {
        let dir = std::env::temp_dir().join(format!("stack-logs-{}", std::process::id()));
        let log = Log::open(&dir, "x", None).unwrap();
        let lines: Vec<_> = (0..KEPT_LINES + 2).map(|n| format!("line {n}\n")).collect();
        let text = lines.concat();
        log.follow(text.as_bytes());
        assert_eq!(log.last_lines(2), "    line 400\n    line 401\n");
        assert_eq!(std::fs::read_to_string(log.path()).unwrap(), text);
        std::fs::remove_dir_all(dir).unwrap();
    }
}
