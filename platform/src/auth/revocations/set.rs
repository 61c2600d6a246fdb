//! The lowest accepted version of each subject, for as long as it matters.

use std::{collections::HashMap, time::Duration};

use tokio::time::Instant;

use super::{RETENTION, Revocation};
use crate::auth::Kind;

/// The interval at which expired entries are removed.
const PURGE_INTERVAL: Duration = Duration::from_mins(1);

#[derive(Default)]
pub(super) struct Set {
    by_kind: HashMap<Kind, HashMap<String, Entry>>,
    purged_at: Option<Instant>,
}

#[derive(Clone, Copy)]
struct Entry {
    min_version: i32,
    /// The age counts from here: identity-svc may have another clock.
    added_at: Instant,
}

impl Set {
    /// Adds revocations, and removes those whose time has passed.
    pub(super) fn add(&mut self, revocations: impl IntoIterator<Item = Revocation>, now: Instant) {
        for revocation in revocations {
            let entry = Entry {
                min_version: revocation.min_version,
                added_at: now,
            };
            let subjects = self.by_kind.entry(revocation.kind).or_default();
            let known = subjects.entry(revocation.subject).or_insert(entry);
            if known.min_version < entry.min_version {
                *known = entry;
            }
        }
        self.purge(now);
    }

    /// Returns the lowest accepted version of a subject's tokens.
    pub(super) fn min_version(&self, kind: Kind, subject: &str) -> i32 {
        let subjects = self.by_kind.get(&kind);
        let entry = subjects.and_then(|subjects| subjects.get(subject));
        entry.map_or(0, |entry| entry.min_version)
    }

    pub(super) fn all(&self) -> Vec<Revocation> {
        let subjects = self.by_kind.iter();
        let entries = subjects.flat_map(|(kind, entries)| entries.iter().map(move |e| (*kind, e)));
        entries
            .map(|(kind, (subject, entry))| Revocation {
                kind,
                subject: subject.clone(),
                min_version: entry.min_version,
            })
            .collect()
    }

    fn purge(&mut self, now: Instant) {
        if self.purged_at.is_some_and(|at| now < at + PURGE_INTERVAL) {
            return;
        }
        self.purged_at = Some(now);
        for subjects in self.by_kind.values_mut() {
            subjects.retain(|_, entry| now < entry.added_at + RETENTION);
        }
    }
}
