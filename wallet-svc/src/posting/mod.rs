//! The posting engine: everything that moves money goes through its one queue, is decided by
//! [`crate::ledger`] in arrival order and written in groups, one commit a group.
//!
//! Several replicas may post on one schema: each group locks what it decides on.

mod columns;
mod earlier;
mod group;
mod load;
mod poster;
mod queue;
mod write;

pub use poster::Poster;
pub use queue::{Answer, Posting, Postings, Rejection};
