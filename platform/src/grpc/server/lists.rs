//! A caller's share of the lists that a process reads at a time. A list may read much, and takes one of
//! the process's connections to Postgres while it does: one caller must not take them all.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use crate::{
    auth::{Caller, Kind},
    error::{Code, Failure},
};

/// Lists of one caller that run at a time; the others wait.
const MAX_RUNNING: usize = 4;
/// Lists of one caller that run or wait.
const MAX_ADMITTED: usize = 32;
/// How long a list waits: as long as a statement of a list may take.
const MAX_WAIT: Duration = Duration::from_secs(1);

type Key = (Kind, String);

/// The lists in progress, by caller.
#[derive(Debug, Clone, Default)]
pub(super) struct ListLimit(Arc<Mutex<HashMap<Key, Share>>>);

/// The lists of one caller.
#[derive(Debug)]
struct Share {
    admitted: usize,
    running: Arc<Semaphore>,
}

/// The right to run a list, until it is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    _running: OwnedSemaphorePermit,
    _admitted: Admitted,
}

/// A list that runs or waits.
#[derive(Debug)]
struct Admitted {
    limit: ListLimit,
    key: Key,
    running: Arc<Semaphore>,
}

impl ListLimit {
    /// Waits for the turn of a list of this caller. Refuses it with `rate_limited` after a second, and
    /// immediately where too many are waiting.
    pub(super) async fn admit(&self, caller: &Caller) -> Result<Turn, Failure> {
        let admitted = self.enter(caller).ok_or_else(refusal)?;
        let running = Arc::clone(&admitted.running).acquire_owned();
        match timeout(MAX_WAIT, running).await {
            Ok(Ok(permit)) => Ok(Turn {
                _running: permit,
                _admitted: admitted,
            }),
            Ok(Err(_)) | Err(_) => Err(refusal()),
        }
    }

    fn enter(&self, caller: &Caller) -> Option<Admitted> {
        let key = (caller.kind, caller.subject.clone());
        let mut shares = self.shares();
        let share = shares.entry(key.clone()).or_insert_with(|| Share {
            admitted: 0,
            running: Arc::new(Semaphore::new(MAX_RUNNING)),
        });
        if share.admitted == MAX_ADMITTED {
            return None;
        }
        share.admitted += 1;
        Some(Admitted {
            limit: self.clone(),
            key,
            running: Arc::clone(&share.running),
        })
    }

    fn shares(&self) -> MutexGuard<'_, HashMap<Key, Share>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        let mut shares = self.limit.shares();
        if let Some(share) = shares.get_mut(&self.key) {
            share.admitted -= 1;
            if share.admitted == 0 {
                shares.remove(&self.key);
            }
        }
    }
}

fn refusal() -> Failure {
    Failure::new(
        Code::RateLimited,
        format!("more than {MAX_RUNNING} lists of one caller at a time"),
    )
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    fn caller(subject: &str) -> Caller {
        Caller {
            kind: Kind::User,
            subject: subject.to_owned(),
            roles: vec![],
        }
    }

    async fn admit(limit: &ListLimit, subject: &str) -> Result<Turn, Code> {
        let turn = limit.admit(&caller(subject)).await;
        turn.map_err(|failure| failure.code)
    }

    #[tokio::test(start_paused = true)]
    async fn a_list_waits_for_its_turn_up_to_a_second() {
        let limit = ListLimit::default();
        let mut turns = Vec::new();
        for _ in 0..MAX_RUNNING {
            turns.push(admit(&limit, "ann").await.unwrap());
        }
        let asked = Instant::now();
        assert_eq!(admit(&limit, "ann").await.unwrap_err(), Code::RateLimited);
        assert_eq!(asked.elapsed().as_secs(), MAX_WAIT.as_secs());
        assert!(admit(&limit, "bob").await.is_ok(), "another caller");
        let (waited, ()) = tokio::join!(admit(&limit, "ann"), async { turns.truncate(1) });
        assert!(waited.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_list_is_refused_at_once_where_too_many_wait() {
        let limit = ListLimit::default();
        let admitted = [(); MAX_ADMITTED].map(|()| limit.enter(&caller("ann")).unwrap());
        let asked = Instant::now();
        assert_eq!(admit(&limit, "ann").await.unwrap_err(), Code::RateLimited);
        assert_eq!(asked.elapsed(), Duration::ZERO);
        drop(admitted);
        assert!(admit(&limit, "ann").await.is_ok());
        assert!(limit.shares().is_empty(), "nothing is kept of callers");
    }
}
