//! Ctrl-C, SIGTERM and a closed terminal, as a flag that the commands look at.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, ensure};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

/// Whether we were asked to stop.
#[derive(Debug, Clone)]
pub(super) struct Signals {
    stop: Arc<AtomicBool>,
}

impl Signals {
    /// The first signal asks; a second one ends us at once (and the kernel the children).
    pub(super) fn catch() -> Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // In this order: the first has to see the flag as it was before the signal.
            flag::register_conditional_shutdown(signal, 130, Arc::clone(&stop))?;
            flag::register(signal, Arc::clone(&stop))?;
        }
        Ok(Self { stop })
    }

    /// A signal came.
    pub(super) fn came(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Ends a start under way when a signal came.
    pub(super) fn go_on(&self) -> Result<()> {
        ensure!(!self.came(), "stopped before everything was up");
        Ok(())
    }
}
