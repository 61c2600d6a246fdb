//! A fake identity-svc, which knows a fixed set of users.

use proto::identity::v1::{
    ApproveUserRequest, ApproveUserResponse, BatchGetUsersRequest, BatchGetUsersResponse,
    BlockUserRequest, BlockUserResponse, ChangePasswordRequest, ChangePasswordResponse,
    CreateUserRequest, CreateUserResponse, DeleteUserRequest, DeleteUserResponse,
    FindRecipientRequest, FindRecipientResponse, GetUserRequest, GetUserResponse,
    ListReferralsRequest, ListReferralsResponse, ListUsersRequest, ListUsersResponse,
    SignUpRequest, SignUpResponse, UnblockUserRequest, UnblockUserResponse, UpdateUserRequest,
    UpdateUserResponse, User,
    user_service_server::{UserService, UserServiceServer},
};
use tokio::net::TcpListener;
use tonic::{
    Request, Response, Status,
    transport::{Server, server::TcpIncoming},
};

struct FakeIdentity(Vec<User>);

/// Serves a user for each id until the test ends, and returns the URL.
pub(crate) async fn serve_users(ids: &[&str]) -> String {
    let users = ids.iter().map(|id| User {
        id: (*id).to_owned(),
        email: format!("{id}@example.com"),
        name: Some("Ann".to_owned()),
        ..User::default()
    });
    let service = UserServiceServer::new(FakeIdentity(users.collect()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = Server::builder()
        .add_service(service)
        .serve_with_incoming(TcpIncoming::from(listener));
    tokio::spawn(server);
    url
}

#[tonic::async_trait]
impl UserService for FakeIdentity {
    async fn batch_get_users(
        &self,
        request: Request<BatchGetUsersRequest>,
    ) -> Result<Response<BatchGetUsersResponse>, Status> {
        let ids = request.into_inner().ids;
        let users = self.0.iter().filter(|user| ids.contains(&user.id));
        let users = users.cloned().collect();
        Ok(Response::new(BatchGetUsersResponse {
            users,
            deleted_ids: Vec::new(),
        }))
    }

    async fn create_user(
        &self,
        _: Request<CreateUserRequest>,
    ) -> Result<Response<CreateUserResponse>, Status> {
        unused()
    }

    async fn get_user(
        &self,
        _: Request<GetUserRequest>,
    ) -> Result<Response<GetUserResponse>, Status> {
        unused()
    }

    async fn list_users(
        &self,
        _: Request<ListUsersRequest>,
    ) -> Result<Response<ListUsersResponse>, Status> {
        unused()
    }

    /// The email `<id>@wallet.example` is that of a user with this primary wallet.
    async fn find_recipient(
        &self,
        request: Request<FindRecipientRequest>,
    ) -> Result<Response<FindRecipientResponse>, Status> {
        let email = request.into_inner().email;
        let wallet = email.strip_suffix("@wallet.example");
        Ok(Response::new(FindRecipientResponse {
            wallet_id: wallet.map(str::to_owned),
        }))
    }

    async fn approve_user(
        &self,
        _: Request<ApproveUserRequest>,
    ) -> Result<Response<ApproveUserResponse>, Status> {
        unused()
    }

    async fn block_user(
        &self,
        _: Request<BlockUserRequest>,
    ) -> Result<Response<BlockUserResponse>, Status> {
        unused()
    }

    async fn unblock_user(
        &self,
        _: Request<UnblockUserRequest>,
    ) -> Result<Response<UnblockUserResponse>, Status> {
        unused()
    }

    async fn update_user(
        &self,
        _: Request<UpdateUserRequest>,
    ) -> Result<Response<UpdateUserResponse>, Status> {
        unused()
    }

    async fn change_password(
        &self,
        _: Request<ChangePasswordRequest>,
    ) -> Result<Response<ChangePasswordResponse>, Status> {
        unused()
    }

    async fn sign_up(&self, _: Request<SignUpRequest>) -> Result<Response<SignUpResponse>, Status> {
        unused()
    }

    async fn list_referrals(
        &self,
        _: Request<ListReferralsRequest>,
    ) -> Result<Response<ListReferralsResponse>, Status> {
        unused()
    }

    async fn delete_user(
        &self,
        _: Request<DeleteUserRequest>,
    ) -> Result<Response<DeleteUserResponse>, Status> {
        unused()
    }
}

/// Fails an RPC that wallet-svc never calls.
fn unused<T>() -> Result<Response<T>, Status> {
    Err(Status::unimplemented("wallet-svc does not call this"))
}
