//! Calls of `TaskService` that tests share.

use platform::grpc::client::Client;
use proto::identity::v1::{
    CompleteTaskRequest, CreateTaskRequest, DeleteTaskRequest, GetTaskRequest, ListTasksRequest,
    ListTasksResponse, Task, TaskCompletion, TaskType, UpdateTaskRequest,
    task_service_client::TaskServiceClient,
};

use crate::harness::TestApp;

pub(crate) type Tasks = TaskServiceClient<Client>;

pub(crate) fn new_task(name: &str) -> CreateTaskRequest {
    CreateTaskRequest {
        name: name.to_owned(),
        description: "Ten questions".to_owned(),
        r#type: TaskType::Survey.into(),
        amount: "1.50".to_owned(),
        ..CreateTaskRequest::default()
    }
}

pub(crate) fn disabled_task(name: &str) -> CreateTaskRequest {
    CreateTaskRequest {
        enabled: Some(false),
        ..new_task(name)
    }
}

/// Returns an update of these fields, by their names in the message.
pub(crate) fn update_of(task: &Task, paths: &[&str]) -> UpdateTaskRequest {
    UpdateTaskRequest {
        id: task.id.clone(),
        update_mask: Some(prost_types::FieldMask {
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        }),
        ..UpdateTaskRequest::default()
    }
}

pub(crate) async fn create(app: &TestApp, new: CreateTaskRequest) -> Task {
    let created = app.tasks().create_task(new).await.unwrap();
    created.into_inner().task.unwrap()
}

pub(crate) async fn get(tasks: &mut Tasks, task: &Task) -> Task {
    let id = task.id.clone();
    let response = tasks.get_task(GetTaskRequest { id }).await.unwrap();
    response.into_inner().task.unwrap()
}

pub(crate) async fn list(tasks: &mut Tasks, request: ListTasksRequest) -> ListTasksResponse {
    tasks.list_tasks(request).await.unwrap().into_inner()
}

pub(crate) fn completion_of(task: &Task, user_id: &str) -> CompleteTaskRequest {
    CompleteTaskRequest {
        id: task.id.clone(),
        user_id: user_id.to_owned(),
    }
}

pub(crate) async fn complete(app: &TestApp, task: &Task, user_id: &str) -> TaskCompletion {
    let request = completion_of(task, user_id);
    let response = app.tasks().complete_task(request).await.unwrap();
    response.into_inner().completion.unwrap()
}

pub(crate) async fn delete(app: &TestApp, task: &Task) {
    let id = task.id.clone();
    let request = DeleteTaskRequest { id };
    app.tasks().delete_task(request).await.unwrap();
}
