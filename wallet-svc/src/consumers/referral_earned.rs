//! `ReferralEarned`: pays a referrer its share.

use platform::{
    error::Failure,
    messaging::inbox::{Applied, Effect, Envelope},
    money::Percent,
};
use proto::events::v1::ReferralEarned;

use super::{id, malformed, positive};
use crate::referral::{
    model::{Referral, Source},
    service::Referrals,
};

/// Pays a referrer its share.
#[derive(Debug, Clone)]
pub struct PayReferrer(pub Referrals);

impl PayReferrer {
    pub async fn handle(&self, event: ReferralEarned) -> Result<Applied, Failure> {
        let percent = Percent::parse(&event.percent)
            .map_err(|_| malformed(format!("{:?} is not a percentage", event.percent)))?;
        let referral = Referral {
            id: id(&event.referral_id)?,
            source: source(&event)?,
            wallet: id(&event.wallet_id)?,
            base: positive(&event.base_amount)?,
            base_asset: self.0.ledger.asset(&event.base_asset_code).await?,
            percent,
            transaction: id(&event.transaction_id)?,
        };
        self.0.earn(&referral).await
    }
}

fn source(event: &ReferralEarned) -> Result<Source, Failure> {
    match event.source_kind.as_str() {
        "order" => Ok(Source::Order(id(&event.source_id)?)),
        "task" => Ok(Source::Task {
            task: event.task_id.clone(),
            completion: event.source_id.clone(),
        }),
        kind => Err(malformed(format!("{kind:?} is not a kind of source"))),
    }
}

impl Effect for PayReferrer {
    type Body = ReferralEarned;

    async fn apply(&self, _envelope: &Envelope, event: ReferralEarned) -> Result<Applied, Failure> {
        self.handle(event).await
    }
}
