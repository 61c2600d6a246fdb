//! Canceling an order and giving its money back, in one step.

use platform::{
    auth::Caller,
    failpoint,
    idempotency::{Key, Reply},
    money::Amount,
};

use super::{OrderAnswer, Orders, claiming::Claimed};
use crate::{
    error::Error,
    order::{
        claim::{Kind, Step},
        model::OrderId,
    },
};

impl Orders {
    /// Gives this much back, by default all that was paid, to where it came from.
    pub async fn cancel(
        &self,
        caller: &Caller,
        key: Option<&Key>,
        id: OrderId,
        (refund, reason): (Option<Amount>, Option<String>),
    ) -> Result<OrderAnswer, Error> {
        caller.require_admin()?;
        if let Some(answer) = self.replayed(key).await? {
            return Ok(answer);
        }
        let till = self.clients.wallets.settings().await?.till;
        let claimed = self.claim(key, (id, Kind::Cancel, till), |placed, payments| {
            let cancellation = placed.cancellation(payments, refund, reason.clone())?;
            Ok(Step::Cancel(cancellation))
        });
        match claimed.await? {
            Claimed::Done(answer) => Ok(*answer),
            Claimed::Claim(claim) => {
                failpoint::hit("orders.cancel.claimed");
                Ok(Reply::fresh(self.drive(&claim).await?))
            }
        }
    }
}
