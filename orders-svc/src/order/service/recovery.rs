//! The recovery worker: drives claims whose process is gone, or whose outcome was not known, to
//! their end. Repeating an operation id is safe: the ledger answers what it did first.

use std::time::Duration;

use futures::future::join_all;
use platform::messaging::Lease;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::Orders;
use crate::{
    SCHEMA,
    error::Error,
    order::{claim::Claim, repo},
};

const EVERY: Duration = Duration::from_secs(1);
/// Claims driven at the same time.
const BATCH: i64 = 32;

impl Orders {
    /// Runs until the process stops, one worker a schema at a time.
    pub async fn recover(self, stop: CancellationToken) -> anyhow::Result<()> {
        let mut lease = Lease::new(self.pool.clone(), SCHEMA, "order-recovery");
        let mut ticks = interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while stop.run_until_cancelled(ticks.tick()).await.is_some() {
            if let Err(error) = self.pass(&mut lease).await {
                tracing::debug!(%error, "recovery waits for the database");
            }
        }
        lease.release().await?;
        Ok(())
    }

    async fn pass(&self, lease: &mut Lease) -> Result<(), Error> {
        if !lease.hold().await? {
            return Ok(());
        }
        let abandoned = {
            let mut conn = self.pool.acquire().await?;
            repo::claims::take_abandoned(&mut conn, BATCH).await?
        };
        join_all(abandoned.iter().map(|claim| self.recover_one(claim))).await;
        Ok(())
    }

    async fn recover_one(&self, claim: &Claim) {
        let operation = claim.operation_id();
        metrics::counter!("orders_claims_recovered_total").increment(1);
        match self.drive(claim).await {
            Ok(_) => tracing::info!(operation, "settled what was left under way"),
            Err(error) => tracing::warn!(operation, %error, "not settled"),
        }
    }
}
