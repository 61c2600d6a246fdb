//! `guerdon.identity.v1.UserService`.

use platform::{
    auth::Caller,
    config::SignUp,
    error::{Code, Failure},
    grpc::{Call, precondition::Versions, respond},
};
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

use super::{
    Credentials, Deletion, Provisioning, Users, convert,
    model::{Action, UserId},
};
use crate::error::{Error, Result};

#[derive(Debug)]
pub(crate) struct UserGrpc {
    pub(crate) users: Users,
    pub(crate) credentials: Credentials,
    pub(crate) provisioning: Provisioning,
    pub(crate) deletion: Deletion,
    pub(crate) sign_up: SignUp,
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

    async fn sign_up(
        &self,
        request: Request<SignUpRequest>,
    ) -> Result<Response<SignUpResponse>, Status> {
        let Call { caller, key, body } = Call::of(request)?;
        self.check_sign_up(&caller)?;
        let new = convert::sign_up(body)?;
        let reply = self.provisioning.create(key.as_ref(), new).await?;
        Ok(respond(reply, |user| SignUpResponse { user: Some(user) }))
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
        let (users, deleted) = self.users.get_batch(&caller, &ids).await?;
        Ok(Response::new(BatchGetUsersResponse {
            users: users.into_iter().map(convert::user).collect(),
            deleted_ids: deleted.into_iter().map(String::from).collect(),
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

    async fn find_recipient(
        &self,
        request: Request<FindRecipientRequest>,
    ) -> Result<Response<FindRecipientResponse>, Status> {
        let Call { body, .. } = Call::of(request)?;
        let wallet = self.users.find_recipient(&body.email).await?;
        let wallet_id = wallet.map(String::from);
        Ok(Response::new(FindRecipientResponse { wallet_id }))
    }

    async fn update_user(
        &self,
        request: Request<UpdateUserRequest>,
    ) -> Result<Response<UpdateUserResponse>, Status> {
        let if_version = Versions::of(&request)?;
        let Call { caller, body, .. } = Call::of(request)?;
        let id = path_id(&body.id)?;
        let patch = convert::user_patch(body)?;
        let user = self
            .users
            .update(&caller, id, patch, if_version.as_ref())
            .await?;
        Ok(Response::new(UpdateUserResponse {
            user: Some(convert::user(user)),
        }))
    }

    async fn change_password(
        &self,
        request: Request<ChangePasswordRequest>,
    ) -> Result<Response<ChangePasswordResponse>, Status> {
        let Call { caller, key, body } = Call::of(request)?;
        let id = path_id(&body.id)?;
        let password = convert::password(&body.password)?;
        let changed = self
            .credentials
            .change(&caller, key.as_ref(), id, &password);
        Ok(respond(changed.await?, |()| ChangePasswordResponse {}))
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

    async fn list_referrals(
        &self,
        request: Request<ListReferralsRequest>,
    ) -> Result<Response<ListReferralsResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let (id, list) = (path_id(&body.user_id)?, body.list.unwrap_or_default());
        let page = self.users.list_referrals(&caller, id, &list).await?;
        let whole = caller.is_admin();
        let (referrals, page) = page.encode(|user| convert::referral(user, whole));
        let page = Some(page);
        Ok(Response::new(ListReferralsResponse { referrals, page }))
    }

    async fn delete_user(
        &self,
        request: Request<DeleteUserRequest>,
    ) -> Result<Response<DeleteUserResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        self.deletion.delete(&caller, path_id(&body.id)?).await?;
        Ok(Response::new(DeleteUserResponse {}))
    }
}

impl UserGrpc {
    /// Refuses a sign-up unless they are open; the gateway calls with its own token for callers without
    /// credentials.
    fn check_sign_up(&self, caller: &Caller) -> Result<(), Failure> {
        match self.sign_up {
            SignUp::Open => Ok(()),
            SignUp::Closed if caller.is_service() => Err(Failure::new(
                Code::Unauthenticated,
                "sign-up is closed: send the credentials of an admin",
            )),
            SignUp::Closed => caller.require_admin(),
        }
    }
}

/// Parses the id in a path; a malformed one is not found.
fn path_id(text: &str) -> Result<UserId> {
    UserId::parse(text).map_err(|_| Error::UserNotFound)
}
