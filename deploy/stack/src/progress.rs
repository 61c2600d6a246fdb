//! Progress messages on standard error; none for tests.

use std::{
    io::{IsTerminal as _, Write as _, stderr},
    time::Instant,
};

use anyhow::{Context as _, Result};

/// Whether and how progress is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    Silent,
    /// A line at the start and one at the end of a step.
    Lines,
    /// One line, which changes at the end of the step.
    Terminal,
}

impl Progress {
    /// Chooses what suits standard error.
    pub(crate) fn detect() -> Self {
        if stderr().is_terminal() {
            Self::Terminal
        } else {
            Self::Lines
        }
    }

    /// Runs `work`, which also returns the line that is printed when it is done.
    pub(crate) fn step<T>(
        self,
        title: &str,
        work: impl FnOnce() -> Result<(T, String)>,
    ) -> Result<T> {
        let started = Instant::now();
        match self {
            Self::Silent => {}
            Self::Lines => self.line(&format!("  ..  {title}")),
            Self::Terminal => eprint!("  ..  {title}"),
        }
        let result = work();
        if self == Self::Terminal {
            eprint!("\r\x1b[K");
        }
        let (value, done) = result.with_context(|| format!("{title} failed"))?;
        let seconds = started.elapsed().as_secs_f64();
        self.line(&format!("  ok  {done} ({seconds:.1} s)"));
        Ok(value)
    }

    /// Prints a line.
    pub(crate) fn line(self, line: &str) {
        if self != Self::Silent {
            let _ = writeln!(stderr(), "{line}");
        }
    }
}
