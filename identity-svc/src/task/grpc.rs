//! `guerdon.identity.v1.TaskService`.

use platform::{auth::Caller, idempotency::Key};
use proto::identity::v1::{
    CompleteTaskRequest, CompleteTaskResponse, CreateTaskRequest, CreateTaskResponse,
    GetTaskRequest, GetTaskResponse, ListTasksRequest, ListTasksResponse,
    task_service_server::TaskService,
};
use tonic::{Request, Response, Status};

use super::{Tasks, convert, model::TaskId};
use crate::error::Error;

/// The adapter.
#[derive(Debug)]
pub struct TaskGrpc(pub Tasks);

#[tonic::async_trait]
impl TaskService for TaskGrpc {
    async fn create_task(
        &self,
        request: Request<CreateTaskRequest>,
    ) -> Result<Response<CreateTaskResponse>, Status> {
        Caller::of(&request)?.require_admin()?;
        let key = Key::from_request(&request)?;
        let new = convert::new_task(request.into_inner())?;
        let answer = self.0.create(key.as_ref(), new).await?;
        Ok(answer.into_response())
    }

    async fn get_task(
        &self,
        request: Request<GetTaskRequest>,
    ) -> Result<Response<GetTaskResponse>, Status> {
        let caller = Caller::of(&request)?;
        let id = path_id(&request.get_ref().id)?;
        let task = Some(self.0.get(caller, id).await?);
        Ok(Response::new(GetTaskResponse { task }))
    }

    async fn list_tasks(
        &self,
        request: Request<ListTasksRequest>,
    ) -> Result<Response<ListTasksResponse>, Status> {
        let caller = Caller::of(&request)?;
        let list = request.get_ref().list.clone().unwrap_or_default();
        let page = self.0.list(caller, &list).await?;
        let info = Some(page.info());
        Ok(Response::new(ListTasksResponse {
            tasks: page.rows,
            page: info,
        }))
    }

    async fn complete_task(
        &self,
        request: Request<CompleteTaskRequest>,
    ) -> Result<Response<CompleteTaskResponse>, Status> {
        Caller::of(&request)?.require_admin()?;
        let key = Key::from_request(&request)?;
        let task_id = path_id(&request.get_ref().id)?;
        let user_id = convert::user_id(&request.get_ref().user_id)?;
        let answer = self.0.complete(key.as_ref(), task_id, user_id).await?;
        Ok(answer.into_response())
    }
}

/// A malformed id in a path names nothing.
fn path_id(text: &str) -> Result<TaskId, Error> {
    TaskId::parse(text).map_err(|_| Error::TaskNotFound)
}
