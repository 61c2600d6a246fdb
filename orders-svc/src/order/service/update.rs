//! The little of an order that can be written.

use platform::{auth::Caller, patch::Patch, pg};
use uuid::Uuid;

use super::{Orders, lock_in_tx};
use crate::{
    error::Error,
    order::{
        model::{OrderId, OrderWithLines},
        repo,
    },
};

impl Orders {
    /// Notes where the parcel is. Nothing new changes nothing.
    pub async fn update(
        &self,
        caller: &Caller,
        id: OrderId,
        tracking_id: Patch<Uuid>,
    ) -> Result<OrderWithLines, Error> {
        caller.require_admin()?;
        let mut tx = pg::tx(&self.pool).await?;
        let mut placed = lock_in_tx(&mut tx, id).await?;
        let before = placed.order.tracking_id;
        placed.order.tracking_id = tracking_id.or(before);
        if placed.order.tracking_id != before {
            placed.order.updated_at = self.clock.now();
            repo::orders::update_in_tx(&mut tx, &placed.order).await?;
            tx.commit().await?;
        }
        Ok(placed)
    }
}
