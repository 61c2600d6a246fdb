//! identity-svc: users.

use platform::{error::Code, grpc::client::Client};
use proto::identity::v1::{GetUserRequest, user_service_client::UserServiceClient};

use super::{id, optional};
use crate::{
    error::Error,
    order::model::{Buyer, UserId},
};

#[derive(Debug, Clone)]
pub(crate) struct Identity(UserServiceClient<Client>);

impl Identity {
    pub(crate) fn new(client: &Client) -> Self {
        Self(client.service())
    }

    pub(crate) async fn find_buyer(&self, user_id: UserId) -> Result<Option<Buyer>, Error> {
        let request = GetUserRequest {
            id: user_id.to_string(),
        };
        let response = self.0.clone().get_user(request).await;
        let Some(user) =
            optional(response, Code::UserNotFound)?.and_then(|found| found.into_inner().user)
        else {
            return Ok(None);
        };
        Ok(Some(Buyer {
            approved: user.approved,
            blocked: user.blocked,
            verified: user.verified,
            wallet_id: id(&user.primary_wallet_id)?,
        }))
    }
}
