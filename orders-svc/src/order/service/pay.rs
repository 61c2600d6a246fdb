//! Pays an order from a wallet.

use platform::{auth::Caller, idempotency::Key};

use super::{OrderReply, Orders, get_visible, saga::SagaRequest};
use crate::{
    clients::Settings,
    error::Error,
    order::model::{Action, Order, PayOrder, Payer, WalletId},
};

impl Orders {
    /// Pays the order, or a part of it.
    pub(crate) async fn pay(
        &self,
        caller: &Caller,
        key: Option<&Key>,
        command: PayOrder,
    ) -> Result<OrderReply, Error> {
        let _admitted = self.admit()?;
        if let Some(reply) = self.find_replay(key).await? {
            return Ok(reply);
        }
        let order = {
            let mut conn = self.pool.acquire().await?;
            get_visible(&mut conn, caller, command.order_id).await?
        };
        let (settings, user) = tokio::join!(
            self.clients.wallets.settings(),
            self.clients.identity.find_shown(order.user_id),
        );
        let settings = settings?;
        let wallet_id = command.wallet_id.unwrap_or(order.wallet_id);
        self.check_payer(caller, &order, wallet_id, &settings)
            .await?;
        let request = SagaRequest {
            key,
            order_id: order.id,
            settings: &settings,
            user,
        };
        self.run_saga(request, |order, paid| {
            let amount = order.order.check_payment(&paid.payments, command.amount)?;
            let leg = order.order.payment_leg(wallet_id, amount);
            Ok(Action::Charge(vec![leg]))
        })
        .await
    }

    /// Looks up the wallet that a request names as payer, and checks that it may pay the order.
    pub(super) async fn check_payer(
        &self,
        caller: &Caller,
        order: &Order,
        wallet_id: WalletId,
        settings: &Settings,
    ) -> Result<(), Error> {
        let wallet = if Payer::needs_lookup(caller, order, wallet_id) {
            self.clients.wallets.find(wallet_id).await?
        } else {
            None
        };
        let payer = Payer { wallet_id, wallet };
        payer.check(caller, order, settings.default_wallet_id)
    }
}
