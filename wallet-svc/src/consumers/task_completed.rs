//! `TaskCompleted`: the reward is credited, under the transaction id that the event carries.

use platform::{
    error::Failure,
    messaging::inbox::{Applied, Effect, Envelope},
};
use proto::events::v1::TaskCompleted;

use super::{Poster, amount, id};
use crate::{
    ledger::{Command, Reward},
    transaction::metadata::Metadata,
};

/// Credits rewards.
#[derive(Debug, Clone)]
pub struct CreditReward(
    /// What it posts with.
    pub Poster,
);

impl CreditReward {
    /// Applies the event.
    pub async fn handle(&self, event: TaskCompleted) -> Result<Applied, Failure> {
        let metadata = Metadata::default()
            .with_text("reason", "task")
            .with_text("taskId", &event.task_id)
            .with_text("taskCompletionId", &event.completion_id);
        let reward = Reward {
            id: id(&event.transaction_id)?,
            wallet: id(&event.wallet_id)?,
            asset: self.0.asset(&event.asset_code).await?,
            amount: amount(&event.amount)?,
            metadata,
        };
        let command = Command::Reward(reward);
        self.0.post(command, "service:identity-svc").await
    }
}

impl Effect for CreditReward {
    type Body = TaskCompleted;

    async fn apply(&self, _envelope: &Envelope, event: TaskCompleted) -> Result<Applied, Failure> {
        self.handle(event).await
    }
}
