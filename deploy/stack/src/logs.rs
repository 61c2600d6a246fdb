//! The output of the processes: the last lines in memory, everything in a file, and on request on
//! the terminal with a coloured prefix.

use std::{
    collections::VecDeque,
    fs::{self, File, OpenOptions},
    io::{self, BufRead as _, BufReader, Read, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use anyhow::{Context as _, Result};

use crate::service::programs;

const MAX_TAIL_LINES: usize = 400;

/// The output of one process.
#[derive(Debug)]
pub(crate) struct Log {
    file: Mutex<File>,
    tail: Mutex<VecDeque<String>>,
    terminal: Option<(Arc<Terminal>, String)>,
}

impl Log {
    /// Appends to `<dir>/<name>.log`, which only we may read: it may quote addresses and data. With a terminal, also shows every line there.
    pub(crate) fn open(
        dir: &Path,
        name: &str,
        terminal: Option<&Arc<Terminal>>,
    ) -> Result<Arc<Self>> {
        fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
        let path = dir.join(format!("{name}.log"));
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(&path)
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Arc::new(Self {
            file: Mutex::new(file),
            tail: Mutex::default(),
            terminal: terminal.map(|it| (Arc::clone(it), it.prefix(name))),
        }))
    }

    /// Returns the last lines, indented, for an error message.
    pub(crate) fn last_lines(&self, count: usize) -> String {
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let skipped = tail.len().saturating_sub(count);
        let lines = tail.iter().skip(skipped);
        let lines: Vec<_> = lines.map(|line| format!("    {line}\n")).collect();
        lines.concat()
    }

    /// Reads lines from `source` until its end.
    pub(crate) fn follow(&self, source: impl Read) {
        let mut source = BufReader::new(source);
        let mut line = Vec::new();
        while source.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
            self.add(String::from_utf8_lossy(&line).trim_end());
            line.clear();
        }
    }

    fn add(&self, line: &str) {
        // A full disk must not stop the process that writes into our pipe.
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = writeln!(file, "{line}");
        drop(file);
        let mut tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        if tail.len() == MAX_TAIL_LINES {
            tail.pop_front();
        }
        tail.push_back(line.to_owned());
        drop(tail);
        if let Some((terminal, prefix)) = &self.terminal {
            terminal.show(prefix, line);
        }
    }
}

/// The terminal (or pipe) that all processes share.
#[derive(Debug)]
pub(crate) struct Terminal {
    colours: bool,
    open: AtomicBool,
}

impl Terminal {
    /// Shows nothing before [`Terminal::open`]: the summary comes first, in one piece.
    pub(crate) fn new(colours: bool) -> Arc<Self> {
        let open = AtomicBool::new(false);
        Arc::new(Self { colours, open })
    }

    /// Shows lines from now on.
    pub(crate) fn open(&self) {
        self.open.store(true, Ordering::Relaxed);
    }

    /// Returns the name padded to one width. A replica has the colour of its service.
    fn prefix(&self, name: &str) -> String {
        const PALETTE: [u8; 6] = [36, 33, 32, 35, 34, 31];
        let width = programs().map(str::len).max().unwrap_or_default();
        if !self.colours {
            return format!("{name:<width$} | ");
        }
        let index = programs().position(|program| name.starts_with(program));
        let colour = PALETTE[index.unwrap_or(PALETTE.len() - 1)];
        format!("\x1b[{colour}m{name:<width$} |\x1b[0m ")
    }

    fn show(&self, prefix: &str, line: &str) {
        if self.open.load(Ordering::Relaxed) {
            // One write a line: lines don't mix. A closed terminal is not an error.
            let _ = io::stdout().write_all(format!("{prefix}{line}\n").as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn prefixes_have_one_width() {
        let terminal = Terminal::new(false);
        assert_eq!(terminal.prefix("gateway"), "gateway      | ");
        assert_eq!(terminal.prefix("identity-svc"), "identity-svc | ");
    }

    #[test]
    fn each_service_has_its_own_colour() {
        let terminal = Terminal::new(true);
        let colour = |name| terminal.prefix(name)[..5].to_owned();
        assert_eq!(colour("wallet-svc"), colour("wallet-svc-2"));
        let mut all: Vec<_> = programs().chain(["other"]).map(colour).collect();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 6);
    }

    #[test]
    fn the_last_lines_are_kept_and_the_file_has_all() {
        let dir = std::env::temp_dir().join(format!("stack-logs-{}", std::process::id()));
        let log = Log::open(&dir, "x", None).unwrap();
        let lines: Vec<_> = (0..MAX_TAIL_LINES + 2)
            .map(|n| format!("line {n}\n"))
            .collect();
        let text = lines.concat();
        log.follow(text.as_bytes());
        assert_eq!(log.last_lines(2), "    line 400\n    line 401\n");
        assert_eq!(fs::read_to_string(dir.join("x.log")).unwrap(), text);
        let mode = fs::metadata(dir.join("x.log"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        fs::remove_dir_all(dir).unwrap();
    }
}
