//! `TaskCompleted`: credits the reward of a completed task.

use platform::{
    error::Failure,
    messaging::inbox::{Applied, Effect, Envelope},
};
use proto::events::v1::TaskCompleted;

use super::{Ledger, id, positive};
use crate::{
    ledger::{Command, Reward},
    transaction::metadata::Metadata,
};

/// Credits the reward of a completed task.
#[derive(Debug, Clone)]
pub struct CreditReward(pub Ledger);

impl CreditReward {
    pub async fn handle(&self, event: TaskCompleted) -> Result<Applied, Failure> {
        let metadata = Metadata::default()
            .with_text("reason", "task")
            .with_text("taskId", &event.task_id)
            .with_text("taskCompletionId", &event.completion_id);
        let reward = Reward {
            id: id(&event.transaction_id)?,
            wallet: id(&event.wallet_id)?,
            asset: self.0.asset(&event.asset_code).await?,
            amount: positive(&event.amount)?,
            metadata,
        };
        self.0
            .post(Command::Reward(reward), "service:identity-svc")
            .await
    }
}

impl Effect for CreditReward {
    type Body = TaskCompleted;

    async fn apply(&self, _envelope: &Envelope, event: TaskCompleted) -> Result<Applied, Failure> {
        self.handle(event).await
    }
}
