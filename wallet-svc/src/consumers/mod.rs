//! Consumes the events of other services that move money, one file for each event.
//!
//! The ledger identifies each effect by its order or its transaction id, so events may be redelivered
//! and may arrive in any order.

pub mod order_canceled;
pub mod order_paid;
pub mod order_refunded;
pub mod referral_earned;
mod revocation;
pub mod task_completed;

use platform::{error::Failure, ids::Id, messaging::inbox::Applied, money::Amount, pg::Schema};

use crate::{
    asset::{directory::AssetDirectory, model::AssetCode},
    ledger::Command,
    posting::{Posting, PostingOutcome, PostingQueue},
};

pub use crate::referral::service::Referrals;

/// The schema of orders-svc, which names its events.
pub(crate) const ORDERS: Schema = Schema::new("orders");
/// The schema of identity-svc, which names its events.
pub(crate) const IDENTITY: Schema = Schema::new("identity");

/// The ledger that consumers post to. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Ledger {
    pub(crate) postings: PostingQueue,
    pub(crate) assets: AssetDirectory,
}

impl Ledger {
    pub(crate) async fn post(&self, command: Command, actor: &str) -> Result<Applied, Failure> {
        let posting = Posting {
            command,
            actor: actor.to_owned(),
            key: None,
        };
        match self.postings.post(posting).await? {
            PostingOutcome::Committed { changed: true, .. } => Ok(Applied::Now),
            PostingOutcome::Committed { .. } | PostingOutcome::Replayed(_) => Ok(Applied::Before),
        }
    }

    async fn asset(&self, code: &str) -> Result<AssetCode, Failure> {
        let found = self.assets.find(code).await?;
        let asset = found.ok_or_else(|| malformed(format!("asset {code:?} not found")))?;
        Ok(asset.code)
    }
}

/// Parses an amount of a service.
fn amount(text: &str) -> Result<Amount, Failure> {
    text.parse()
        .map_err(|_| malformed(format!("{text:?} is not an amount")))
}

/// Parses an amount above zero.
fn positive(text: &str) -> Result<Amount, Failure> {
    let amount = amount(text)?;
    if amount.is_positive() {
        return Ok(amount);
    }
    Err(malformed(format!("{text:?} is not above zero")))
}

fn id<T>(text: &str) -> Result<Id<T>, Failure> {
    Id::parse(text).map_err(|_| malformed(format!("{text:?} is not an id")))
}

/// Fails because of a bug in the publisher; the event becomes a dead letter.
fn malformed(reason: String) -> Failure {
    Failure::internal(reason)
}
