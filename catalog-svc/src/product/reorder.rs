//! The use case of moving a product to another place.

use platform::{
    idempotency::{self, Reply, Started},
    ids::Id,
    messaging::outbox,
    rank::RankedList,
};
use sqlx::PgConnection;
use uuid::Uuid;

use super::{Product, Products, events, repo, service::locked_in_tx};
use crate::{SCHEMA, error::Error};

const RANKED: RankedList = RankedList {
    table: "catalog.products",
    id: "id",
    only: "deleted_at is null",
};

/// Keeps the order of the products from being changed by others.
pub(super) async fn lock_in_tx(conn: &mut PgConnection) -> Result<(), sqlx::Error> {
    RANKED.lock_in_tx(conn, Uuid::nil()).await
}

impl Products {
    /// Puts a product right before another, or last, once per key.
    pub async fn reorder<R: prost::Message + Default>(
        &self,
        key: Option<&idempotency::Key>,
        id: Id<Product>,
        next: Option<Id<Product>>,
        answer: R,
    ) -> Result<Reply<R>, Error> {
        let mut work = match idempotency::start(&self.context.pool, SCHEMA, key).await? {
            Started::Replay(answer) => return Ok(answer),
            Started::Fresh(work) => work,
        };
        self.reorder_in_tx(&mut work, id, next).await?;
        Ok(work.commit(answer).await?)
    }

    async fn reorder_in_tx(
        &self,
        conn: &mut PgConnection,
        id: Id<Product>,
        next: Option<Id<Product>>,
    ) -> Result<(), Error> {
        lock_in_tx(conn).await?;
        let mut product = locked_in_tx(conn, id).await?;
        let next = match next {
            Some(next) => Some(repo::find(conn, next).await?.ok_or(NO_SUBSEQUENT)?),
            None => None,
        };
        let (item, next) = (product.ranked(), next.as_ref().map(Product::ranked));
        let room = RANKED.make_room_in_tx(conn, Uuid::nil(), item, next);
        let Some(rank) = room.await? else {
            return Ok(());
        };
        product.place(rank, self.context.clock.now());
        repo::update_in_tx(conn, &product).await?;
        let event = events::updated(&self.context.ids, &product);
        Ok(outbox::append_in_tx(conn, SCHEMA, [event]).await?)
    }
}

const NO_SUBSEQUENT: Error = Error::UnknownReference {
    field: "subsequentId",
    what: "product",
};
