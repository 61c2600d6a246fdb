//! identity-svc: the known users.

use platform::error::{Code, Failure};
use proto::identity::v1::{
    ApproveUserRequest, ApproveUserResponse, BatchGetUsersRequest, BatchGetUsersResponse,
    BlockUserRequest, BlockUserResponse, ChangePasswordRequest, ChangePasswordResponse,
    CreateUserRequest, CreateUserResponse, DeleteUserRequest, DeleteUserResponse,
    FindRecipientRequest, FindRecipientResponse, GetUserRequest, GetUserResponse,
    ListReferralsRequest, ListReferralsResponse, ListUsersRequest, ListUsersResponse,
    SignUpRequest, SignUpResponse, UnblockUserRequest, UnblockUserResponse, UpdateUserRequest,
    UpdateUserResponse, user_service_server::UserService,
};
use tonic::{Request, Response, Status};

use super::FakePeers;

/// The response of RPCs that orders-svc never calls.
pub(super) fn uncalled<T>() -> Result<Response<T>, Status> {
    Err(Status::unimplemented("orders-svc does not call this"))
}

#[tonic::async_trait]
impl UserService for FakePeers {
    async fn get_user(
        &self,
        request: Request<GetUserRequest>,
    ) -> Result<Response<GetUserResponse>, Status> {
        let user = self.state().users.get(&request.get_ref().id).cloned();
        let not_found = || Failure::new(Code::UserNotFound, "user not found");
        let user = Some(user.ok_or_else(not_found)?);
        Ok(Response::new(GetUserResponse { user }))
    }

    async fn create_user(
        &self,
        _: Request<CreateUserRequest>,
    ) -> Result<Response<CreateUserResponse>, Status> {
        uncalled()
    }

    async fn batch_get_users(
        &self,
        _: Request<BatchGetUsersRequest>,
    ) -> Result<Response<BatchGetUsersResponse>, Status> {
        uncalled()
    }

    async fn list_users(
        &self,
        _: Request<ListUsersRequest>,
    ) -> Result<Response<ListUsersResponse>, Status> {
        uncalled()
    }

    async fn find_recipient(
        &self,
        _: Request<FindRecipientRequest>,
    ) -> Result<Response<FindRecipientResponse>, Status> {
        uncalled()
    }

    async fn approve_user(
        &self,
        _: Request<ApproveUserRequest>,
    ) -> Result<Response<ApproveUserResponse>, Status> {
        uncalled()
    }

    async fn block_user(
        &self,
        _: Request<BlockUserRequest>,
    ) -> Result<Response<BlockUserResponse>, Status> {
        uncalled()
    }

    async fn unblock_user(
        &self,
        _: Request<UnblockUserRequest>,
    ) -> Result<Response<UnblockUserResponse>, Status> {
        uncalled()
    }

    async fn update_user(
        &self,
        _: Request<UpdateUserRequest>,
    ) -> Result<Response<UpdateUserResponse>, Status> {
        uncalled()
    }

    async fn change_password(
        &self,
        _: Request<ChangePasswordRequest>,
    ) -> Result<Response<ChangePasswordResponse>, Status> {
        uncalled()
    }

    async fn sign_up(&self, _: Request<SignUpRequest>) -> Result<Response<SignUpResponse>, Status> {
        uncalled()
    }

    async fn list_referrals(
        &self,
        _: Request<ListReferralsRequest>,
    ) -> Result<Response<ListReferralsResponse>, Status> {
        uncalled()
    }

    async fn delete_user(
        &self,
        _: Request<DeleteUserRequest>,
    ) -> Result<Response<DeleteUserResponse>, Status> {
        uncalled()
    }
}
