//! The use cases of categories: each public method is one transaction, unless its name says that
//! it runs in the caller's.

use platform::{
    error::Failure,
    idempotency::{self, Reply, Started},
    ids::Id,
    list::Page,
    messaging::outbox,
    pg,
    rank::{Rank, RankedList},
};
use proto::common::v1::ListRequest;
use sqlx::PgConnection;
use uuid::Uuid;

use super::{Category, CategoryPatch, NewCategory, events, repo};
use crate::{SCHEMA, context::Context, error::Error};

/// The order of the categories.
const RANKED: RankedList = RankedList {
    table: "catalog.categories",
    id: "id",
    only: "deleted_at is null",
};

const NO_SUBSEQUENT: Error = Error::UnknownReference {
    field: "subsequentId",
    what: "category",
};

/// The categories.
#[derive(Debug, Clone)]
pub struct Categories {
    context: Context,
}

impl Categories {
    /// The categories in this database.
    pub fn new(context: Context) -> Self {
        Self { context }
    }

    /// Makes a category, once per key; without a rank, the last. `answer` is what the key's record
    /// keeps.
    pub async fn create<R: prost::Message + Default>(
        &self,
        key: Option<&idempotency::Key>,
        new: NewCategory,
        answer: impl FnOnce(Category) -> R,
    ) -> Result<Reply<R>, Error> {
        let mut work = match idempotency::start(&self.context.pool, SCHEMA, key).await? {
            Started::Replay(answer) => return Ok(answer),
            Started::Fresh(work) => work,
        };
        let created = self.create_in_tx(&mut work, new).await?;
        Ok(work.commit(answer(created)).await?)
    }

    async fn create_in_tx(
        &self,
        conn: &mut PgConnection,
        new: NewCategory,
    ) -> Result<Category, Error> {
        let rank = match new.rank {
            Some(rank) => rank,
            None => repo::last_rank(conn)
                .await?
                .map_or_else(Rank::first, Rank::next),
        };
        let now = self.context.clock.now();
        let category = Category::create(self.context.ids.next(), new, rank, now);
        repo::insert_in_tx(conn, &category).await?;
        let event = events::changed(&self.context.ids, &category);
        outbox::append_in_tx(conn, SCHEMA, [event]).await?;
        Ok(category)
    }

    /// Reads a category.
    pub async fn get(&self, id: Id<Category>) -> Result<Category, Error> {
        let mut conn = self.context.pool.acquire().await?;
        repo::find(&mut conn, id)
            .await?
            .ok_or(Error::CategoryNotFound)
    }

    /// Lists categories.
    pub async fn list(&self, request: &ListRequest) -> Result<Page<Category>, Failure> {
        let mut conn = self.context.pool.acquire().await?;
        repo::list(&mut conn, request).await
    }

    /// Changes a category. An empty patch changes nothing, not even its time.
    pub async fn update(&self, id: Id<Category>, patch: CategoryPatch) -> Result<Category, Error> {
        if patch.is_empty() {
            return self.get(id).await;
        }
        let mut tx = pg::tx(&self.context.pool).await?;
        if patch.rank.is_some() {
            RANKED.lock_in_tx(&mut tx, Uuid::nil()).await?;
        }
        let mut category = locked_in_tx(&mut tx, id).await?;
        category.update(patch, self.context.clock.now());
        repo::update_in_tx(&mut tx, &category).await?;
        let event = events::changed(&self.context.ids, &category);
        outbox::append_in_tx(&mut tx, SCHEMA, [event]).await?;
        tx.commit().await?;
        Ok(category)
    }

    /// Puts a category right before another, or last, once per key.
    pub async fn reorder<R: prost::Message + Default>(
        &self,
        key: Option<&idempotency::Key>,
        id: Id<Category>,
        next: Option<Id<Category>>,
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
        id: Id<Category>,
        next: Option<Id<Category>>,
    ) -> Result<(), Error> {
        RANKED.lock_in_tx(conn, Uuid::nil()).await?;
        let mut category = locked_in_tx(conn, id).await?;
        let next = match next {
            Some(next) => Some(repo::find(conn, next).await?.ok_or(NO_SUBSEQUENT)?),
            None => None,
        };
        let (item, next) = (category.ranked(), next.as_ref().map(Category::ranked));
        let room = RANKED.make_room_in_tx(conn, Uuid::nil(), item, next);
        let Some(rank) = room.await? else {
            return Ok(());
        };
        category.place(rank, self.context.clock.now());
        repo::update_in_tx(conn, &category).await?;
        let event = events::changed(&self.context.ids, &category);
        Ok(outbox::append_in_tx(conn, SCHEMA, [event]).await?)
    }

    /// Deletes a category that no product names.
    pub async fn delete(&self, id: Id<Category>) -> Result<(), Error> {
        let mut tx = pg::tx(&self.context.pool).await?;
        let mut category = locked_in_tx(&mut tx, id).await?;
        if repo::is_used(&mut tx, id).await? {
            return Err(Error::CategoryInUse);
        }
        category.delete(self.context.clock.now());
        repo::delete_in_tx(&mut tx, &category).await?;
        let event = events::deleted(&self.context.ids, &category);
        outbox::append_in_tx(&mut tx, SCHEMA, [event]).await?;
        tx.commit().await?;
        Ok(())
    }
}

async fn locked_in_tx(conn: &mut PgConnection, id: Id<Category>) -> Result<Category, Error> {
    if !repo::lock_in_tx(conn, id).await? {
        return Err(Error::CategoryNotFound);
    }
    repo::find(conn, id).await?.ok_or(Error::CategoryNotFound)
}
