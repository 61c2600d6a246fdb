//! identity-svc: users.

use std::time::Duration;

use platform::{
    error::{Code, Failure},
    grpc::client::Client,
};
use proto::{
    identity::v1::{GetUserRequest, GetUserResponse, User, user_service_client::UserServiceClient},
    orders::v1::OrderUser,
};
use tokio::time::timeout;
use tonic::{Response, Status};

use super::{id, optional};
use crate::{
    error::Error,
    order::model::{Buyer, UserId},
};

/// How long an action waits for the user that its response shows.
const SHOWN_TIMEOUT: Duration = Duration::from_millis(500);

#[derive(Debug, Clone)]
pub(crate) struct Identity(UserServiceClient<Client>);

impl Identity {
    pub(crate) fn new(client: &Client) -> Self {
        Self(client.service())
    }

    /// Finds the user of a new order.
    pub(crate) async fn find_buyer(
        &self,
        user_id: UserId,
    ) -> Result<Option<(Buyer, OrderUser)>, Error> {
        let response = self.get(user_id).await;
        let Some(user) =
            optional(response, Code::UserNotFound)?.and_then(|found| found.into_inner().user)
        else {
            return Ok(None);
        };
        let buyer = Buyer {
            approved: user.approved,
            blocked: user.blocked,
            verified: user.verified,
            wallet_id: id(&user.primary_wallet_id)?,
        };
        Ok(Some((buyer, shown(user))))
    }

    /// Finds what responses show of the user of an order. Without identity-svc they show nothing.
    pub(crate) async fn find_shown(&self, user_id: UserId) -> Option<OrderUser> {
        match timeout(SHOWN_TIMEOUT, self.get(user_id)).await {
            Ok(Ok(response)) => response.into_inner().user.map(shown),
            Ok(Err(status)) if Failure::from_status(&status).code == Code::UserNotFound => {
                Some(deleted(user_id))
            }
            Ok(Err(error)) => {
                tracing::debug!(%user_id, %error, "reading the user failed, responding without it");
                None
            }
            Err(_elapsed) => {
                tracing::debug!(%user_id, "reading the user took too long, responding without it");
                None
            }
        }
    }

    async fn get(&self, user_id: UserId) -> Result<Response<GetUserResponse>, Status> {
        let id = user_id.to_string();
        self.0.clone().get_user(GetUserRequest { id }).await
    }
}

/// Returns what is left of a user who has been deleted.
fn deleted(user_id: UserId) -> OrderUser {
    OrderUser {
        id: user_id.to_string(),
        metadata: "{}".to_owned(),
        ..OrderUser::default()
    }
}

fn shown(user: User) -> OrderUser {
    OrderUser {
        id: user.id,
        email: user.email,
        name: user.name,
        approved: user.approved,
        metadata: user.metadata,
    }
}
