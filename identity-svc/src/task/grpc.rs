//! `guerdon.identity.v1.TaskService`.

use platform::grpc::{Call, respond};
use proto::identity::v1::{
    CompleteTaskRequest, CompleteTaskResponse, CreateTaskRequest, CreateTaskResponse,
    GetTaskRequest, GetTaskResponse, ListTasksRequest, ListTasksResponse,
    task_service_server::TaskService,
};
use tonic::{Request, Response, Status};

use super::{Tasks, convert, model::TaskId};
use crate::error::Error;

#[derive(Debug)]
pub(crate) struct TaskGrpc(pub(crate) Tasks);

#[tonic::async_trait]
impl TaskService for TaskGrpc {
    async fn create_task(
        &self,
        request: Request<CreateTaskRequest>,
    ) -> Result<Response<CreateTaskResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let new = convert::new_task(body)?;
        let reply = self.0.create(key.as_ref(), new).await?;
        Ok(respond(reply, |task| CreateTaskResponse {
            task: Some(task),
        }))
    }

    async fn get_task(
        &self,
        request: Request<GetTaskRequest>,
    ) -> Result<Response<GetTaskResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let task = self.0.get(&caller, path_id(&body.id)?).await?;
        Ok(Response::new(GetTaskResponse { task: Some(task) }))
    }

    async fn list_tasks(
        &self,
        request: Request<ListTasksRequest>,
    ) -> Result<Response<ListTasksResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let list = body.list.unwrap_or_default();
        let (tasks, page) = self.0.list(&caller, &list).await?;
        let page = Some(page);
        Ok(Response::new(ListTasksResponse { tasks, page }))
    }

    async fn complete_task(
        &self,
        request: Request<CompleteTaskRequest>,
    ) -> Result<Response<CompleteTaskResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let task_id = path_id(&body.id)?;
        let user_id = convert::user_id(&body.user_id)?;
        let reply = self.0.complete(key.as_ref(), task_id, user_id).await?;
        Ok(respond(reply, |completion| CompleteTaskResponse {
            completion: Some(completion),
        }))
    }
}

/// Parses the id in a path; a malformed one is not found.
fn path_id(text: &str) -> Result<TaskId, Error> {
    TaskId::parse(text).map_err(|_| Error::TaskNotFound)
}
