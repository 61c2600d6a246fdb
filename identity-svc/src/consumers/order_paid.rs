//! `OrderPaid`: the buyer's referrer earns a share of the order.

use std::collections::HashMap;

use platform::{
    error::Failure,
    ids::Id,
    messaging::inbox::{BatchHandler, Event},
};
use proto::events::v1::OrderPaid;
use sqlx::PgConnection;

use crate::{
    referral_reward::{
        ReferralRewards,
        model::{Base, Source},
    },
    user::{UserId, repo as users},
};

/// Records what the referrers of buyers earn.
#[derive(Debug, Clone)]
pub struct EarnPurchaseReward(pub ReferralRewards);

/// An order that was paid.
struct Paid {
    source: Source,
    user_id: UserId,
    base: Base,
}

impl EarnPurchaseReward {
    /// Applies the events. A repeat, and an order of an unknown user, change nothing.
    pub async fn handle(
        &self,
        conn: &mut PgConnection,
        events: Vec<OrderPaid>,
    ) -> Result<(), Failure> {
        let orders = events.into_iter().map(decode);
        let orders = orders.collect::<Result<Vec<_>, _>>()?;
        let buyers: Vec<_> = orders.iter().map(|order| order.user_id).collect();
        let buyers = users::find_all(conn, &buyers).await?.into_iter();
        let buyers: HashMap<_, _> = buyers.map(|user| (user.id, user)).collect();
        for order in orders {
            if let Some(buyer) = buyers.get(&order.user_id) {
                let earned = self.0.earn_in_tx(conn, order.source, buyer, order.base);
                earned.await?;
            }
        }
        Ok(())
    }
}

fn decode(event: OrderPaid) -> Result<Paid, Failure> {
    let order = Id::parse(&event.order_id).map_err(Failure::internal)?;
    Ok(Paid {
        source: Source::Order(order),
        user_id: Id::parse(&event.user_id).map_err(Failure::internal)?,
        base: Base {
            amount: event.amount.parse().map_err(Failure::internal)?,
            asset_code: event.asset_code,
        },
    })
}

impl BatchHandler for EarnPurchaseReward {
    type Body = OrderPaid;

    async fn apply_all_in_tx(
        &self,
        conn: &mut PgConnection,
        events: Vec<Event<OrderPaid>>,
    ) -> Result<(), Failure> {
        let events = events.into_iter().map(|event| event.body);
        self.handle(conn, events.collect()).await
    }
}
