//! Refunds an order, or a part of it.

use platform::idempotency::Key;

use super::{
    OrderReply, Orders,
    saga::{Paid, SagaRequest},
};
use crate::{
    error::Error,
    order::model::{Action, OrderId, OrderWithLines, RefundOrder},
};

impl Orders {
    /// Refunds an amount or units to the wallets that paid.
    pub(crate) async fn refund(
        &self,
        key: Option<&Key>,
        command: RefundOrder,
    ) -> Result<OrderReply, Error> {
        let RefundOrder {
            order_id,
            part,
            reason,
        } = command;
        self.give_back_money(key, order_id, |order, paid| {
            let refund = order.partial_refund(&paid.payments, paid.refunds, part, reason)?;
            Ok(Action::Refund(refund))
        })
        .await
    }

    /// Runs a saga that pays the wallets back which paid.
    pub(super) async fn give_back_money(
        &self,
        key: Option<&Key>,
        order_id: OrderId,
        decide: impl FnOnce(&OrderWithLines, Paid) -> Result<Action, Error>,
    ) -> Result<OrderReply, Error> {
        if let Some(reply) = self.find_replay(key).await? {
            return Ok(reply);
        }
        let (settings, user) =
            tokio::try_join!(self.clients.wallets.settings(), self.find_user(order_id))?;
        let request = SagaRequest {
            key,
            order_id,
            settings: &settings,
            user,
        };
        self.run_saga(request, decide).await
    }
}
