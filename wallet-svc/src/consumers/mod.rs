//! The events of other contexts that move money, one file an event.
//!
//! Each effect is known to the ledger by its order or its transaction id, so an event that comes
//! twice, or before an earlier one, changes nothing.

pub mod order_canceled;
pub mod order_paid;
pub mod task_completed;

use platform::{error::Failure, ids::Id, messaging::inbox::Applied, money::Amount, pg::Schema};

use crate::{
    asset::{directory::AssetDirectory, model::AssetCode},
    ledger::Command,
    posting::{Answer, Posting, Postings},
};

/// The context of orders-svc.
pub const ORDERS: Schema = Schema::new("orders");
/// The context of identity-svc.
pub const IDENTITY: Schema = Schema::new("identity");

/// What consumers post with.
#[derive(Debug, Clone)]
pub struct Poster {
    /// The way to the ledger.
    pub postings: Postings,
    /// The assets.
    pub assets: AssetDirectory,
}

impl Poster {
    async fn post(&self, command: Command, actor: &str) -> Result<Applied, Failure> {
        let posting = Posting {
            command,
            actor: actor.to_owned(),
            key: None,
        };
        match self.postings.post(posting).await? {
            Answer::Done { changed: true, .. } => Ok(Applied::Now),
            Answer::Done { .. } | Answer::Replay(_) => Ok(Applied::Before),
        }
    }

    async fn asset(&self, code: &str) -> Result<AssetCode, Failure> {
        let found = self.assets.find(code).await?;
        let asset = found.ok_or_else(|| malformed(format!("there is no asset {code:?}")))?;
        Ok(asset.code)
    }
}

/// An amount as our own services write it.
fn amount(text: &str) -> Result<Amount, Failure> {
    text.parse()
        .map_err(|_| malformed(format!("{text:?} is no amount")))
}

fn id<T>(text: &str) -> Result<Id<T>, Failure> {
    Id::parse(text).map_err(|_| malformed(format!("{text:?} is no id")))
}

/// An event that cannot be applied as it is: a fault of its publisher, for people to look at.
fn malformed(what: String) -> Failure {
    Failure::internal(what)
}
