//! The context of the use cases.

use platform::{clock::Clock, ids::Ids};
use sqlx::PgPool;

/// Database, time and identifiers.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    /// Connections of the app role.
    pub(crate) pool: PgPool,
    pub(crate) clock: Clock,
    pub(crate) ids: Ids,
}

/// A change of an aggregate, written together with its event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Created,
    Updated,
    Deleted,
}

impl Change {
    /// Returns its word in the audit log.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Deleted => "deleted",
        }
    }
}
