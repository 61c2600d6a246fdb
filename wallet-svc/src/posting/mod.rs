//! The posting engine: everything that moves money goes through its one queue, is decided by
//! [`crate::ledger`] in arrival order and written in groups, one commit a group.
//!
//! Several replicas may post on one schema: a group locks what it decides on, or is written only if
//! that has not changed.

mod columns;
mod earlier;
mod group;
mod load;
mod memory;
mod needs;
mod poster;
mod queue;
mod unlocked;
mod write;

pub(crate) use poster::Poster;
pub(crate) use queue::{Answer, Posting, Postings, Rejection};
