//! Events of referral rewards.

use platform::messaging::outbox::{Aggregate, Message};
use proto::events::v1::ReferralEarned;
use uuid::Uuid;

use super::model::{ReferralReward, Source};
use crate::SCHEMA;

/// Creates `ReferralEarned`, with all that wallet-svc needs to pay the share once.
pub(super) fn earned(event_id: Uuid, reward: &ReferralReward) -> Message {
    // A reward never changes: it has one event.
    let aggregate = Aggregate {
        kind: "referral_reward",
        id: reward.id.uuid(),
        version: 1,
    };
    let task_id = match reward.source {
        Source::Task { task, .. } => task.to_string(),
        Source::Order(_) => String::new(),
    };
    let body = ReferralEarned {
        referral_id: reward.id.to_string(),
        version: aggregate.version,
        source_kind: reward.source.kind().to_owned(),
        source_id: reward.source.id().to_string(),
        task_id,
        referrer_user_id: reward.referrer_id.to_string(),
        wallet_id: reward.wallet_id.to_string(),
        base_amount: reward.base.amount.to_string(),
        base_asset_code: reward.base.asset_code.clone(),
        percent: reward.percent.to_string(),
        transaction_id: reward.transaction_id.to_string(),
    };
    Message::new(SCHEMA, event_id, "ReferralEarned", aggregate, &body)
}
