//! The use case of moving a product to another position.

use platform::{
    idempotency::{self, Key, Reply, Started},
    ids::Id,
    rank::RankedList,
};
use sqlx::PgConnection;
use uuid::Uuid;

use super::{
    Product, Products, repo,
    service::{lock_in_tx, write_in_tx},
};
use crate::{SCHEMA, context::Change, error::Error};

/// The order of the products.
const RANKED: RankedList = RankedList {
    table: "catalog.products",
    id: "id",
    only: "deleted_at is null",
};

const UNKNOWN_SUBSEQUENT: Error = Error::UnknownReference {
    field: "subsequentId",
    what: "product",
};

/// Locks the order of the products against moves of other transactions.
pub(crate) async fn lock_list_in_tx(conn: &mut PgConnection) -> Result<(), sqlx::Error> {
    RANKED.lock_in_tx(conn, Uuid::nil()).await
}

impl Products {
    /// Moves a product right before another, or to the end, once per key.
    pub(crate) async fn reorder(
        &self,
        key: Option<&Key>,
        id: Id<Product>,
        next: Option<Id<Product>>,
    ) -> Result<Reply<()>, Error> {
        let mut work = match idempotency::start(&self.context.pool, SCHEMA, key).await? {
            Started::Replay(reply) => return Ok(reply),
            Started::Fresh(work) => work,
        };
        lock_list_in_tx(&mut work).await?;
        let mut product = lock_in_tx(&mut work, id).await?;
        let next = match next {
            Some(next) => {
                let next = repo::find(&mut work, next).await?;
                Some(next.ok_or(UNKNOWN_SUBSEQUENT)?.ranked())
            }
            None => None,
        };
        let room = RANKED.make_room_in_tx(&mut work, Uuid::nil(), product.ranked(), next);
        if let Some(rank) = room.await? {
            product.place(rank, self.context.clock.now());
            write_in_tx(&mut work, &self.context.ids, &product, Change::Updated).await?;
        }
        Ok(work.commit(()).await?)
    }
}
