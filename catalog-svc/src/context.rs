//! What every use case works with.

use platform::{clock::Clock, ids::Ids};
use sqlx::PgPool;

/// Database, time and identifiers.
#[derive(Debug, Clone)]
pub struct Context {
    /// Connections of the app role.
    pub pool: PgPool,
    /// Tells the time.
    pub clock: Clock,
    /// Makes identifiers.
    pub ids: Ids,
}
