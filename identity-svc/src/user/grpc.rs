//! `guerdon.identity.v1.UserService`.

use platform::{auth::Caller, idempotency::Key};
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
use crate::error::Error;

/// The adapter.
#[derive(Debug)]
pub struct UserGrpc {
    /// Reads and actions.
    pub users: Users,
    /// Creation.
    pub provisioning: Provisioning,
}

#[tonic::async_trait]
impl UserService for UserGrpc {
    async fn create_user(
        &self,
        request: Request<CreateUserRequest>,
    ) -> Result<Response<CreateUserResponse>, Status> {
        Caller::of(&request)?.require_admin()?;
        let key = Key::from_request(&request)?;
        let new = convert::new_user(request.into_inner())?;
        let answer = self.provisioning.create(key.as_ref(), new).await?;
        Ok(answer.into_response())
    }

    async fn get_user(
        &self,
        request: Request<GetUserRequest>,
    ) -> Result<Response<GetUserResponse>, Status> {
        let caller = Caller::of(&request)?;
        let id = path_id(&request.get_ref().id)?;
        let user = Some(convert::user(self.users.get(caller, id).await?));
        Ok(Response::new(GetUserResponse { user }))
    }

    async fn batch_get_users(
        &self,
        request: Request<BatchGetUsersRequest>,
    ) -> Result<Response<BatchGetUsersResponse>, Status> {
        let caller = Caller::of(&request)?;
        let ids = convert::ids(&request.get_ref().ids)?;
        let users = self.users.get_batch(caller, &ids).await?;
        let users = users.into_iter().map(convert::user).collect();
        Ok(Response::new(BatchGetUsersResponse { users }))
    }

    async fn list_users(
        &self,
        request: Request<ListUsersRequest>,
    ) -> Result<Response<ListUsersResponse>, Status> {
        let caller = Caller::of(&request)?;
        let list = request.get_ref().list.clone().unwrap_or_default();
        let page = self.users.list(caller, &list).await?;
        let info = Some(page.info());
        let users = page.rows.into_iter().map(convert::user).collect();
        Ok(Response::new(ListUsersResponse { users, page: info }))
    }

    async fn approve_user(
        &self,
        request: Request<ApproveUserRequest>,
    ) -> Result<Response<ApproveUserResponse>, Status> {
        Caller::of(&request)?.require_admin()?;
        let key = Key::from_request(&request)?;
        let id = path_id(&request.get_ref().id)?;
        let answer = |user| ApproveUserResponse {
            user: Some(convert::user(user)),
        };
        let acted = self.users.act(key.as_ref(), id, Action::Approve, answer);
        Ok(acted.await?.into_response())
    }

    async fn block_user(
        &self,
        request: Request<BlockUserRequest>,
    ) -> Result<Response<BlockUserResponse>, Status> {
        Caller::of(&request)?.require_admin()?;
        let key = Key::from_request(&request)?;
        let id = path_id(&request.get_ref().id)?;
        let answer = |user| BlockUserResponse {
            user: Some(convert::user(user)),
        };
        let acted = self.users.act(key.as_ref(), id, Action::Block, answer);
        Ok(acted.await?.into_response())
    }

    async fn unblock_user(
        &self,
        request: Request<UnblockUserRequest>,
    ) -> Result<Response<UnblockUserResponse>, Status> {
        Caller::of(&request)?.require_admin()?;
        let key = Key::from_request(&request)?;
        let id = path_id(&request.get_ref().id)?;
        let answer = |user| UnblockUserResponse {
            user: Some(convert::user(user)),
        };
        let acted = self.users.act(key.as_ref(), id, Action::Unblock, answer);
        Ok(acted.await?.into_response())
    }
}

/// A malformed id in a path names nobody.
fn path_id(text: &str) -> Result<UserId, Error> {
    UserId::parse(text).map_err(|_| Error::UserNotFound)
}
