//! Turns of creations that want the same email or invite. One at a time checks, hashes and reserves, so that
//! the others find it taken, and cost no hash. Other processes have turns of their own: what counts is the
//! database's constraint.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, PoisonError, Weak},
};

use tokio::sync::{Mutex as Turn, OwnedMutexGuard};

/// The turns by the names of what is wanted. Cloning is cheap and shares them.
#[derive(Debug, Clone, Default)]
pub(super) struct Turns(Arc<Mutex<HashMap<String, Weak<Turn<()>>>>>);

impl Turns {
    /// Waits until nobody else has one of these names. They are free again when the guards are dropped.
    pub(super) async fn take(&self, names: BTreeSet<String>) -> Vec<OwnedMutexGuard<()>> {
        let mut guards = Vec::new();
        // In order: two that want the same names never wait for each other.
        for turn in self.turns(names) {
            guards.push(turn.lock_owned().await);
        }
        guards
    }

    fn turns(&self, names: BTreeSet<String>) -> Vec<Arc<Turn<()>>> {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        turns.retain(|_, turn| turn.strong_count() > 0);
        let mut turn_of = |name| {
            let known = turns.get(&name).and_then(Weak::upgrade);
            let turn = known.unwrap_or_default();
            turns.insert(name, Arc::downgrade(&turn));
            turn
        };
        names.into_iter().map(&mut turn_of).collect()
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    fn names(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[tokio::test]
    async fn a_name_is_taken_by_one_at_a_time_and_forgotten_afterwards() {
        let turns = Turns::default();
        let first = turns.take(names(&["a", "b"])).await;
        assert!(turns.take(names(&["c"])).now_or_never().is_some());
        let second = turns.take(names(&["b", "c"]));
        tokio::pin!(second);
        assert!((&mut second).now_or_never().is_none());
        drop(first);
        drop(second.await);
        assert!(turns.take(names(&["d"])).now_or_never().is_some());
        assert_eq!(turns.0.lock().unwrap().len(), 1);
    }
}
