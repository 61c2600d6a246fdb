//! The use cases of links: each public method is one transaction under the lock of the product.

use platform::{
    idempotency::{self, Key, Reply, Started},
    ids::Id,
    pg,
    rank::{Ranked, RankedList},
};
use proto::catalog::v1 as wire;
use sqlx::PgConnection;

use super::{ProductQuestion, repo};
use crate::{
    SCHEMA,
    context::{Change, Context},
    error::Error,
    product::{self, Product},
    question::{self, Question},
};

/// The order of a product's questions. The lock of the product is that of the list.
const RANKED: RankedList = RankedList {
    table: "catalog.product_questions",
    id: "question_id",
    only: "product_id = $1",
};

const UNKNOWN_SUBSEQUENT: Error = Error::UnknownReference {
    field: "subsequentId",
    what: "question of the product",
};

#[derive(Debug, Clone)]
pub(crate) struct ProductQuestions {
    context: Context,
}

impl ProductQuestions {
    pub(crate) fn new(context: Context) -> Self {
        Self { context }
    }

    /// Attaches a question to a product, after its others, once per key.
    pub(crate) async fn create(
        &self,
        key: Option<&Key>,
        product_id: Id<Product>,
        question_id: Id<Question>,
    ) -> Result<Reply<wire::ProductQuestion>, Error> {
        let mut work = match idempotency::start(&self.context.pool, SCHEMA, key).await? {
            Started::Replay(reply) => return Ok(reply),
            Started::Fresh(work) => work,
        };
        let product = product::lock_in_tx(&mut work, product_id).await?;
        if !question::repo::share_in_tx(&mut work, question_id).await? {
            return Err(Error::UnknownReference {
                field: "questionId",
                what: "question",
            });
        }
        let link = ProductQuestion {
            product_id,
            question_id,
            rank: repo::next_rank(&mut work, product_id).await?,
        };
        repo::insert_in_tx(&mut work, &link).await?;
        self.touch_in_tx(&mut work, product).await?;
        Ok(work.commit(link.into()).await?)
    }

    /// Detaches a question from a product.
    pub(crate) async fn delete(
        &self,
        product_id: Id<Product>,
        question_id: Id<Question>,
    ) -> Result<(), Error> {
        let mut tx = pg::tx(&self.context.pool).await?;
        let product = product::lock_in_tx(&mut tx, product_id).await?;
        if !repo::delete_in_tx(&mut tx, product_id, question_id).await? {
            return Err(Error::ProductQuestionNotFound);
        }
        self.touch_in_tx(&mut tx, product).await?;
        Ok(tx.commit().await?)
    }

    /// Moves a question right before another of the same product, or to the end, once per key.
    pub(crate) async fn reorder(
        &self,
        key: Option<&Key>,
        product_id: Id<Product>,
        question_id: Id<Question>,
        next: Option<Id<Question>>,
    ) -> Result<Reply<()>, Error> {
        let mut work = match idempotency::start(&self.context.pool, SCHEMA, key).await? {
            Started::Replay(reply) => return Ok(reply),
            Started::Fresh(work) => work,
        };
        let product = product::lock_in_tx(&mut work, product_id).await?;
        let link = repo::find(&mut work, product_id, question_id).await?;
        let link = link.ok_or(Error::ProductQuestionNotFound)?;
        let next = match next {
            Some(next) => {
                let next = repo::find(&mut work, product_id, next).await?;
                Some(next.ok_or(UNKNOWN_SUBSEQUENT)?.ranked())
            }
            None => None,
        };
        let room = RANKED.make_room_in_tx(&mut work, product_id.uuid(), link.ranked(), next);
        if let Some(rank) = room.await? {
            repo::update_in_tx(&mut work, &ProductQuestion { rank, ..link }).await?;
            self.touch_in_tx(&mut work, product).await?;
        }
        Ok(work.commit(()).await?)
    }

    /// Writes that the product has changed.
    async fn touch_in_tx(
        &self,
        conn: &mut PgConnection,
        mut product: Product,
    ) -> Result<(), sqlx::Error> {
        product.touch(self.context.clock.now());
        product::write_in_tx(conn, &self.context.ids, &product, Change::Updated).await
    }
}

impl ProductQuestion {
    fn ranked(&self) -> Ranked {
        Ranked {
            rank: self.rank,
            id: self.question_id.uuid(),
        }
    }
}

impl From<ProductQuestion> for wire::ProductQuestion {
    fn from(link: ProductQuestion) -> Self {
        Self {
            product_id: link.product_id.into(),
            question_id: link.question_id.into(),
            order: link.rank.to_string(),
        }
    }
}
