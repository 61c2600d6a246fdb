//! Fulfils an order or one of its lines, or takes that back.

use platform::idempotency::{self, Key, Started};
use uuid::Uuid;

use super::{OrderReply, Orders, lock_unclaimed_in_tx, record::Change, showing};
use crate::{
    SCHEMA,
    error::Error,
    order::{
        convert,
        model::{FulfilOrder, FulfilmentDirection, HistoryEntry, LineUnits, OrderWithLines},
        repo,
    },
};

impl Orders {
    /// Moves units of the order, and sets its tracking id, in one transaction.
    pub(crate) async fn fulfil(
        &self,
        key: Option<&Key>,
        command: FulfilOrder,
    ) -> Result<OrderReply, Error> {
        if let Some(reply) = self.find_replay(key).await? {
            return Ok(reply);
        }
        let user = self.find_user(command.order_id).await?;
        let mut work = match idempotency::start(&self.pool, SCHEMA, key).await? {
            Started::Replay(reply) => return Ok(reply),
            Started::Fresh(work) => work,
        };
        let now = self.clock.now();
        let mut order = lock_unclaimed_in_tx(&mut work, command.order_id).await?;
        let before = order.order.state();
        let fulfilment = order.move_units(command.direction, command.units, now)?;
        let tracked = track(&mut order, command.tracking_id);
        if tracked && fulfilment.moved.is_empty() {
            order.order.touch(now);
        }
        for line in &order.lines {
            if fulfilment
                .moved
                .iter()
                .any(|units| units.line_id == line.id)
            {
                repo::lines::update_in_tx(&mut work, line).await?;
            }
        }
        let direction = command.direction;
        let entries = entries(direction, fulfilment.moved, tracked);
        if !entries.is_empty() {
            self.write_in_tx(&mut work, &mut order.order, &fulfilment.events)
                .await?;
            let change = Change {
                done: direction.done(),
                actor: None,
                before: Some(before),
                entries,
            };
            self.record_in_tx(&mut work, &order.order, change).await?;
        }
        Ok(work.commit(showing(convert::order(&order), user)).await?)
    }
}

fn entries(
    direction: FulfilmentDirection,
    moved: Vec<LineUnits>,
    tracked: bool,
) -> Vec<HistoryEntry> {
    let moved = (!moved.is_empty()).then(|| HistoryEntry::moved(direction, moved));
    let tracked = tracked.then(|| HistoryEntry::updated(vec!["trackingId"]));
    moved.into_iter().chain(tracked).collect()
}

/// Sets the tracking id. Returns whether it changed.
fn track(order: &mut OrderWithLines, tracking_id: Option<Uuid>) -> bool {
    if tracking_id.is_none() || order.order.tracking_id == tracking_id {
        return false;
    }
    order.order.tracking_id = tracking_id;
    true
}
