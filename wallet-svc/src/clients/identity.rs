//! Users, who live in identity-svc.

use platform::{error::Failure, grpc::client::Client};
use proto::identity::v1::{BatchGetUsersRequest, user_service_client::UserServiceClient};

use crate::wallet::model::UserId;

/// Asks identity-svc about users.
#[derive(Debug, Clone)]
pub struct Users(UserServiceClient<Client>);

impl Users {
    /// Asks over this connection.
    pub fn new(identity: Client) -> Self {
        Self(UserServiceClient::new(identity))
    }

    /// Whether there is such a user.
    pub async fn exists(&self, user: UserId) -> Result<bool, Failure> {
        let request = BatchGetUsersRequest {
            ids: vec![user.to_string()],
        };
        let answer = self.0.clone().batch_get_users(request).await;
        let users = answer.map_err(|status| Failure::from_status(&status))?;
        Ok(!users.into_inner().users.is_empty())
    }
}
