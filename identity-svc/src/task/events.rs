//! Events of completions.

use platform::messaging::outbox::{Aggregate, Message};
use proto::events::v1::TaskCompleted;
use uuid::Uuid;

use super::model::Completion;
use crate::{SCHEMA, clients::wallet::WalletId};

/// Creates `TaskCompleted`, with all that wallet-svc needs to pay the reward once.
pub(crate) fn completed(event_id: Uuid, completion: &Completion, wallet_id: WalletId) -> Message {
    // A completion never changes: it has one event.
    let aggregate = Aggregate {
        kind: "task_completion",
        id: completion.id.uuid(),
        version: 1,
    };
    let body = TaskCompleted {
        completion_id: completion.id.to_string(),
        version: aggregate.version,
        task_id: completion.task_id.to_string(),
        user_id: completion.user_id.to_string(),
        wallet_id: wallet_id.to_string(),
        amount: completion.amount.to_string(),
        asset_code: completion.asset_code.clone(),
        transaction_id: completion.transaction_id.to_string(),
    };
    Message::new(SCHEMA, event_id, "TaskCompleted", aggregate, &body)
}
