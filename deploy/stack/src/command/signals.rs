//! Ctrl-C, SIGTERM and a closed terminal, as a flag that the commands check.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use anyhow::{Result, ensure};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    flag,
};

#[derive(Debug, Clone)]
pub(super) struct Signals {
    received: Arc<AtomicBool>,
}

impl Signals {
    /// Catches the first signal; a second one ends us immediately (and the kernel the children).
    pub(super) fn catch() -> Result<Self> {
        let received = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // In this order: the first has to see the flag as it was before the signal.
            flag::register_conditional_shutdown(signal, 130, Arc::clone(&received))?;
            flag::register(signal, Arc::clone(&received))?;
        }
        Ok(Self { received })
    }

    pub(super) fn received(&self) -> bool {
        self.received.load(Ordering::Relaxed)
    }

    /// Fails when a signal was received, which ends an unfinished start.
    pub(super) fn check(&self) -> Result<()> {
        ensure!(!self.received(), "stopped before everything was up");
        Ok(())
    }
}
