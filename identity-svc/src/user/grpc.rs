//! `guerdon.identity.v1.UserService`.

use platform::grpc::{Call, respond};
use proto::identity::v1::{
    ApproveUserRequest, ApproveUserResponse, BatchGetUsersRequest, BatchGetUsersResponse,
    BlockUserRequest, BlockUserResponse, CreateUserRequest, CreateUserResponse, GetUserRequest,
    GetUserResponse, ListUsersRequest, ListUsersResponse, UnblockUserRequest, UnblockUserResponse,
    user_service_server::UserService,
};
use tonic::{Request, Response, Status};

use super::{
    Provisioning, Users, convert,
    model::{Action, UserId},
};
use crate::error::{Error, Result};

#[derive(Debug)]
pub(crate) struct UserGrpc {
    pub(crate) users: Users,
    pub(crate) provisioning: Provisioning,
}

#[tonic::async_trait]
impl UserService for UserGrpc {
    async fn create_user(
        &self,
        request: Request<CreateUserRequest>,
    ) -> Result<Response<CreateUserResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let new = convert::new_user(body)?;
        let reply = self.provisioning.create(key.as_ref(), new).await?;
        Ok(respond(reply, |user| CreateUserResponse {
            user: Some(user),
        }))
    }

    async fn get_user(
        &self,
        request: Request<GetUserRequest>,
    ) -> Result<Response<GetUserResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let user = self.users.get(&caller, path_id(&body.id)?).await?;
        Ok(Response::new(GetUserResponse {
            user: Some(convert::user(user)),
        }))
    }

    async fn batch_get_users(
        &self,
        request: Request<BatchGetUsersRequest>,
    ) -> Result<Response<BatchGetUsersResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let ids = convert::ids(&body.ids)?;
        let users = self.users.get_batch(&caller, &ids).await?;
        Ok(Response::new(BatchGetUsersResponse {
            users: users.into_iter().map(convert::user).collect(),
        }))
    }

    async fn list_users(
        &self,
        request: Request<ListUsersRequest>,
    ) -> Result<Response<ListUsersResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let list = body.list.unwrap_or_default();
        let page = self.users.list(&caller, &list).await?;
        let (users, page) = page.encode(convert::user);
        let page = Some(page);
        Ok(Response::new(ListUsersResponse { users, page }))
    }

    async fn approve_user(
        &self,
        request: Request<ApproveUserRequest>,
    ) -> Result<Response<ApproveUserResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let id = path_id(&body.id)?;
        let reply = self.users.act(key.as_ref(), id, Action::Approve).await?;
        Ok(respond(reply, |user| ApproveUserResponse {
            user: Some(user),
        }))
    }

    async fn block_user(
        &self,
        request: Request<BlockUserRequest>,
    ) -> Result<Response<BlockUserResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let id = path_id(&body.id)?;
        let reply = self.users.act(key.as_ref(), id, Action::Block).await?;
        Ok(respond(reply, |user| BlockUserResponse {
            user: Some(user),
        }))
    }

    async fn unblock_user(
        &self,
        request: Request<UnblockUserRequest>,
    ) -> Result<Response<UnblockUserResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let id = path_id(&body.id)?;
        let reply = self.users.act(key.as_ref(), id, Action::Unblock).await?;
        Ok(respond(reply, |user| UnblockUserResponse {
            user: Some(user),
        }))
    }
}

/// Parses the id in a path; a malformed one is not found.
fn path_id(text: &str) -> Result<UserId> {
    UserId::parse(text).map_err(|_| Error::UserNotFound)
}
