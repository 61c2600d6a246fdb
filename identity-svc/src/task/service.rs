//! Creating, reading and completing tasks. Users see only enabled ones.

use std::collections::HashSet;

use platform::{
    auth::Caller,
    clock::Clock,
    error::{Code, Failure, FieldCode},
    idempotency::{self, Key, Reply, Started},
    ids::Ids,
    messaging::outbox,
};
use proto::{
    common::v1::{ListRequest, PageInfo},
    identity::v1 as wire,
};
use sqlx::{PgConnection, PgPool};

use super::{
    convert, events,
    model::{Completion, NewTask, Task, TaskId},
    repo,
};
use crate::{
    SCHEMA,
    clients::wallet::{RewardAsset, Wallets},
    error::{Error, Result},
    user::{UserId, repo as users},
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
        check_precision(&new, &asset)?;
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

    /// Records that a user completed a task, once. `TaskCompleted` makes wallet-svc pay the reward.
    pub(crate) async fn complete(
        &self,
        key: Option<&Key>,
        task_id: TaskId,
        user_id: UserId,
    ) -> Result<Reply<wire::TaskCompletion>> {
        let mut work = match idempotency::start(&self.pool, SCHEMA, key).await? {
            Started::Replay(reply) => return Ok(reply),
            Started::Fresh(work) => work,
        };
        let task = repo::find_for_share_in_tx(&mut work, task_id)
            .await?
            .ok_or(Error::TaskNotFound)?;
        let user = users::find_for_share_in_tx(&mut work, user_id)
            .await?
            .ok_or_else(unknown_user)?;
        task.check_completable(user.blocked)?;
        let completion = self.new_completion(task, user_id);
        repo::insert_completion_in_tx(&mut work, &completion).await?;
        let event = events::completed(self.ids.uuid(), &completion, user.primary_wallet_id);
        outbox::append_in_tx(&mut work, SCHEMA, [event]).await?;
        Ok(work.commit(completion.into()).await?)
    }

    fn new_completion(&self, task: Task, user_id: UserId) -> Completion {
        Completion {
            id: self.ids.next(),
            task_id: task.id,
            user_id,
            amount: task.amount,
            asset_code: task.asset_code,
            transaction_id: self.ids.next(),
            created_at: self.clock.now(),
        }
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

/// Checks that the amount has no more decimals than its asset.
fn check_precision(new: &NewTask, asset: &RewardAsset) -> Result<(), Failure> {
    if new.amount.fits(asset.places) {
        return Ok(());
    }
    let message = format!("{} has {} decimal places", asset.code, asset.places.get());
    Err(Failure::new(Code::AmountPrecision, &message).field(
        "amount",
        FieldCode::Precision,
        &message,
    ))
}

/// The request named the user in its body: an unknown reference, not a missing resource.
fn unknown_user() -> Failure {
    Failure::invalid("userId", FieldCode::UnknownReference, "user not found")
}
