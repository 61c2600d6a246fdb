//! Updates the tracking id.

use platform::{
    grpc::precondition::{self, Versions},
    patch::Patch,
    pg,
};
use uuid::Uuid;

use super::{Orders, lock_in_tx, record::Change};
use crate::{
    error::Error,
    order::{
        model::{HistoryEntry, OrderId, OrderStatus, OrderWithLines},
        repo,
    },
};

impl Orders {
    /// Sets or clears the tracking id. The same value again changes nothing. A draft is left to the request
    /// that pays it.
    pub(crate) async fn update(
        &self,
        id: OrderId,
        tracking_id: Patch<Uuid>,
        if_version: Option<&Versions>,
    ) -> Result<OrderWithLines, Error> {
        let mut tx = pg::tx(&self.pool).await?;
        let mut order = lock_in_tx(&mut tx, id).await?;
        if order.order.order_status == OrderStatus::Draft {
            return Err(Error::OrderBusy);
        }
        precondition::check(if_version, order.order.updated_at.timestamp_millis())?;
        let before = order.order.tracking_id;
        order.order.tracking_id = tracking_id.or(before);
        if order.order.tracking_id != before {
            order.order.touch(self.clock.now());
            repo::orders::update_all_in_tx(&mut tx, &[&order.order]).await?;
            let change = Change {
                done: "updated",
                actor: None,
                before: Some(order.order.state()),
                entries: vec![HistoryEntry::updated(vec!["trackingId"])],
            };
            self.record_in_tx(&mut tx, &order.order, change).await?;
            tx.commit().await?;
        }
        Ok(order)
    }
}
