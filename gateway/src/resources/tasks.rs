//! `/tasks`

use platform::error::Code;
use proto::identity::v1::{
    self as wire, CompleteTaskRequest, CreateTaskRequest, GetTaskRequest, ListTasksRequest,
};
use serde::{Deserialize, Serialize};

use super::{
    dto::{self, Raw, Time},
    result::{self, DataResult, ListResult, Located},
};
use crate::extract::{Call, CustomData, Json, ListParams, PathParams};

/// A task that a user completes once for a reward.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Task {
    id: String,
    name: String,
    description: String,
    /// `manual`, `survey`, `automatic` or `system`.
    r#type: String,
    /// The reward.
    amount: String,
    asset_code: String,
    button_label: Option<String>,
    survey_url: Option<String>,
    image_url: Option<String>,
    thumbnail_url: Option<String>,
    /// Ranking key; `sort=order` puts tasks in their order.
    order: String,
    enabled: bool,
    featured: bool,
    available: bool,
    custom_data: Raw,
    metadata: Raw,
    created_at: Option<Time>,
    updated_at: Option<Time>,
}

/// The type of a task.
#[derive(Debug, Clone, Copy, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TaskType {
    Manual,
    Survey,
    Automatic,
    System,
}

/// A task to create.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewTask {
    name: String,
    description: String,
    r#type: TaskType,
    amount: String,
    button_label: Option<String>,
    survey_url: Option<String>,
    image: Option<String>,
    thumbnail: Option<String>,
    order: Option<String>,
    enabled: Option<bool>,
    featured: Option<bool>,
    #[schema(value_type = Option<Object>)]
    custom_data: Option<CustomData>,
}

/// A completion to record.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewCompletion {
    user_id: String,
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

/// Create a task.
pub(crate) async fn create(call: Call, Json(body): Json<NewTask>) -> DataResult<Task> {
    let request = call.request(body.into());
    result::created(call.clients.tasks().create_task(request), |response| {
        response.task
    })
    .await
}

/// List tasks.
pub(crate) async fn list(call: Call, ListParams(list): ListParams) -> ListResult<Task> {
    let request = call.request(ListTasksRequest { list: Some(list) });
    result::list(call.clients.tasks().list_tasks(request), |response| {
        (response.tasks, response.page)
    })
    .await
}

/// Get a task.
pub(crate) async fn get(call: Call, path: PathParams) -> DataResult<Task> {
    let request = call.request(GetTaskRequest {
        id: path.id("id", Code::TaskNotFound)?,
    });
    result::data(call.clients.tasks().get_task(request), |response| {
        response.task
    })
    .await
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
        user_id: body.user_id,
    });
    result::data(call.clients.tasks().complete_task(request), |response| {
        response.completion
    })
    .await
}

impl Located for Task {
    fn location(&self) -> String {
        format!("/tasks/{}", self.id)
    }
}

impl From<wire::Task> for Task {
    fn from(task: wire::Task) -> Self {
        Self {
            r#type: dto::text(task.r#type().as_str_name(), "TASK_TYPE_"),
            id: task.id,
            name: task.name,
            description: task.description,
            amount: task.amount,
            asset_code: task.asset_code,
            button_label: task.button_label,
            survey_url: task.survey_url,
            image_url: task.image_url,
            thumbnail_url: task.thumbnail_url,
            order: task.order,
            enabled: task.enabled,
            featured: task.featured,
            available: task.available,
            custom_data: Raw::of(task.custom_data),
            metadata: Raw::of(task.metadata),
            created_at: Time::of(task.created_at),
            updated_at: Time::of(task.updated_at),
        }
    }
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

impl From<TaskType> for wire::TaskType {
    fn from(kind: TaskType) -> Self {
        match kind {
            TaskType::Manual => Self::Manual,
            TaskType::Survey => Self::Survey,
            TaskType::Automatic => Self::Automatic,
            TaskType::System => Self::System,
        }
    }
}

impl From<NewTask> for CreateTaskRequest {
    fn from(body: NewTask) -> Self {
        Self {
            name: body.name,
            description: body.description,
            r#type: wire::TaskType::from(body.r#type).into(),
            amount: body.amount,
            button_label: body.button_label,
            survey_url: body.survey_url,
            image: body.image,
            thumbnail: body.thumbnail,
            order: body.order,
            enabled: body.enabled,
            featured: body.featured.unwrap_or_default(),
            custom_data: body.custom_data.map(|data| data.0),
        }
    }
}
