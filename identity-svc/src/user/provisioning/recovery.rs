//! Finishes the creations whose request did not.

use std::time::Duration;

use futures::future::join_all;
use platform::messaging::Lease;
use tokio_util::sync::CancellationToken;

use super::{Provisioning, repo};
use crate::{
    SCHEMA,
    error::{Error, Result},
    user::UserId,
};

/// Between two looks.
const EVERY: Duration = Duration::from_secs(1);

/// Creations finished side by side.
const BATCH: i64 = 16;

/// Looks for such creations until stopped; one process at a time does.
pub async fn run(provisioning: Provisioning, stop: CancellationToken) -> Result<()> {
    let mut lease = Lease::new(provisioning.pool.clone(), SCHEMA, "user-recovery");
    let mut looks = tokio::time::interval(EVERY);
    while stop.run_until_cancelled(looks.tick()).await.is_some() {
        match look(&provisioning, &mut lease).await {
            // The database is away: so is everything else here, and it says so.
            Err(Error::Database(error)) => tracing::debug!(%error, "cannot look"),
            looked => looked?,
        }
    }
    Ok(lease.release().await?)
}

async fn look(provisioning: &Provisioning, lease: &mut Lease) -> Result<()> {
    if !lease.hold().await? {
        return Ok(());
    }
    let due = repo::take_due(&provisioning.pool, BATCH).await?;
    join_all(
        due.into_iter()
            .map(|user_id| recover(provisioning, user_id)),
    )
    .await;
    Ok(())
}

async fn recover(provisioning: &Provisioning, user_id: UserId) {
    match provisioning.finish(user_id).await {
        Ok(_) => tracing::info!(%user_id, "finished the creation of a user"),
        Err(error) if error.is_refusal() => {
            tracing::warn!(%user_id, %error, "withdrew the creation of a user");
        }
        Err(error) => tracing::warn!(%user_id, %error, "a user is still without a wallet"),
    }
}
