//! Use cases: one public method is one transaction, or a saga of a claim, a call and a settlement.
//! No transaction is open while another service is called.

mod bonus;
mod cancel;
mod claiming;
mod create;
mod fulfil;
mod pay;
mod read;
mod recovery;
mod settle;
mod update;

use std::sync::Arc;

use platform::{
    auth::Caller,
    clock::Clock,
    idempotency::{self, Key, Reply},
    ids::Ids,
    messaging::outbox,
};
use proto::orders::v1::GetOrderResponse;
use sqlx::{PgConnection, PgPool};

use super::{
    events,
    model::{Event, Order, OrderId, OrderWithLines},
    repo,
};
use crate::{SCHEMA, clients::Clients, config::ShippingAmounts, error::Error};

/// What every action on an order answers. The order is the first field of all their responses, so
/// that recovery can complete the record of a request it has not seen.
pub type OrderAnswer = Reply<GetOrderResponse>;

/// The use cases. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Orders {
    pool: PgPool,
    clients: Clients,
    clock: Clock,
    ids: Ids,
    shipping: Arc<ShippingAmounts>,
}

impl Orders {
    /// On this database, with these peers.
    pub fn new(
        pool: PgPool,
        clients: Clients,
        clock: Clock,
        ids: Ids,
        shipping: ShippingAmounts,
    ) -> Self {
        Self {
            pool,
            clients,
            clock,
            ids,
            shipping: Arc::new(shipping),
        }
    }

    /// The answer recorded under the key, if its request had its effect before.
    async fn replayed(&self, key: Option<&Key>) -> Result<Option<OrderAnswer>, Error> {
        let Some(key) = key else { return Ok(None) };
        let mut conn = self.pool.acquire().await?;
        let mut known = idempotency::find_in_tx(&mut conn, SCHEMA, &[*key.scope()]).await?;
        let Some(record) = known.remove(key.scope()) else {
            return Ok(None);
        };
        Ok(Some(Reply::replay(&record.response_for(key)?)?))
    }

    /// The order, if the caller may know of it.
    async fn visible(&self, caller: &Caller, id: OrderId) -> Result<Order, Error> {
        let mut conn = self.pool.acquire().await?;
        let order = repo::orders::find(&mut conn, id).await?;
        order
            .filter(|order| caller.require_self_or_admin(order.user_id).is_ok())
            .ok_or(Error::OrderNotFound)
    }

    /// Writes what happened to the order, and tells it.
    async fn write_in_tx(
        &self,
        conn: &mut PgConnection,
        order: &mut Order,
        happened: &[Event],
    ) -> Result<(), Error> {
        let messages = events::messages(order, happened, &self.ids);
        repo::orders::update_in_tx(conn, order).await?;
        if !messages.is_empty() {
            outbox::append_in_tx(conn, SCHEMA, &messages).await?;
        }
        Ok(())
    }
}

/// The order with its lines, locked until the transaction ends.
async fn lock_in_tx(conn: &mut PgConnection, id: OrderId) -> Result<OrderWithLines, Error> {
    let order = repo::orders::lock_in_tx(conn, id).await?;
    let order = order.ok_or(Error::OrderNotFound)?;
    let lines = repo::lines::of_orders(conn, &[id]).await?;
    Ok(OrderWithLines { order, lines })
}
