//! Tells a person what is going on: a spinner where there is a terminal, plain lines elsewhere,
//! nothing at all for tests.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};

/// Where progress is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Progress {
    /// Nowhere.
    #[default]
    Silent,
    /// On standard error, a line a step.
    Lines,
    /// On standard error, with a spinner for the step under way.
    Spinner,
}

impl Progress {
    /// What standard error is fit for.
    pub fn for_people() -> Self {
        if std::io::stderr().is_terminal() {
            Self::Spinner
        } else {
            Self::Lines
        }
    }

    /// Does `work` under the title `doing`; its answer says what there is now.
    pub fn step<T>(self, doing: &str, work: impl FnOnce() -> Result<(T, String)>) -> Result<T> {
        let started = Instant::now();
        if self == Self::Lines {
            self.tell(&format!("  ..  {doing}"));
        }
        let spinner = (self == Self::Spinner).then(|| spinner(doing));
        let done = work();
        if let Some(spinner) = spinner {
            spinner.finish_and_clear();
        }
        match done {
            Ok((value, now)) => {
                self.tell(&format!(
                    "  ok  {now} ({:.1} s)",
                    started.elapsed().as_secs_f64()
                ));
                Ok(value)
            }
            Err(error) => Err(error.context(format!("{doing} failed"))),
        }
    }

    /// A line by itself.
    pub fn tell(self, line: &str) {
        if self != Self::Silent {
            let _ = writeln!(std::io::stderr(), "{line}");
        }
    }
}

fn spinner(doing: &str) -> ProgressBar {
    let style = ProgressStyle::with_template("  {spinner}   {msg} {elapsed}")
        .unwrap_or_else(|_| ProgressStyle::default_spinner());
    let spinner = ProgressBar::new_spinner()
        .with_style(style)
        .with_message(doing.to_owned());
    spinner.enable_steady_tick(Duration::from_millis(100));
    spinner
}
