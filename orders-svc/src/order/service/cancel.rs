//! Cancels an order and refunds it.

use platform::idempotency::Key;

use super::{OrderReply, Orders};
use crate::{
    error::Error,
    order::model::{Action, CancelOrder},
};

impl Orders {
    /// Cancels the order and refunds its payments to the wallets they came from.
    pub(crate) async fn cancel(
        &self,
        key: Option<&Key>,
        command: CancelOrder,
    ) -> Result<OrderReply, Error> {
        if let Some(reply) = self.find_replay(key).await? {
            return Ok(reply);
        }
        let settings = self.clients.wallets.settings().await?;
        let CancelOrder {
            order_id,
            refund,
            reason,
        } = command;
        self.run_saga(key, order_id, &settings, |order, payments| {
            let cancellation = order.cancellation(payments, refund, reason)?;
            Ok(Action::Cancel(cancellation))
        })
        .await
    }
}
