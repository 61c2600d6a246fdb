//! `BonusRevoked`: records what the buyer still owes of a bonus that was taken back.

use platform::{
    clock::Clock,
    error::Failure,
    ids::Id,
    messaging::inbox::{Envelope, Handler},
    money::Amount,
};
use proto::events::v1::BonusRevoked;
use sqlx::PgConnection;

use crate::order::repo::orders::{self, BonusDebt};

/// Stores what is owed with the order.
#[derive(Debug, Clone)]
pub struct RecordBonusDebt(pub Clock);

impl RecordBonusDebt {
    /// Applies the event, unless a newer one of the order's bonus was applied.
    pub async fn handle(
        &self,
        conn: &mut PgConnection,
        event: BonusRevoked,
    ) -> Result<(), Failure> {
        let owed: Amount = event.owed.parse().map_err(Failure::internal)?;
        let debt = BonusDebt {
            order_id: Id::parse(&event.order_id).map_err(Failure::internal)?,
            owed: owed.is_positive().then_some(owed),
            version: event.version,
        };
        orders::update_bonus_debt_in_tx(conn, &debt, self.0.now()).await?;
        Ok(())
    }
}

impl Handler for RecordBonusDebt {
    type Body = BonusRevoked;

    async fn apply_in_tx(
        &self,
        conn: &mut PgConnection,
        _envelope: &Envelope,
        event: BonusRevoked,
    ) -> Result<(), Failure> {
        self.handle(conn, event).await
    }
}
