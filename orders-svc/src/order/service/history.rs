//! The history of an order, its payments, and notes.

use platform::{
    auth::Caller,
    idempotency::{self, Key, Reply, Started},
    list::Page,
};
use proto::{common::v1::ListRequest, orders::v1 as wire};

use super::{Orders, get_visible, lock_in_tx, record::Change};
use crate::{
    SCHEMA,
    error::Error,
    order::{
        convert::{self, Receipt},
        model::{HistoryEntry, OrderId, OrderWithLines},
        repo::{
            self,
            history::{self, Recorded},
            transactions::{self, OrderTransaction},
        },
    },
};

impl Orders {
    pub(crate) async fn list_payments(
        &self,
        caller: &Caller,
        order_id: OrderId,
        request: &ListRequest,
    ) -> Result<Page<OrderTransaction>, Error> {
        let mut conn = self.pool.acquire().await?;
        get_visible(&mut conn, caller, order_id).await?;
        Ok(transactions::list(&mut conn, request, order_id).await?)
    }

    /// Lists what happened to the order; without notes, unless the caller is an admin.
    pub(crate) async fn list_history(
        &self,
        caller: &Caller,
        order_id: OrderId,
        request: &ListRequest,
    ) -> Result<Page<Recorded>, Error> {
        let mut conn = self.pool.acquire().await?;
        get_visible(&mut conn, caller, order_id).await?;
        Ok(history::list(&mut conn, request, order_id, caller.is_admin()).await?)
    }

    /// Reads the receipt of an order, all of it in one snapshot.
    pub(crate) async fn get_receipt(
        &self,
        caller: &Caller,
        order_id: OrderId,
    ) -> Result<Receipt, Error> {
        let mut tx = self.snapshot().await?;
        let order = get_visible(&mut tx, caller, order_id).await?;
        let lines = repo::lines::of_orders(&mut tx, &[order_id]).await?;
        Ok(Receipt {
            order: OrderWithLines { order, lines },
            transactions: transactions::of_order(&mut tx, order_id).await?,
            refunded: repo::refunds::sum(&mut tx, order_id).await?,
            seller_name: self.seller_name.to_string(),
        })
    }

    /// Adds a note to the history. It changes nothing of the order, and does not wait for an operation on it.
    pub(crate) async fn create_note(
        &self,
        key: Option<&Key>,
        order_id: OrderId,
        text: String,
    ) -> Result<Reply<wire::OrderHistoryEntry>, Error> {
        let mut work = match idempotency::start(&self.pool, SCHEMA, key).await? {
            Started::Replay(reply) => return Ok(reply),
            Started::Fresh(work) => work,
        };
        let order = lock_in_tx(&mut work, order_id).await?.order;
        let change = Change {
            done: "noted",
            actor: None,
            before: Some(order.state()),
            entries: vec![HistoryEntry::note(text)],
        };
        let recorded = self.record_in_tx(&mut work, &order, change).await?;
        let entry = recorded.into_iter().next();
        let entry = entry.ok_or_else(|| Error::internal("a note was not recorded"))?;
        Ok(work.commit(convert::history_entry(entry)).await?)
    }
}
