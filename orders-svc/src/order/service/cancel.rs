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
        let CancelOrder {
            order_id,
            refund,
            reason,
        } = command;
        self.give_back_money(key, order_id, |order, paid| {
            let refund = order.cancellation(&paid.payments, refund, reason)?;
            Ok(Action::Cancel(refund))
        })
        .await
    }
}
