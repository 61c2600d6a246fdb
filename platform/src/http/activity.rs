//! What a connection waits for, and since when.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use http::Version;
use tokio::time::Instant;

use super::Limits;

/// Time in which a client must take some of a response.
pub(super) const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// What a client keeps its connection waiting for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waiting {
    /// The next request.
    Request,
    /// The rest of a request head.
    Head,
    /// Room for more of a response.
    Room,
}

/// The activity of one connection, shared by its socket, its requests and its timer.
#[derive(Debug)]
pub(super) struct Activity {
    limits: Limits,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    requests: usize,
    /// Since when there is no request in progress.
    idle_since: Instant,
    /// The first byte of a head that is not complete.
    head_since: Option<Instant>,
    /// Since when the client takes no more of a response.
    blocked_since: Option<Instant>,
    /// Whether it is HTTP/2, where bytes without a request may be pings.
    multiplexed: bool,
}

/// A request in progress, until it is dropped.
#[derive(Debug)]
pub(super) struct InProgress(Arc<Activity>);

impl Activity {
    pub(super) fn new(limits: Limits, now: Instant) -> Self {
        let state = Mutex::new(State {
            requests: 0,
            idle_since: now,
            head_since: None,
            blocked_since: None,
            multiplexed: false,
        });
        Self { limits, state }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn start_request(self: &Arc<Self>, version: Version) -> InProgress {
        let mut state = self.state();
        state.requests += 1;
        state.head_since = None;
        state.multiplexed = version >= Version::HTTP_2;
        InProgress(Arc::clone(self))
    }

    /// Returns whether the connection carries several requests at once.
    pub(super) fn is_multiplexed(&self) -> bool {
        self.state().multiplexed
    }

    /// Notes bytes from the client.
    pub(super) fn read(&self) {
        let mut state = self.state();
        if state.requests == 0 && !state.multiplexed && state.head_since.is_none() {
            state.head_since = Some(Instant::now());
        }
    }

    /// Notes whether the client has room for more.
    pub(super) fn wrote(&self, has_room: bool) {
        let mut state = self.state();
        if has_room {
            state.blocked_since = None;
        } else if state.blocked_since.is_none() {
            state.blocked_since = Some(Instant::now());
        }
    }

    /// Returns what the connection has waited for longer than it may.
    pub(super) fn overdue(&self, now: Instant) -> Option<Waiting> {
        let state = self.state();
        let passed = |since: Option<Instant>, limit| {
            since.is_some_and(|since| now.duration_since(since) >= limit)
        };
        if passed(state.blocked_since, WRITE_TIMEOUT) {
            Some(Waiting::Room)
        } else if state.requests > 0 {
            None
        } else if passed(state.head_since, self.limits.head) {
            Some(Waiting::Head)
        } else if passed(Some(state.idle_since), self.limits.idle) {
            Some(Waiting::Request)
        } else {
            None
        }
    }
}

impl Drop for InProgress {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.requests -= 1;
        state.idle_since = Instant::now();
    }
}
