//! `/wallets/activity` and `/wallets/:id/activity`

use platform::error::Code;
use proto::wallet::v1::{self as wire, ListActivityRequest};
use serde::Serialize;

use super::{
    result::{self, ListResult},
    transactions::Transaction,
};
use crate::extract::{Call, ListParams, PathParams};

/// A transaction with its wallets and their owners.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Activity {
    #[serde(flatten)]
    transaction: Option<Transaction>,
    /// With `include=wallets`.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin_wallet: Option<ActivityWallet>,
    /// With `include=wallets`.
    #[serde(skip_serializing_if = "Option::is_none")]
    destination_wallet: Option<ActivityWallet>,
    /// With `include=users`.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin_wallet_user: Option<ActivityUser>,
    /// With `include=users`.
    #[serde(skip_serializing_if = "Option::is_none")]
    destination_wallet_user: Option<ActivityUser>,
}

/// A wallet of a transaction.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ActivityWallet {
    id: String,
    name: Option<String>,
    owner_id: Option<String>,
    reference: String,
}

/// The owner of a wallet of a transaction.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ActivityUser {
    id: String,
    name: Option<String>,
    email: String,
}

/// List transactions of all wallets.
pub(crate) async fn list(call: Call, ListParams(list): ListParams) -> ListResult<Activity> {
    let request = ListActivityRequest {
        list: Some(list),
        wallet_id: None,
    };
    find(call, request).await
}

/// List the transactions of a wallet and those created with them.
pub(crate) async fn of_wallet(
    call: Call,
    path: PathParams,
    ListParams(list): ListParams,
) -> ListResult<Activity> {
    let request = ListActivityRequest {
        list: Some(list),
        wallet_id: Some(path.id("id", Code::WalletNotFound)?),
    };
    find(call, request).await
}

async fn find(call: Call, request: ListActivityRequest) -> ListResult<Activity> {
    let request = call.request(request);
    result::list(
        call.clients.transactions().list_activity(request),
        |response| (response.activities, response.page),
    )
    .await
}

impl From<wire::Activity> for Activity {
    fn from(activity: wire::Activity) -> Self {
        Self {
            transaction: activity.transaction.map(Into::into),
            origin_wallet: activity.origin_wallet.map(Into::into),
            destination_wallet: activity.destination_wallet.map(Into::into),
            origin_wallet_user: activity.origin_wallet_user.map(Into::into),
            destination_wallet_user: activity.destination_wallet_user.map(Into::into),
        }
    }
}

impl From<wire::ActivityWallet> for ActivityWallet {
    fn from(wallet: wire::ActivityWallet) -> Self {
        Self {
            id: wallet.id,
            name: wallet.name,
            owner_id: wallet.owner_id,
            reference: wallet.reference,
        }
    }
}

impl From<wire::ActivityUser> for ActivityUser {
    fn from(user: wire::ActivityUser) -> Self {
        Self {
            id: user.id,
            name: user.name,
            email: user.email,
        }
    }
}
