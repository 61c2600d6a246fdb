//! Completing tasks, and the lists of what was completed.

use platform::{
    audit::{self, Entry},
    auth::Caller,
    clock::Clock,
    error::{Failure, FieldCode},
    idempotency::{self, Key, Reply, Started},
    ids::Ids,
    list::Page,
    messaging::outbox,
};
use proto::{common::v1::ListRequest, identity::v1 as wire};
use sqlx::PgPool;

use super::{
    events,
    model::{Completion, Task, TaskId},
    repo::{self, CompletionsOf},
};
use crate::{
    SCHEMA,
    error::{Error, Result},
    referral_reward::{
        ReferralRewards,
        model::{Base, Source},
    },
    user::{UserId, repo as users},
};

#[derive(Debug, Clone)]
pub(crate) struct Completions {
    pool: PgPool,
    rewards: ReferralRewards,
    clock: Clock,
    ids: Ids,
}

impl Completions {
    pub(crate) fn new(pool: PgPool, rewards: ReferralRewards, clock: Clock, ids: Ids) -> Self {
        Self {
            pool,
            rewards,
            clock,
            ids,
        }
    }

    /// Records that a user completed a task, once, and what its referrer earns. `TaskCompleted` makes
    /// wallet-svc pay the reward.
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
        let entry = Entry::new("task", "completed", task_id).detail("userId", user_id.to_string());
        audit::record_in_tx(&mut work, SCHEMA, entry).await?;
        let (source, base) = share_of(&completion);
        self.rewards
            .earn_in_tx(&mut work, source, &user, base)
            .await?;
        Ok(work.commit(completion.into()).await?)
    }

    /// Lists the completions of a task.
    pub(crate) async fn list_of_task(
        &self,
        id: TaskId,
        request: &ListRequest,
    ) -> Result<Page<Completion>> {
        let mut conn = self.pool.acquire().await?;
        let task = repo::find(&mut *conn, id).await?;
        task.ok_or(Error::TaskNotFound)?;
        Ok(repo::list_completions(&mut conn, request, CompletionsOf::Task(id)).await?)
    }

    /// Lists what a user that the caller may see has completed.
    pub(crate) async fn list_of_user(
        &self,
        caller: &Caller,
        id: UserId,
        request: &ListRequest,
    ) -> Result<Page<Completion>> {
        if caller.require_self_or_admin(id).is_err() {
            return Err(Error::UserNotFound);
        }
        let mut conn = self.pool.acquire().await?;
        let user = users::find(&mut conn, id).await?;
        user.ok_or(Error::UserNotFound)?;
        Ok(repo::list_completions(&mut conn, request, CompletionsOf::User(id)).await?)
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

/// Returns what the referrer of the user earns a share of.
fn share_of(completion: &Completion) -> (Source, Base) {
    let source = Source::Task {
        task: completion.task_id,
        completion: completion.id,
    };
    let base = Base {
        amount: completion.amount,
        asset_code: completion.asset_code.clone(),
    };
    (source, base)
}

/// The request named the user in its body: an unknown reference, not a missing resource.
fn unknown_user() -> Failure {
    Failure::invalid("userId", FieldCode::UnknownReference, "user not found")
}
