//! The use cases of categories: each public method is one transaction.

use platform::{
    audit::{self, Entry},
    error::Failure,
    grpc::precondition::{self, Versions},
    idempotency::{self, Key, Reply, Started},
    ids::Id,
    messaging::outbox,
    pg,
    rank::RankedList,
};
use proto::{
    catalog::v1 as wire,
    common::v1::{ListRequest, PageInfo},
};
use sqlx::PgConnection;
use uuid::Uuid;

use super::{Category, CategoryPatch, NewCategory, convert, events, repo};
use crate::{
    SCHEMA,
    context::{Change, Context},
    error::Error,
    media::Media,
};

/// The order of the categories.
const RANKED: RankedList = RankedList {
    table: "catalog.categories",
    id: "id",
    only: "deleted_at is null",
};

const UNKNOWN_SUBSEQUENT: Error = Error::UnknownReference {
    field: "subsequentId",
    what: "category",
};

#[derive(Debug, Clone)]
pub(crate) struct Categories {
    context: Context,
    media: Media,
}

impl Categories {
    pub(crate) fn new(context: Context, media: Media) -> Self {
        Self { context, media }
    }

    /// Creates a category, once per key; without a rank, after all others.
    pub(crate) async fn create(
        &self,
        key: Option<&Key>,
        new: NewCategory,
    ) -> Result<Reply<wire::Category>, Error> {
        let mut work = match idempotency::start(&self.context.pool, SCHEMA, key).await? {
            Started::Replay(reply) => return Ok(reply),
            Started::Fresh(work) => work,
        };
        let rank = match new.rank {
            Some(rank) => {
                RANKED.lock_in_tx(&mut work, Uuid::nil()).await?;
                rank
            }
            None => repo::next_rank(&mut work).await?,
        };
        let (id, now) = (self.context.ids.next(), self.context.clock.now());
        let category = Category::create(id, new, rank, now);
        self.write_in_tx(&mut work, &category, Change::Created)
            .await?;
        let resource = convert::to_proto(category, &self.media);
        Ok(work.commit(resource).await?)
    }

    pub(crate) async fn get(&self, id: Id<Category>) -> Result<wire::Category, Error> {
        let mut conn = self.context.pool.acquire().await?;
        let category = repo::find(&mut conn, id).await?;
        let category = category.ok_or(Error::CategoryNotFound)?;
        Ok(convert::to_proto(category, &self.media))
    }

    pub(crate) async fn list(
        &self,
        request: &ListRequest,
    ) -> Result<(Vec<wire::Category>, PageInfo), Failure> {
        let mut conn = self.context.pool.acquire().await?;
        let page = repo::list(&mut conn, request).await?;
        Ok(page.encode(|category| convert::to_proto(category, &self.media)))
    }

    /// Updates a category. An empty patch changes nothing, not even its time.
    pub(crate) async fn update(
        &self,
        id: Id<Category>,
        patch: CategoryPatch,
        if_version: Option<&Versions>,
    ) -> Result<wire::Category, Error> {
        if patch == CategoryPatch::default() {
            let category = self.get(id).await?;
            precondition::check(if_version, category.version)?;
            return Ok(category);
        }
        let mut tx = pg::tx(&self.context.pool).await?;
        if patch.rank.is_some() {
            RANKED.lock_in_tx(&mut tx, Uuid::nil()).await?;
        }
        let mut category = lock_in_tx(&mut tx, id).await?;
        precondition::check(if_version, category.version)?;
        category.update(patch, self.context.clock.now());
        self.write_in_tx(&mut tx, &category, Change::Updated)
            .await?;
        tx.commit().await?;
        Ok(convert::to_proto(category, &self.media))
    }

    /// Moves a category right before another, or to the end, once per key.
    pub(crate) async fn reorder(
        &self,
        key: Option<&Key>,
        id: Id<Category>,
        next: Option<Id<Category>>,
    ) -> Result<Reply<()>, Error> {
        let mut work = match idempotency::start(&self.context.pool, SCHEMA, key).await? {
            Started::Replay(reply) => return Ok(reply),
            Started::Fresh(work) => work,
        };
        RANKED.lock_in_tx(&mut work, Uuid::nil()).await?;
        let mut category = lock_in_tx(&mut work, id).await?;
        let next = match next {
            Some(next) => {
                let next = repo::find(&mut work, next).await?;
                Some(next.ok_or(UNKNOWN_SUBSEQUENT)?.ranked())
            }
            None => None,
        };
        let room = RANKED.make_room_in_tx(&mut work, Uuid::nil(), category.ranked(), next);
        if let Some(rank) = room.await? {
            category.place(rank, self.context.clock.now());
            self.write_in_tx(&mut work, &category, Change::Updated)
                .await?;
        }
        Ok(work.commit(()).await?)
    }

    /// Deletes a category that has no products.
    pub(crate) async fn delete(
        &self,
        id: Id<Category>,
        if_version: Option<&Versions>,
    ) -> Result<(), Error> {
        let mut tx = pg::tx(&self.context.pool).await?;
        let mut category = lock_in_tx(&mut tx, id).await?;
        precondition::check(if_version, category.version)?;
        if repo::is_used(&mut tx, id).await? {
            return Err(Error::CategoryInUse);
        }
        category.touch(self.context.clock.now());
        self.write_in_tx(&mut tx, &category, Change::Deleted)
            .await?;
        Ok(tx.commit().await?)
    }

    /// Writes a change, its event and its entry in the audit log.
    async fn write_in_tx(
        &self,
        conn: &mut PgConnection,
        category: &Category,
        change: Change,
    ) -> Result<(), sqlx::Error> {
        match change {
            Change::Created => repo::insert_in_tx(conn, category).await?,
            Change::Updated => repo::update_in_tx(conn, category).await?,
            Change::Deleted => repo::delete_in_tx(conn, category).await?,
        }
        let event = events::message(&self.context.ids, category, change);
        outbox::append_in_tx(conn, SCHEMA, [event]).await?;
        let entry = Entry::new("category", change.name(), category.id);
        audit::record_in_tx(conn, SCHEMA, entry).await
    }
}

/// Reads a category and locks it against every other change.
async fn lock_in_tx(conn: &mut PgConnection, id: Id<Category>) -> Result<Category, Error> {
    if !repo::lock_in_tx(conn, id).await? {
        return Err(Error::CategoryNotFound);
    }
    repo::find(conn, id).await?.ok_or(Error::CategoryNotFound)
}
