//! Use cases. Each public method is one transaction, or a saga of a claim, a call to the ledger and
//! a settlement. No transaction is open during a call to another service.

mod bonus;
mod cancel;
mod create;
mod draft;
mod drive;
mod fulfil;
mod history;
mod pay;
mod read;
mod record;
mod refund;
mod saga;
mod settlement;
mod update;

use std::{sync::Arc, time::Duration};

use platform::{
    auth::Caller,
    clock::Clock,
    error::{Code, Failure},
    idempotency::{self, Key, Reply},
    ids::Ids,
    messaging::outbox,
    pg::Group,
};
use proto::orders::v1 as wire;
use sqlx::{PgConnection, PgPool};
use tokio::sync::{Semaphore, SemaphorePermit};

use self::{draft::StoreDrafts, settlement::WriteSettlements};
use super::{
    events,
    model::{Event, Order, OrderId, OrderWithLines},
    repo,
};
use crate::{SCHEMA, clients::Clients, config::ShippingAmounts, error::Error};

/// Creations and payments that a process has in progress at once. A core makes a few hundred a second: more would
/// wait for each other, and end after their callers have given up.
const MAX_IN_PROGRESS: usize = 64;

/// The result of an action: the order, encoded as it is recorded under an idempotency key.
pub(crate) type OrderReply = Reply<wire::Order>;

/// The use cases of orders. Cloning is cheap.
#[derive(Debug, Clone)]
pub(crate) struct Orders {
    pool: PgPool,
    clients: Clients,
    clock: Clock,
    ids: Ids,
    shipping: Arc<ShippingAmounts>,
    /// Shown on receipts; may be empty.
    seller_name: Arc<str>,
    drafts: Group<StoreDrafts>,
    settlements: Group<WriteSettlements>,
    in_progress: Arc<Semaphore>,
}

impl Orders {
    pub(crate) fn new(
        pool: PgPool,
        clients: Clients,
        clock: Clock,
        ids: Ids,
        shipping: ShippingAmounts,
        seller_name: &str,
    ) -> Self {
        Self {
            drafts: Group::new(pool.clone(), StoreDrafts),
            settlements: Group::new(pool.clone(), WriteSettlements),
            in_progress: Arc::new(Semaphore::new(MAX_IN_PROGRESS)),
            pool,
            clients,
            clock,
            ids,
            shipping: Arc::new(shipping),
            seller_name: seller_name.into(),
        }
    }

    /// Admits a creation or payment, or refuses it where so many are in progress that it would be late.
    fn admit(&self) -> Result<SemaphorePermit<'_>, Error> {
        self.in_progress.try_acquire().map_err(|_none_left| {
            let failure = Failure::new(Code::Unavailable, "too many orders are being placed");
            failure.retry_after(Duration::from_secs(1)).into()
        })
    }

    /// Finds the recorded reply of the key, if its request had its effect before.
    async fn find_replay(&self, key: Option<&Key>) -> Result<Option<OrderReply>, Error> {
        Ok(idempotency::find_replay(&self.pool, SCHEMA, key).await?)
    }

    /// Finds what responses show of the order's user. Not within a transaction: it asks identity-svc.
    async fn find_user(&self, order_id: OrderId) -> Result<Option<wire::OrderUser>, Error> {
        let mut conn = self.pool.acquire().await?;
        let user_id = repo::orders::find_user(&mut conn, order_id).await?;
        drop(conn);
        match user_id {
            Some(user_id) => Ok(self.clients.identity.find_shown(user_id).await),
            None => Ok(None),
        }
    }

    /// Writes a changed order, and appends its events to the outbox.
    async fn write_in_tx(
        &self,
        conn: &mut PgConnection,
        order: &mut Order,
        events: &[Event],
    ) -> Result<(), Error> {
        let messages = events::messages(order, events, &self.ids);
        repo::orders::update_all_in_tx(conn, &[order]).await?;
        outbox::append_in_tx(conn, SCHEMA, messages).await?;
        Ok(())
    }
}

/// Adds the user that the response shows, and a replay repeats.
fn showing(order: wire::Order, user: Option<wire::OrderUser>) -> wire::Order {
    wire::Order { user, ..order }
}

/// Returns the order if the caller may know of it.
async fn get_visible(
    conn: &mut PgConnection,
    caller: &Caller,
    id: OrderId,
) -> Result<Order, Error> {
    let order = repo::orders::find(conn, id).await?;
    order
        .filter(|order| caller.require_self_or_admin(order.user_id).is_ok())
        .ok_or(Error::OrderNotFound)
}

/// Locks the order's row until the transaction ends, and returns the order with its lines.
async fn lock_in_tx(conn: &mut PgConnection, id: OrderId) -> Result<OrderWithLines, Error> {
    let order = repo::orders::lock_in_tx(conn, id).await?;
    let order = order.ok_or(Error::OrderNotFound)?;
    let lines = repo::lines::of_orders(conn, &[id]).await?;
    Ok(OrderWithLines { order, lines })
}

/// Locks the order like [`lock_in_tx`]. Fails while an operation on it is in progress.
async fn lock_unclaimed_in_tx(
    conn: &mut PgConnection,
    id: OrderId,
) -> Result<OrderWithLines, Error> {
    let order = lock_in_tx(conn, id).await?;
    if repo::claims::is_claimed(conn, id).await? {
        return Err(Error::OrderBusy);
    }
    Ok(order)
}
