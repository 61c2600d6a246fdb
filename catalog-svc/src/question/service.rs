//! The use cases of questions: each public method is one transaction.

use platform::{
    audit::{self, Entry},
    error::Failure,
    grpc::precondition::{self, Versions},
    idempotency::{self, Key, Reply, Started},
    ids::Id,
    pg,
};
use proto::{
    catalog::v1 as wire,
    common::v1::{ListRequest, PageInfo},
};
use sqlx::PgConnection;

use super::{NewQuestion, Question, QuestionPatch, convert, repo};
use crate::{
    SCHEMA,
    context::{Change, Context},
    error::Error,
};

#[derive(Debug, Clone)]
pub(crate) struct Questions {
    context: Context,
}

impl Questions {
    pub(crate) fn new(context: Context) -> Self {
        Self { context }
    }

    /// Creates a question, once per key.
    pub(crate) async fn create(
        &self,
        key: Option<&Key>,
        new: NewQuestion,
    ) -> Result<Reply<wire::Question>, Error> {
        let mut work = match idempotency::start(&self.context.pool, SCHEMA, key).await? {
            Started::Replay(reply) => return Ok(reply),
            Started::Fresh(work) => work,
        };
        let (id, now) = (self.context.ids.next(), self.context.clock.now());
        let question = Question::create(id, new, now);
        repo::insert_in_tx(&mut work, &question).await?;
        record_in_tx(&mut work, id, Change::Created).await?;
        Ok(work.commit(convert::to_proto(question)).await?)
    }

    pub(crate) async fn get(&self, id: Id<Question>) -> Result<wire::Question, Error> {
        let mut conn = self.context.pool.acquire().await?;
        let question = repo::find(&mut conn, id).await?;
        Ok(convert::to_proto(question.ok_or(Error::QuestionNotFound)?))
    }

    pub(crate) async fn list(
        &self,
        request: &ListRequest,
    ) -> Result<(Vec<wire::Question>, PageInfo), Failure> {
        let mut conn = self.context.pool.acquire().await?;
        let page = repo::list(&mut conn, request).await?;
        Ok(page.encode(convert::to_proto))
    }

    /// Lists the types of questions.
    pub(crate) async fn list_types(
        &self,
        request: &ListRequest,
    ) -> Result<(Vec<wire::QuestionType>, PageInfo), Failure> {
        let mut conn = self.context.pool.acquire().await?;
        let page = repo::list_types(&mut conn, request).await?;
        Ok(page.encode(convert::type_to_proto))
    }

    /// Updates a question. An empty patch changes nothing, not even its time.
    pub(crate) async fn update(
        &self,
        id: Id<Question>,
        patch: QuestionPatch,
        if_version: Option<&Versions>,
    ) -> Result<wire::Question, Error> {
        let mut tx = pg::tx(&self.context.pool).await?;
        let mut question = lock_in_tx(&mut tx, id).await?;
        check_version(if_version, &question)?;
        if patch == QuestionPatch::default() {
            return Ok(convert::to_proto(question));
        }
        question
            .update(patch, self.context.clock.now())
            .map_err(Error::Configurations)?;
        repo::update_in_tx(&mut tx, &question).await?;
        record_in_tx(&mut tx, id, Change::Updated).await?;
        tx.commit().await?;
        Ok(convert::to_proto(question))
    }

    /// Deletes a question that is attached to no product.
    pub(crate) async fn delete(
        &self,
        id: Id<Question>,
        if_version: Option<&Versions>,
    ) -> Result<(), Error> {
        let mut tx = pg::tx(&self.context.pool).await?;
        let question = lock_in_tx(&mut tx, id).await?;
        check_version(if_version, &question)?;
        if repo::is_used(&mut tx, id).await? {
            return Err(Error::QuestionInUse);
        }
        repo::delete_in_tx(&mut tx, id, self.context.clock.now()).await?;
        record_in_tx(&mut tx, id, Change::Deleted).await?;
        Ok(tx.commit().await?)
    }
}

/// Each change has a time of its own, which is the version of the question.
fn check_version(if_version: Option<&Versions>, question: &Question) -> Result<(), Failure> {
    precondition::check(if_version, question.updated_at.timestamp_millis())
}

/// Records a change in the audit log.
async fn record_in_tx(
    conn: &mut PgConnection,
    id: Id<Question>,
    change: Change,
) -> Result<(), sqlx::Error> {
    let entry = Entry::new("question", change.name(), id);
    audit::record_in_tx(conn, SCHEMA, entry).await
}

/// Reads a question and locks it against every other change.
async fn lock_in_tx(conn: &mut PgConnection, id: Id<Question>) -> Result<Question, Error> {
    if !repo::lock_in_tx(conn, id).await? {
        return Err(Error::QuestionNotFound);
    }
    repo::find(conn, id).await?.ok_or(Error::QuestionNotFound)
}
