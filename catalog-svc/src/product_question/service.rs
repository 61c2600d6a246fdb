//! The use cases of links: each public method is one transaction under the lock of the product.

use platform::{
    idempotency::{self, Reply, Started},
    ids::Id,
    messaging::outbox,
    pg,
    rank::{Rank, Ranked, RankedList},
};
use sqlx::PgConnection;

use super::{ProductQuestion, repo};
use crate::{
    SCHEMA,
    context::Context,
    error::Error,
    product::{self, Product},
    question::{self, Question},
};

/// The questions of one product.
const RANKED: RankedList = RankedList {
    table: "catalog.product_questions",
    id: "question_id",
    only: "product_id = $1",
};

/// The links.
#[derive(Debug, Clone)]
pub struct ProductQuestions {
    context: Context,
}

impl ProductQuestions {
    /// The links in this database.
    pub fn new(context: Context) -> Self {
        Self { context }
    }

    /// Makes a product ask a question, after those it asks, once per key. `answer` is what the key's
    /// record keeps.
    pub async fn create<R: prost::Message + Default>(
        &self,
        key: Option<&idempotency::Key>,
        product_id: Id<Product>,
        question_id: Id<Question>,
        answer: impl FnOnce(ProductQuestion) -> R,
    ) -> Result<Reply<R>, Error> {
        let mut work = match idempotency::start(&self.context.pool, SCHEMA, key).await? {
            Started::Replay(answer) => return Ok(answer),
            Started::Fresh(work) => work,
        };
        let product = product::locked_in_tx(&mut work, product_id).await?;
        if !question::repo::share_in_tx(&mut work, question_id).await? {
            return Err(Error::UnknownReference {
                field: "questionId",
                what: "question",
            });
        }
        let last = repo::last_rank(&mut work, product_id).await?;
        let link = ProductQuestion {
            product_id,
            question_id,
            rank: last.map_or_else(Rank::first, Rank::next),
        };
        repo::insert_in_tx(&mut work, &link).await?;
        self.changed_in_tx(&mut work, product).await?;
        Ok(work.commit(answer(link)).await?)
    }

    /// Makes a product ask a question no more.
    pub async fn delete(
        &self,
        product_id: Id<Product>,
        question_id: Id<Question>,
    ) -> Result<(), Error> {
        let mut tx = pg::tx(&self.context.pool).await?;
        let product = product::locked_in_tx(&mut tx, product_id).await?;
        if !repo::delete_in_tx(&mut tx, product_id, question_id).await? {
            return Err(Error::ProductQuestionNotFound);
        }
        self.changed_in_tx(&mut tx, product).await?;
        tx.commit().await?;
        Ok(())
    }

    /// Puts a question right before another of the same product, or last, once per key.
    pub async fn reorder<R: prost::Message + Default>(
        &self,
        key: Option<&idempotency::Key>,
        (product_id, question_id): (Id<Product>, Id<Question>),
        next: Option<Id<Question>>,
        answer: R,
    ) -> Result<Reply<R>, Error> {
        let mut work = match idempotency::start(&self.context.pool, SCHEMA, key).await? {
            Started::Replay(answer) => return Ok(answer),
            Started::Fresh(work) => work,
        };
        let product = product::locked_in_tx(&mut work, product_id).await?;
        let link = repo::find(&mut work, product_id, question_id).await?;
        let link = link.ok_or(Error::ProductQuestionNotFound)?;
        let next = match next {
            Some(next) => Some(repo::find(&mut work, product_id, next).await?.ok_or(
                Error::UnknownReference {
                    field: "subsequentId",
                    what: "question of the product",
                },
            )?),
            None => None,
        };
        self.move_in_tx(&mut work, product, link, next).await?;
        Ok(work.commit(answer).await?)
    }

    /// The lock of the product is that of the list.
    async fn move_in_tx(
        &self,
        conn: &mut PgConnection,
        product: Product,
        link: ProductQuestion,
        next: Option<ProductQuestion>,
    ) -> Result<(), Error> {
        let owner = link.product_id.uuid();
        let next = next.map(|next| ranked(&next));
        let room = RANKED.make_room_in_tx(conn, owner, ranked(&link), next);
        let Some(rank) = room.await? else {
            return Ok(());
        };
        repo::update_in_tx(conn, &ProductQuestion { rank, ..link }).await?;
        self.changed_in_tx(conn, product).await
    }

    async fn changed_in_tx(
        &self,
        conn: &mut PgConnection,
        mut product: Product,
    ) -> Result<(), Error> {
        product.place(product.rank, self.context.clock.now());
        product::repo::update_in_tx(conn, &product).await?;
        let event = product::updated(&self.context.ids, &product);
        Ok(outbox::append_in_tx(conn, SCHEMA, [event]).await?)
    }
}

fn ranked(link: &ProductQuestion) -> Ranked {
    Ranked {
        id: link.question_id.uuid(),
        rank: link.rank,
    }
}
