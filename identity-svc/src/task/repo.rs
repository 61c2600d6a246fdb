//! SQL of tasks and their completions.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use platform::{
    error::Failure,
    list::{Key, List, Page},
    pg,
    rank::Rank,
};
use proto::{
    common::v1::ListRequest,
    lists::identity::{COMPLETIONS, TASKS},
};
use sqlx::{PgConnection, PgExecutor};

use super::model::{Completion, Task, TaskId, TaskType};
use crate::{
    error::{Error, Result},
    user::UserId,
};

/// Returns the rank after all others.
pub(super) async fn last_rank_in_tx(conn: &mut PgConnection) -> Result<Rank> {
    let last = sqlx::query_scalar!(
        r#"select rank::text as "rank!: Rank" from identity.tasks
           where deleted_at is null
           order by rank desc, id desc
           limit 1"#
    )
    .fetch_optional(conn)
    .await?;
    Ok(last.map_or_else(Rank::first, Rank::next))
}

pub(super) async fn insert_in_tx(conn: &mut PgConnection, task: &Task) -> Result<()> {
    sqlx::query!(
        "insert into identity.tasks
             (id, name, description, kind, amount, asset_code, button_label, survey_url, image,
              thumbnail, rank, enabled, featured, custom_data, created_at, updated_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::text::numeric, $12, $13, $14, $15, $16)",
        task.id as _,
        task.name,
        task.description,
        task.kind as _,
        task.amount as _,
        task.asset_code,
        task.button_label.as_deref(),
        task.survey_url.as_deref(),
        task.image.as_deref(),
        task.thumbnail.as_deref(),
        task.rank as _,
        task.enabled,
        task.featured,
        task.custom_data,
        task.created_at,
        task.updated_at,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Finds a task.
pub(super) async fn find(db: impl PgExecutor<'_>, id: TaskId) -> Result<Option<Task>> {
    Ok(sqlx::query_as!(
        Task,
        r#"select id, name, description, kind as "kind: TaskType", amount, asset_code,
                  button_label, survey_url, image, thumbnail, rank::text as "rank!: Rank", enabled,
                  featured, custom_data, created_at, updated_at
           from identity.tasks
           where id = $1 and deleted_at is null"#,
        id as _
    )
    .fetch_optional(db)
    .await?)
}

/// Finds a task and locks it against changes.
pub(super) async fn find_for_share_in_tx(
    conn: &mut PgConnection,
    id: TaskId,
) -> Result<Option<Task>> {
    sqlx::query_scalar!(
        "select id from identity.tasks where id = $1 and deleted_at is null for share",
        id as _
    )
    .fetch_optional(&mut *conn)
    .await?;
    find(conn, id).await
}

/// Finds and locks a task, to change it.
pub(super) async fn find_for_update_in_tx(
    conn: &mut PgConnection,
    id: TaskId,
) -> Result<Option<Task>> {
    sqlx::query_scalar!(
        "select id from identity.tasks where id = $1 and deleted_at is null for update",
        id as _
    )
    .fetch_optional(&mut *conn)
    .await?;
    find(conn, id).await
}

/// Writes a changed task, which the caller has locked.
pub(super) async fn update_in_tx(conn: &mut PgConnection, task: &Task) -> Result<()> {
    let updated = sqlx::query!(
        "update identity.tasks
         set name = $2, description = $3, kind = $4, amount = $5, button_label = $6,
             survey_url = $7, image = $8, thumbnail = $9, rank = $10::text::numeric, enabled = $11,
             featured = $12, custom_data = $13, updated_at = $14
         where id = $1 and deleted_at is null",
        task.id as _,
        task.name,
        task.description,
        task.kind as _,
        task.amount as _,
        task.button_label.as_deref(),
        task.survey_url.as_deref(),
        task.image.as_deref(),
        task.thumbnail.as_deref(),
        task.rank as _,
        task.enabled,
        task.featured,
        task.custom_data,
        task.updated_at,
    )
    .execute(conn)
    .await?;
    Ok(pg::ensure_affected(updated, 1)?)
}

/// Marks a task as deleted. Returns `false` if there is none.
pub(super) async fn delete(
    db: impl PgExecutor<'_>,
    id: TaskId,
    now: DateTime<Utc>,
) -> Result<bool> {
    let deleted = sqlx::query!(
        "update identity.tasks set deleted_at = $2, updated_at = $2
         where id = $1 and deleted_at is null",
        id as _,
        now,
    )
    .execute(db)
    .await?;
    Ok(deleted.rows_affected() == 1)
}

/// Lists tasks; without `all`, only enabled ones.
pub(super) async fn list(
    conn: &mut PgConnection,
    request: &ListRequest,
    all: bool,
) -> Result<Page<Task>, Failure> {
    let tasks = List::new(&TASKS, "identity.tasks t", Key::Id("t.id"))
        .select(
            "t.id, t.name, t.description, t.kind, t.amount, t.asset_code, t.button_label,
             t.survey_url, t.image, t.thumbnail, t.rank::text as rank, t.enabled, t.featured,
             t.custom_data, t.created_at, t.updated_at",
        )
        .only("t.deleted_at is null")
        .column("type", "t.kind")
        .column("order", "t.rank");
    let tasks = if all { tasks } else { tasks.only("t.enabled") };
    tasks.fetch(conn, request).await
}

/// Returns those of the tasks that the user has completed.
pub(super) async fn find_completed(
    db: impl PgExecutor<'_>,
    user_id: UserId,
    tasks: &[TaskId],
) -> Result<HashSet<TaskId>> {
    let completed = sqlx::query_scalar!(
        "select task_id from identity.task_completions where user_id = $1 and task_id = any($2)",
        user_id as _,
        tasks as _,
    )
    .fetch_all(db)
    .await?;
    Ok(completed.into_iter().collect())
}

/// Inserts a completion; refuses a second one of the task by the same user.
pub(super) async fn insert_completion_in_tx(
    conn: &mut PgConnection,
    completion: &Completion,
) -> Result<()> {
    sqlx::query!(
        "insert into identity.task_completions
             (id, task_id, user_id, amount, asset_code, transaction_id, created_at)
         values ($1, $2, $3, $4, $5, $6, $7)",
        completion.id as _,
        completion.task_id as _,
        completion.user_id as _,
        completion.amount as _,
        completion.asset_code,
        completion.transaction_id as _,
        completion.created_at,
    )
    .execute(conn)
    .await
    .map_err(pg::on_constraint([(
        "task_completions_task_id_user_id_key",
        Error::TaskAlreadyCompleted,
    )]))?;
    Ok(())
}

/// The owner of a list of completions.
#[derive(Debug, Clone, Copy)]
pub(super) enum CompletionsOf {
    Task(TaskId),
    User(UserId),
}

/// Lists the completions of a task or of a user.
pub(super) async fn list_completions(
    conn: &mut PgConnection,
    request: &ListRequest,
    of: CompletionsOf,
) -> Result<Page<Completion>, Failure> {
    let completions = List::new(&COMPLETIONS, "identity.task_completions c", Key::Id("c.id"))
        .select(
            "c.id, c.task_id, c.user_id, c.amount, c.asset_code, c.transaction_id, c.created_at",
        );
    let completions = match of {
        CompletionsOf::Task(id) => completions.only_with("c.task_id = ?", Some(id.uuid())),
        CompletionsOf::User(id) => completions.only_with("c.user_id = ?", Some(id.uuid())),
    };
    completions.fetch(conn, request).await
}
