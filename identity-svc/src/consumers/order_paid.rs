//! `OrderPaid`: the buyer's referrer earns a share of the order.

use platform::{
    error::Failure,
    ids::Id,
    messaging::inbox::{Envelope, Handler},
};
use proto::events::v1::OrderPaid;
use sqlx::PgConnection;

use crate::{
    referral_reward::{
        ReferralRewards,
        model::{Base, Source},
    },
    user::repo as users,
};

/// Records what the referrer of the buyer earns.
#[derive(Debug, Clone)]
pub struct EarnPurchaseReward(pub ReferralRewards);

impl EarnPurchaseReward {
    /// Applies the event. A repeat, and an order of an unknown user, change nothing.
    pub async fn handle(&self, conn: &mut PgConnection, event: OrderPaid) -> Result<(), Failure> {
        let order = Id::parse(&event.order_id).map_err(Failure::internal)?;
        let user_id = Id::parse(&event.user_id).map_err(Failure::internal)?;
        let base = Base {
            amount: event.amount.parse().map_err(Failure::internal)?,
            asset_code: event.asset_code,
        };
        let Some(user) = users::find(conn, user_id).await? else {
            return Ok(());
        };
        let source = Source::Order(order);
        Ok(self.0.earn_in_tx(conn, source, &user, base).await?)
    }
}

impl Handler for EarnPurchaseReward {
    type Body = OrderPaid;

    async fn apply_in_tx(
        &self,
        conn: &mut PgConnection,
        _envelope: &Envelope,
        event: OrderPaid,
    ) -> Result<(), Failure> {
        self.handle(conn, event).await
    }
}
