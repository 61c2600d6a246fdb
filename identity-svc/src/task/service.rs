//! Creating, reading and changing tasks. Users see only enabled ones, and nobody deleted
//! ones.

use std::collections::HashSet;

use platform::{
    audit::{self, Entry},
    auth::Caller,
    clock::Clock,
    error::{Code, Failure, FieldCode},
    grpc::precondition::{self, Versions},
    idempotency::{self, Key, Reply, Started},
    ids::Ids,
    money::Amount,
    pg,
    rank::RankedList,
};
use proto::{
    common::v1::{ListRequest, PageInfo},
    identity::v1 as wire,
};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::{
    convert,
    model::{NewTask, Task, TaskId, TaskPatch},
    repo,
};
use crate::{
    SCHEMA,
    clients::wallet::{RewardAsset, Wallets},
    error::{Error, Result},
    user::UserId,
};

/// The order of the tasks.
const RANKED: RankedList = RankedList {
    table: "identity.tasks",
    id: "id",
    only: "deleted_at is null",
};

#[derive(Debug, Clone)]
pub(crate) struct Tasks {
    pool: PgPool,
    wallets: Wallets,
    /// The base URL of relative image paths.
    media_base: String,
    clock: Clock,
    ids: Ids,
}

impl Tasks {
    pub(crate) fn new(
        pool: PgPool,
        wallets: Wallets,
        media_base: String,
        clock: Clock,
        ids: Ids,
    ) -> Self {
        Self {
            pool,
            wallets,
            media_base,
            clock,
            ids,
        }
    }

    /// Creates a task. Its reward is in the current asset of rewards.
    pub(crate) async fn create(
        &self,
        key: Option<&Key>,
        new: NewTask,
    ) -> Result<Reply<wire::Task>> {
        if let Some(reply) = idempotency::find_replay(&self.pool, SCHEMA, key).await? {
            return Ok(reply);
        }
        let asset = self.wallets.reward_asset().await?;
        check_precision(new.amount, &asset)?;
        let mut work = match idempotency::start(&self.pool, SCHEMA, key).await? {
            Started::Replay(reply) => return Ok(reply),
            Started::Fresh(work) => work,
        };
        let rank = match new.rank {
            Some(rank) => rank,
            None => repo::last_rank_in_tx(&mut work).await?,
        };
        let task = new.create(self.ids.next(), asset.code, rank, self.clock.now());
        repo::insert_in_tx(&mut work, &task).await?;
        record_in_tx(&mut work, task.id, "created").await?;
        let task = convert::task(task, &self.media_base, false);
        Ok(work.commit(task).await?)
    }

    /// Returns a task as the caller sees it.
    pub(crate) async fn get(&self, caller: &Caller, id: TaskId) -> Result<wire::Task> {
        let mut conn = self.pool.acquire().await?;
        let task = repo::find(&mut *conn, id)
            .await?
            .filter(|task| task.enabled || caller.is_admin())
            .ok_or(Error::TaskNotFound)?;
        let completed = completed_by(&mut conn, caller, &[task.id]).await?;
        let is_completed = completed.contains(&task.id);
        Ok(convert::task(task, &self.media_base, is_completed))
    }

    /// Lists tasks as the caller sees them.
    pub(crate) async fn list(
        &self,
        caller: &Caller,
        request: &ListRequest,
    ) -> Result<(Vec<wire::Task>, PageInfo)> {
        let mut conn = self.pool.acquire().await?;
        let page = repo::list(&mut conn, request, caller.is_admin()).await?;
        let ids: Vec<_> = page.rows.iter().map(|task| task.id).collect();
        let completed = completed_by(&mut conn, caller, &ids).await?;
        Ok(page.encode(|task| {
            let is_completed = completed.contains(&task.id);
            convert::task(task, &self.media_base, is_completed)
        }))
    }

    /// Updates a task, and returns it as the caller sees it. An empty patch changes nothing.
    pub(crate) async fn update(
        &self,
        caller: &Caller,
        id: TaskId,
        patch: TaskPatch,
        if_version: Option<&Versions>,
    ) -> Result<wire::Task> {
        if patch == TaskPatch::default() && if_version.is_none() {
            return self.get(caller, id).await;
        }
        if let Some(amount) = patch.amount {
            self.check_reward(id, amount).await?;
        }
        let mut tx = pg::tx(&self.pool).await?;
        if patch.rank.is_some() {
            RANKED.lock_in_tx(&mut tx, Uuid::nil()).await?;
        }
        let mut task = lock_in_tx(&mut tx, id).await?;
        check_version(if_version, &task)?;
        if patch != TaskPatch::default() {
            task.update(patch, self.clock.now());
            repo::update_in_tx(&mut tx, &task).await?;
            record_in_tx(&mut tx, id, "updated").await?;
        }
        let completed = completed_by(&mut tx, caller, &[id]).await?;
        tx.commit().await?;
        Ok(convert::task(
            task,
            &self.media_base,
            completed.contains(&id),
        ))
    }

    /// Deletes a task. A completion that runs at the same time comes before, or finds no task.
    pub(crate) async fn delete(&self, id: TaskId, if_version: Option<&Versions>) -> Result<()> {
        let mut tx = pg::tx(&self.pool).await?;
        check_version(if_version, &lock_in_tx(&mut tx, id).await?)?;
        if !repo::delete(&mut *tx, id, self.clock.now()).await? {
            return Err(Error::TaskNotFound);
        }
        record_in_tx(&mut tx, id, "deleted").await?;
        Ok(tx.commit().await?)
    }

    /// Moves a task right before another, or to the end, once per key.
    pub(crate) async fn reorder(
        &self,
        key: Option<&Key>,
        id: TaskId,
        next: Option<TaskId>,
    ) -> Result<Reply<()>> {
        let mut work = match idempotency::start(&self.pool, SCHEMA, key).await? {
            Started::Replay(reply) => return Ok(reply),
            Started::Fresh(work) => work,
        };
        RANKED.lock_in_tx(&mut work, Uuid::nil()).await?;
        let mut task = lock_in_tx(&mut work, id).await?;
        let next = match next {
            Some(next) => {
                let next = repo::find(&mut *work, next).await?;
                Some(next.ok_or_else(unknown_subsequent)?.ranked())
            }
            None => None,
        };
        let room = RANKED.make_room_in_tx(&mut work, Uuid::nil(), task.ranked(), next);
        if let Some(rank) = room.await? {
            task.place(rank, self.clock.now());
            repo::update_in_tx(&mut work, &task).await?;
            record_in_tx(&mut work, id, "updated").await?;
        }
        Ok(work.commit(()).await?)
    }

    /// Checks a new amount of an existing task, whose asset never changes.
    async fn check_reward(&self, id: TaskId, amount: Amount) -> Result<()> {
        let task = repo::find(&self.pool, id).await?;
        let task = task.ok_or(Error::TaskNotFound)?;
        let asset = self.wallets.asset(task.asset_code).await?;
        Ok(check_precision(amount, &asset)?)
    }
}

/// Returns those of the tasks that the calling user has completed; none for other callers.
async fn completed_by(
    conn: &mut PgConnection,
    caller: &Caller,
    tasks: &[TaskId],
) -> Result<HashSet<TaskId>> {
    let Some(user_id) = caller.user_id() else {
        return Ok(HashSet::new());
    };
    let user_id = UserId::parse(user_id).map_err(Error::internal)?;
    repo::find_completed(conn, user_id, tasks).await
}

/// Each change has a time of its own, which is the version of the task.
fn check_version(if_version: Option<&Versions>, task: &Task) -> Result<()> {
    precondition::check(if_version, task.updated_at.timestamp_millis())?;
    Ok(())
}

/// Reads a task and locks it against every other change.
async fn lock_in_tx(conn: &mut PgConnection, id: TaskId) -> Result<Task> {
    let task = repo::find_for_update_in_tx(conn, id).await?;
    task.ok_or(Error::TaskNotFound)
}

/// Checks that the amount has no more decimals than its asset.
fn check_precision(amount: Amount, asset: &RewardAsset) -> Result<(), Failure> {
    if amount.fits(asset.places) {
        return Ok(());
    }
    let message = format!("{} has {} decimal places", asset.code, asset.places.get());
    Err(Failure::new(Code::AmountPrecision, &message).field(
        "amount",
        FieldCode::Precision,
        &message,
    ))
}

/// The request named the task in its body.
fn unknown_subsequent() -> Failure {
    Failure::invalid(
        "subsequentId",
        FieldCode::UnknownReference,
        "task not found",
    )
}

/// Records a change in the audit log.
async fn record_in_tx(conn: &mut PgConnection, id: TaskId, done: &str) -> Result<()> {
    audit::record_in_tx(conn, SCHEMA, Entry::new("task", done, id)).await?;
    Ok(())
}
