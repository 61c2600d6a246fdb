//! Completions of tasks: `/tasks/{id}/complete`, `/tasks/{id}/completions`, `/users/{id}/completions`

use platform::error::Code;
use proto::identity::v1::{
    self as wire, CompleteTaskRequest, ListTaskCompletionsRequest, ListUserCompletionsRequest,
};
use serde::{Deserialize, Serialize};

use super::{
    dto::Time,
    result::{self, DataResult, ListResult},
};
use crate::extract::{Call, Id, Json, ListParams, PathParams};

/// A completion to record.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewCompletion {
    user_id: Id,
}

/// The completion of a task by a user.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskCompletion {
    id: String,
    task_id: String,
    user_id: String,
    amount: String,
    asset_code: String,
    /// The transaction that credits the reward; it follows the response.
    transaction_id: String,
    created_at: Option<Time>,
}

/// Complete a task for a user.
pub(crate) async fn complete(
    call: Call,
    path: PathParams,
    Json(body): Json<NewCompletion>,
) -> DataResult<TaskCompletion> {
    let id = path.id("id", Code::TaskNotFound)?;
    let request = call.request(CompleteTaskRequest {
        id,
        user_id: body.user_id.into(),
    });
    result::data(call.clients.tasks().complete_task(request), |response| {
        response.completion
    })
    .await
}

/// List the completions of a task.
pub(crate) async fn list_of_task(
    call: Call,
    path: PathParams,
    ListParams(list): ListParams,
) -> ListResult<TaskCompletion> {
    let request = call.request(ListTaskCompletionsRequest {
        task_id: path.id("id", Code::TaskNotFound)?,
        list: Some(list),
    });
    result::list(
        call.clients.tasks().list_task_completions(request),
        |response| (response.completions, response.page),
    )
    .await
}

/// List the tasks that a user has completed.
pub(crate) async fn list_of_user(
    call: Call,
    path: PathParams,
    ListParams(list): ListParams,
) -> ListResult<TaskCompletion> {
    let request = call.request(ListUserCompletionsRequest {
        user_id: path.id("id", Code::UserNotFound)?,
        list: Some(list),
    });
    result::list(
        call.clients.tasks().list_user_completions(request),
        |response| (response.completions, response.page),
    )
    .await
}

impl From<wire::TaskCompletion> for TaskCompletion {
    fn from(completion: wire::TaskCompletion) -> Self {
        Self {
            id: completion.id,
            task_id: completion.task_id,
            user_id: completion.user_id,
            amount: completion.amount,
            asset_code: completion.asset_code,
            transaction_id: completion.transaction_id,
            created_at: Time::of(completion.created_at),
        }
    }
}
