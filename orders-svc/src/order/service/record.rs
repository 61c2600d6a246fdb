//! Records changes of orders: in the audit log, which admins read for all services together, and in the
//! order's own history, which its owner reads too.

use platform::audit::{self, Entry};
use sqlx::PgConnection;

use super::Orders;
use crate::{
    SCHEMA,
    error::Error,
    order::{
        model::{HistoryEntry, Order, State},
        repo::history::{self, Recorded},
    },
};

/// A change of an order, after it was made.
pub(super) struct Change<'c> {
    /// Its word in the audit log.
    pub(super) done: &'static str,
    /// Who asked for it; `None`: the caller.
    pub(super) actor: Option<&'c str>,
    /// `None`: the order did not exist.
    pub(super) before: Option<State>,
    pub(super) entries: Vec<HistoryEntry>,
}

/// A change, as it is stored.
pub(super) struct Record {
    audit: Entry,
    history: Vec<Recorded>,
}

impl Record {
    /// Inserts the records of changes, under the row locks of their orders.
    pub(super) async fn insert_all_in_tx(
        conn: &mut PgConnection,
        records: &[&Self],
    ) -> Result<(), sqlx::Error> {
        let entries = records.iter().map(|record| record.audit.clone());
        audit::record_all_in_tx(conn, SCHEMA, entries).await?;
        let entries: Vec<_> = records.iter().flat_map(|record| &record.history).collect();
        history::insert_all_in_tx(conn, &entries).await
    }
}

impl Orders {
    /// Records a change, under the order's row lock. Returns what was inserted into the history.
    pub(super) async fn record_in_tx(
        &self,
        conn: &mut PgConnection,
        order: &Order,
        change: Change<'_>,
    ) -> Result<Vec<Recorded>, Error> {
        let record = self.record(order, change);
        Record::insert_all_in_tx(conn, &[&record]).await?;
        Ok(record.history)
    }

    /// Makes the record of a change.
    pub(super) fn record(&self, order: &Order, change: Change<'_>) -> Record {
        let actor = change
            .actor
            .map_or_else(|| audit::actor(SCHEMA), str::to_owned);
        let audit = Entry::new("order", change.done, order.id).by(&*actor);
        let now = self.clock.now();
        let entries = change.entries.into_iter().map(|entry| Recorded {
            id: self.ids.uuid(),
            order_id: order.id,
            action: entry.action,
            actor: actor.clone(),
            from_order_status: change.before.map(|state| state.order),
            order_status: order.order_status,
            from_payment_status: change.before.map(|state| state.payment),
            payment_status: order.payment_status,
            amount: entry.amount,
            asset_code: order.asset_code.clone(),
            reason: entry.reason,
            note: entry.note,
            details: serde_json::to_string(&entry.details).expect("ids and names make JSON"),
            created_at: now,
        });
        Record {
            audit,
            history: entries.collect(),
        }
    }
}
