//! Consumers of the events of other contexts, one file an event.

pub mod bonus_revoked;

use platform::pg::Schema;

/// The context of wallet-svc.
pub const WALLET: Schema = Schema::new("wallet");
