//! Reads users from identity-svc.

use platform::{error::Failure, grpc::client::Client};
use proto::identity::v1::{
    BatchGetUsersRequest, FindRecipientRequest, User, user_service_client::UserServiceClient,
};

use crate::wallet::model::{UserId, WalletId};

/// Users that one call may request.
const MAX_BATCH: usize = 1_000;

/// A client of identity-svc. Cloning is cheap.
#[derive(Debug, Clone)]
pub(crate) struct Users(UserServiceClient<Client>);

impl Users {
    pub(crate) fn new(identity: &Client) -> Self {
        Self(identity.service())
    }

    pub(crate) async fn exists(&self, user: UserId) -> Result<bool, Failure> {
        Ok(!self.find(&[user]).await?.is_empty())
    }

    /// Finds the wallet for money that is sent to an email.
    pub(crate) async fn find_recipient(&self, email: &str) -> Result<Option<WalletId>, Failure> {
        let request = FindRecipientRequest {
            email: email.to_owned(),
        };
        let response = self.0.clone().find_recipient(request).await;
        let response = response.map_err(|status| Failure::from_status(&status))?;
        let wallet = response.into_inner().wallet_id;
        let wallet = wallet.as_deref().map(WalletId::parse).transpose();
        wallet.map_err(|_| Failure::internal("identity-svc returned no id of a wallet"))
    }

    /// Finds users, in any order.
    pub(crate) async fn find(&self, users: &[UserId]) -> Result<Vec<User>, Failure> {
        let mut found = Vec::with_capacity(users.len());
        for batch in users.chunks(MAX_BATCH) {
            let request = BatchGetUsersRequest {
                ids: batch.iter().map(ToString::to_string).collect(),
            };
            let mut client = self.0.clone();
            let response = client.batch_get_users(request).await;
            let response = response.map_err(|status| Failure::from_status(&status))?;
            found.extend(response.into_inner().users);
        }
        Ok(found)
    }
}
