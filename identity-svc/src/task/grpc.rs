//! `guerdon.identity.v1.TaskService`.

use platform::{
    grpc::{Call, precondition::Versions, respond},
    pg,
};
use proto::identity::v1::{
    CompleteTaskRequest, CompleteTaskResponse, CreateTaskRequest, CreateTaskResponse,
    DeleteTaskRequest, DeleteTaskResponse, GetTaskRequest, GetTaskResponse,
    ListTaskCompletionsRequest, ListTaskCompletionsResponse, ListTasksRequest, ListTasksResponse,
    ListUserCompletionsRequest, ListUserCompletionsResponse, ReorderTaskRequest,
    ReorderTaskResponse, UpdateTaskRequest, UpdateTaskResponse, task_service_server::TaskService,
};
use tonic::{Request, Response, Status};

use super::{Completions, Tasks, convert, model::TaskId};
use crate::{error::Error, user::UserId};

#[derive(Debug)]
pub(crate) struct TaskGrpc {
    pub(crate) tasks: Tasks,
    pub(crate) completions: Completions,
}

#[tonic::async_trait]
impl TaskService for TaskGrpc {
    async fn create_task(
        &self,
        request: Request<CreateTaskRequest>,
    ) -> Result<Response<CreateTaskResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let new = convert::new_task(body)?;
        let reply = self.tasks.create(key.as_ref(), new).await?;
        Ok(respond(reply, |task| CreateTaskResponse {
            task: Some(task),
        }))
    }

    async fn get_task(
        &self,
        request: Request<GetTaskRequest>,
    ) -> Result<Response<GetTaskResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let task = self.tasks.get(&caller, path_id(&body.id)?).await?;
        Ok(Response::new(GetTaskResponse { task: Some(task) }))
    }

    async fn list_tasks(
        &self,
        request: Request<ListTasksRequest>,
    ) -> Result<Response<ListTasksResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let list = body.list.unwrap_or_default();
        let (tasks, page) = self.tasks.list(&caller, &list).await?;
        let page = Some(page);
        Ok(Response::new(ListTasksResponse { tasks, page }))
    }

    async fn update_task(
        &self,
        request: Request<UpdateTaskRequest>,
    ) -> Result<Response<UpdateTaskResponse>, Status> {
        let if_version = Versions::of(&request)?;
        let Call { caller, body, .. } = Call::of(request)?;
        let id = path_id(&body.id)?;
        let task = self
            .tasks
            .update(&caller, id, convert::patch(body)?, if_version.as_ref())
            .await?;
        Ok(Response::new(UpdateTaskResponse { task: Some(task) }))
    }

    async fn delete_task(
        &self,
        request: Request<DeleteTaskRequest>,
    ) -> Result<Response<DeleteTaskResponse>, Status> {
        let if_version = Versions::of(&request)?;
        let Call { body, .. } = Call::of(request)?;
        let id = path_id(&body.id)?;
        self.tasks.delete(id, if_version.as_ref()).await?;
        Ok(Response::new(DeleteTaskResponse {}))
    }

    async fn reorder_task(
        &self,
        request: Request<ReorderTaskRequest>,
    ) -> Result<Response<ReorderTaskResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let id = path_id(&body.id)?;
        let next = convert::subsequent_id(body.subsequent_id)?;
        let moved = pg::retry_serialization(|| self.tasks.reorder(key.as_ref(), id, next));
        Ok(respond(moved.await?, |()| ReorderTaskResponse {}))
    }

    async fn complete_task(
        &self,
        request: Request<CompleteTaskRequest>,
    ) -> Result<Response<CompleteTaskResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let task_id = path_id(&body.id)?;
        let user_id = convert::user_id(&body.user_id)?;
        let reply = self
            .completions
            .complete(key.as_ref(), task_id, user_id)
            .await?;
        Ok(respond(reply, |completion| CompleteTaskResponse {
            completion: Some(completion),
        }))
    }

    async fn list_task_completions(
        &self,
        request: Request<ListTaskCompletionsRequest>,
    ) -> Result<Response<ListTaskCompletionsResponse>, Status> {
        let Call { body, .. } = Call::of(request)?;
        let list = body.list.unwrap_or_default();
        let page = self
            .completions
            .list_of_task(path_id(&body.task_id)?, &list)
            .await?;
        let (completions, page) = page.encode(Into::into);
        let page = Some(page);
        Ok(Response::new(ListTaskCompletionsResponse {
            completions,
            page,
        }))
    }

    async fn list_user_completions(
        &self,
        request: Request<ListUserCompletionsRequest>,
    ) -> Result<Response<ListUserCompletionsResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let user = UserId::parse(&body.user_id).map_err(|_| Error::UserNotFound)?;
        let list = body.list.unwrap_or_default();
        let page = self.completions.list_of_user(&caller, user, &list).await?;
        let (completions, page) = page.encode(Into::into);
        let page = Some(page);
        Ok(Response::new(ListUserCompletionsResponse {
            completions,
            page,
        }))
    }
}

/// Parses the id in a path; a malformed one is not found.
fn path_id(text: &str) -> Result<TaskId, Error> {
    TaskId::parse(text).map_err(|_| Error::TaskNotFound)
}
