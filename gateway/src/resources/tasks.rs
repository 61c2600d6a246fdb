//! `/tasks`

use platform::{error::Code, patch::Patch};
use proto::identity::v1::{
    self as wire, CreateTaskRequest, DeleteTaskRequest, GetTaskRequest, ListTasksRequest,
    ReorderTaskRequest, UpdateTaskRequest,
};
use serde::{Deserialize, Serialize};

use super::{
    dto::{self, Mask, Raw, Reorder, Time},
    result::{self, DataResult, EmptyResult, ListResult, Located, Versioned},
};
use crate::extract::{
    Action, Call, Change, CustomData, Description, Json, ListParams, PathParams, PositiveAmount,
    Rank, Text, Title,
};

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
    /// Whether it can still be completed; `false` for a user who has completed it.
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
    name: Title,
    description: Description,
    r#type: TaskType,
    amount: PositiveAmount,
    button_label: Option<Text>,
    survey_url: Option<Text>,
    image: Option<Text>,
    thumbnail: Option<Text>,
    order: Option<Rank>,
    enabled: Option<bool>,
    featured: Option<bool>,
    custom_data: Option<CustomData>,
}

/// Changes of a task; fields left out stay.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct TaskPatch {
    #[serde(default)]
    #[schema(value_type = Title)]
    name: Change<Title>,
    #[serde(default)]
    #[schema(value_type = Description)]
    description: Change<Description>,
    #[serde(default)]
    #[schema(value_type = TaskType)]
    r#type: Change<TaskType>,
    /// The reward, in the asset that the task was created with.
    #[serde(default)]
    #[schema(value_type = PositiveAmount)]
    amount: Change<PositiveAmount>,
    #[serde(default)]
    #[schema(value_type = Option<Text>)]
    button_label: Patch<Text>,
    /// An http(s) URL.
    #[serde(default)]
    #[schema(value_type = Option<Text>)]
    survey_url: Patch<Text>,
    #[serde(default)]
    #[schema(value_type = Option<Text>)]
    image: Patch<Text>,
    #[serde(default)]
    #[schema(value_type = Option<Text>)]
    thumbnail: Patch<Text>,
    #[serde(default)]
    #[schema(value_type = Rank)]
    order: Change<Rank>,
    #[serde(default)]
    #[schema(value_type = bool)]
    enabled: Change<bool>,
    #[serde(default)]
    #[schema(value_type = bool)]
    featured: Change<bool>,
    #[serde(default)]
    #[schema(value_type = CustomData)]
    custom_data: Change<CustomData>,
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
    result::versioned(call.clients.tasks().get_task(request), |response| {
        response.task
    })
    .await
}

/// Update a task.
pub(crate) async fn update(
    call: Call,
    path: PathParams,
    Json(body): Json<TaskPatch>,
) -> DataResult<Task> {
    let request = call.request(body.into_request(path.id("id", Code::TaskNotFound)?));
    result::versioned(call.clients.tasks().update_task(request), |response| {
        response.task
    })
    .await
}

/// Delete a task.
pub(crate) async fn delete(call: Call, path: PathParams) -> EmptyResult {
    let id = path.id("id", Code::TaskNotFound)?;
    let request = call.request(DeleteTaskRequest { id });
    result::empty(call.clients.tasks().delete_task(request)).await
}

/// Move a task within the sort order.
pub(crate) async fn reorder(
    call: Call,
    path: PathParams,
    Action(body): Action<Reorder>,
) -> EmptyResult {
    let request = call.request(ReorderTaskRequest {
        id: path.id("id", Code::TaskNotFound)?,
        subsequent_id: body.subsequent_id.map(Into::into),
    });
    result::empty(call.clients.tasks().reorder_task(request)).await
}

impl Located for Task {
    fn location(&self) -> String {
        format!("/tasks/{}", self.id)
    }
}

impl Versioned for wire::Task {
    fn version(&self) -> i64 {
        dto::millis(self.updated_at)
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
            name: body.name.into(),
            description: body.description.into(),
            r#type: wire::TaskType::from(body.r#type).into(),
            amount: body.amount.into(),
            button_label: body.button_label.map(Into::into),
            survey_url: body.survey_url.map(Into::into),
            image: body.image.map(Into::into),
            thumbnail: body.thumbnail.map(Into::into),
            order: body.order.map(Into::into),
            enabled: body.enabled,
            featured: body.featured.unwrap_or_default(),
            custom_data: body.custom_data.map(Into::into),
        }
    }
}

impl TaskPatch {
    fn into_request(self, id: String) -> UpdateTaskRequest {
        let mut mask = Mask::default();
        let kind: Option<TaskType> = mask.required("type", self.r#type);
        UpdateTaskRequest {
            id,
            name: mask.required("name", self.name),
            description: mask.required("description", self.description),
            r#type: kind.map(|kind| wire::TaskType::from(kind).into()),
            amount: mask.required("amount", self.amount),
            button_label: mask.nullable("button_label", self.button_label),
            survey_url: mask.nullable("survey_url", self.survey_url),
            image: mask.nullable("image", self.image),
            thumbnail: mask.nullable("thumbnail", self.thumbnail),
            order: mask.required("order", self.order),
            enabled: mask.required("enabled", self.enabled),
            featured: mask.required("featured", self.featured),
            custom_data: mask.required("custom_data", self.custom_data),
            update_mask: Some(mask.finish()),
        }
    }
}
