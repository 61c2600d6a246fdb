//! identity-svc: who buys.

use platform::{error::Code, grpc::client::Client};
use proto::identity::v1::{GetUserRequest, user_service_client::UserServiceClient};

use super::{found, id};
use crate::{
    error::Error,
    order::{cart::Buyer, model::UserId},
};

/// Knows the buyers.
#[derive(Debug, Clone)]
pub struct Identity(UserServiceClient<Client>);

impl Identity {
    /// Over this connection.
    pub fn new(client: &Client) -> Self {
        Self(client.service())
    }

    /// The user as a buyer; `None` where there is none.
    pub async fn find_buyer(&self, user_id: UserId) -> Result<Option<Buyer>, Error> {
        let request = GetUserRequest {
            id: user_id.to_string(),
        };
        let answer = self.0.clone().get_user(request).await;
        let user = found(answer, Code::UserNotFound)?.and_then(|answer| answer.into_inner().user);
        let buyer = user.map(|user| {
            Ok(Buyer {
                approved: user.approved,
                blocked: user.blocked,
                verified: user.verified,
                wallet_id: id(&user.primary_wallet_id)?,
            })
        });
        buyer.transpose()
    }
}
