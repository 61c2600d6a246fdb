//! Users, who live in identity-svc.

use platform::{error::Failure, grpc::client::Client};
use proto::identity::v1::{BatchGetUsersRequest, User, user_service_client::UserServiceClient};

use crate::wallet::model::UserId;

/// The most users that one call may ask for.
const BATCH: usize = 1_000;

/// Asks identity-svc about users.
#[derive(Debug, Clone)]
pub struct Users(UserServiceClient<Client>);

impl Users {
    /// Asks over this connection.
    pub fn new(identity: &Client) -> Self {
        Self(identity.service())
    }

    /// Whether there is such a user.
    pub async fn exists(&self, user: UserId) -> Result<bool, Failure> {
        Ok(!self.find(&[user]).await?.is_empty())
    }

    /// These users, in any order; unknown ones are left out.
    pub async fn find(&self, users: &[UserId]) -> Result<Vec<User>, Failure> {
        let mut found = Vec::with_capacity(users.len());
        for batch in users.chunks(BATCH) {
            let request = BatchGetUsersRequest {
                ids: batch.iter().map(ToString::to_string).collect(),
            };
            let answer = self.0.clone().batch_get_users(request).await;
            let answer = answer.map_err(|status| Failure::from_status(&status))?;
            found.extend(answer.into_inner().users);
        }
        Ok(found)
    }
}
