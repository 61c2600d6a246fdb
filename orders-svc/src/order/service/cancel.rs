//! Cancels an order and refunds it.

use platform::idempotency::Key;

use super::{OrderReply, Orders, saga::SagaRequest};
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
        let CancelOrder {
            order_id,
            refund,
            reason,
        } = command;
        let (settings, user) =
            tokio::try_join!(self.clients.wallets.settings(), self.find_user(order_id))?;
        let request = SagaRequest {
            key,
            order_id,
            settings: &settings,
            user,
        };
        self.run_saga(request, |order, paid| {
            let refund = order.cancellation(&paid.payments, refund, reason)?;
            Ok(Action::Cancel(refund))
        })
        .await
    }
}
