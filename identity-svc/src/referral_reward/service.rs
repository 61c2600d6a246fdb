//! Earning: records a share and publishes it, in the transaction of what it is a share of.

use platform::{clock::Clock, ids::Ids, messaging::outbox};
use sqlx::PgConnection;

use super::{
    events,
    model::{self, Base, Percentages, ReferralReward, Source},
    repo,
};
use crate::{
    SCHEMA,
    error::Result,
    user::{User, repo as users},
};

/// Records what referrers earn. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct ReferralRewards {
    percentages: Percentages,
    clock: Clock,
    ids: Ids,
}

impl ReferralRewards {
    pub(crate) fn new(percentages: Percentages, clock: Clock, ids: Ids) -> Self {
        Self {
            percentages,
            clock,
            ids,
        }
    }

    /// Records what the user's referrer earns, once for each source. The percentage is the one that is
    /// set now; a referrer that is blocked or deleted now earns nothing, also not later.
    pub(crate) async fn earn_in_tx(
        &self,
        conn: &mut PgConnection,
        source: Source,
        user: &User,
        base: Base,
    ) -> Result<()> {
        let percent = self.percentages.of(&source);
        let Some(referrer_id) = user.referral_user_id else {
            return Ok(());
        };
        let referrer = users::find_for_share_in_tx(conn, referrer_id).await?;
        let Some(referrer) =
            referrer.filter(|referrer| model::earns(referrer, user.id, base.amount, percent))
        else {
            return Ok(());
        };
        let reward = ReferralReward {
            id: source.referral_id(),
            source,
            referrer_id,
            wallet_id: referrer.primary_wallet_id,
            user_id: user.id,
            base,
            percent,
            transaction_id: self.ids.next(),
            created_at: self.clock.now(),
        };
        if repo::insert_in_tx(conn, &reward).await? {
            let event = events::earned(self.ids.uuid(), &reward);
            outbox::append_in_tx(conn, SCHEMA, [event]).await?;
        }
        Ok(())
    }
}
