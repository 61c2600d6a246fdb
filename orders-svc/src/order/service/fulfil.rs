//! Handing goods over, and taking that back.

use chrono::{DateTime, Utc};
use platform::{
    auth::Caller,
    idempotency::{self, Key, Started},
};
use uuid::Uuid;

use super::{OrderAnswer, Orders, claiming::idle_in_tx};
use crate::{
    SCHEMA,
    error::Error,
    order::{
        convert,
        fulfilment::{Direction, Units},
        model::{OrderId, OrderWithLines},
        repo,
    },
};

impl Orders {
    /// Moves units of the order; with a tracking id the parcel becomes known in the same step.
    pub async fn move_units(
        &self,
        caller: &Caller,
        key: Option<&Key>,
        id: OrderId,
        (direction, units): (Direction, Units),
        tracking_id: Option<Uuid>,
    ) -> Result<OrderAnswer, Error> {
        caller.require_admin()?;
        let mut work = match idempotency::start(&self.pool, SCHEMA, key).await? {
            Started::Replay(answer) => return Ok(answer),
            Started::Fresh(work) => work,
        };
        let now = self.clock.now();
        let mut placed = idle_in_tx(&mut work, id).await?;
        let moved = placed.move_units(direction, units, now)?;
        let tracked = track(&mut placed, tracking_id, now);
        for line in &placed.lines {
            if moved.lines.contains(&line.id) {
                repo::lines::update_in_tx(&mut work, line).await?;
            }
        }
        if tracked || !moved.lines.is_empty() {
            self.write_in_tx(&mut work, &mut placed.order, &moved.events)
                .await?;
        }
        Ok(work.commit(convert::answer(&placed)).await?)
    }
}

/// Whether the tracking id is a new one.
fn track(placed: &mut OrderWithLines, tracking_id: Option<Uuid>, now: DateTime<Utc>) -> bool {
    if tracking_id.is_none() || placed.order.tracking_id == tracking_id {
        return false;
    }
    placed.order.tracking_id = tracking_id;
    placed.order.updated_at = now;
    true
}
