//! The use cases of questions: each public method is one transaction.

use platform::{
    error::Failure,
    idempotency::{self, Reply, Started},
    ids::Id,
    list::Page,
    pg,
};
use proto::common::v1::ListRequest;
use sqlx::PgConnection;

use super::{NewQuestion, Question, QuestionPatch, QuestionType, repo};
use crate::{SCHEMA, context::Context, error::Error};

/// The questions.
#[derive(Debug, Clone)]
pub struct Questions {
    context: Context,
}

impl Questions {
    /// The questions in this database.
    pub fn new(context: Context) -> Self {
        Self { context }
    }

    /// Makes a question, once per key. `answer` is what the key's record keeps.
    pub async fn create<R: prost::Message + Default>(
        &self,
        key: Option<&idempotency::Key>,
        new: NewQuestion,
        answer: impl FnOnce(Question) -> R,
    ) -> Result<Reply<R>, Error> {
        let mut work = match idempotency::start(&self.context.pool, SCHEMA, key).await? {
            Started::Replay(answer) => return Ok(answer),
            Started::Fresh(work) => work,
        };
        let (id, now) = (self.context.ids.next(), self.context.clock.now());
        let question = Question::create(id, new, now).map_err(Error::Configurations)?;
        repo::insert_in_tx(&mut work, &question).await?;
        Ok(work.commit(answer(question)).await?)
    }

    /// Reads a question.
    pub async fn get(&self, id: Id<Question>) -> Result<Question, Error> {
        let mut conn = self.context.pool.acquire().await?;
        repo::find(&mut conn, id)
            .await?
            .ok_or(Error::QuestionNotFound)
    }

    /// Lists questions.
    pub async fn list(&self, request: &ListRequest) -> Result<Page<Question>, Failure> {
        let mut conn = self.context.pool.acquire().await?;
        repo::list(&mut conn, request).await
    }

    /// Lists the types of questions.
    pub async fn list_types(&self, request: &ListRequest) -> Result<Page<QuestionType>, Failure> {
        let mut conn = self.context.pool.acquire().await?;
        repo::list_types(&mut conn, request).await
    }

    /// Changes a question. An empty patch changes nothing, not even its time.
    pub async fn update(&self, id: Id<Question>, patch: QuestionPatch) -> Result<Question, Error> {
        if patch == QuestionPatch::default() {
            return self.get(id).await;
        }
        let mut tx = pg::tx(&self.context.pool).await?;
        let mut question = locked_in_tx(&mut tx, id).await?;
        question
            .update(patch, self.context.clock.now())
            .map_err(Error::Configurations)?;
        repo::update_in_tx(&mut tx, &question).await?;
        tx.commit().await?;
        Ok(question)
    }

    /// Deletes a question that no product asks.
    pub async fn delete(&self, id: Id<Question>) -> Result<(), Error> {
        let mut tx = pg::tx(&self.context.pool).await?;
        locked_in_tx(&mut tx, id).await?;
        if repo::is_used(&mut tx, id).await? {
            return Err(Error::QuestionInUse);
        }
        repo::delete_in_tx(&mut tx, id, self.context.clock.now()).await?;
        tx.commit().await?;
        Ok(())
    }
}

async fn locked_in_tx(conn: &mut PgConnection, id: Id<Question>) -> Result<Question, Error> {
    if !repo::lock_in_tx(conn, id).await? {
        return Err(Error::QuestionNotFound);
    }
    repo::find(conn, id).await?.ok_or(Error::QuestionNotFound)
}
