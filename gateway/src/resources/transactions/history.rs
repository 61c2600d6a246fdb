//! `GET /transactions/:id/history`

use proto::wallet::v1::{self as wire, ListTransactionChangesRequest};
use serde::Serialize;

use super::id;
use crate::{
    extract::{Call, PathParams},
    resources::{
        dto::{self, Time},
        result::{self, ListResult},
    },
};

/// A status change of a transaction.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TransactionChange {
    /// The status before; `null` for the creation.
    from: Option<String>,
    /// The status after.
    to: String,
    /// `user:<id>`, `key:<id>` or `service:<name>`.
    actor: String,
    created_at: Option<Time>,
}

/// List status changes of a transaction.
pub(crate) async fn list(call: Call, path: PathParams) -> ListResult<TransactionChange> {
    let request = call.request(ListTransactionChangesRequest { id: id(&path)? });
    let mut transactions = call.clients.transactions();
    result::whole_list(transactions.list_transaction_changes(request), |response| {
        response.changes
    })
    .await
}

impl From<wire::TransactionChange> for TransactionChange {
    fn from(change: wire::TransactionChange) -> Self {
        let name = |status: wire::TransactionStatus| {
            dto::text(status.as_str_name(), "TRANSACTION_STATUS_")
        };
        Self {
            from: change.from.is_some().then(|| name(change.from())),
            to: name(change.to()),
            actor: change.actor,
            created_at: Time::of(change.created_at),
        }
    }
}
