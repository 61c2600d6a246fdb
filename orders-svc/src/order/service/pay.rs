//! Paying an order from a wallet.

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
        claim::{Kind, Leg, Step},
        model::{OrderId, WalletId},
    },
};

impl Orders {
    /// Pays this much, by default all that is unpaid, from this wallet, by default the buyer's
    /// primary one.
    pub async fn pay(
        &self,
        caller: &Caller,
        key: Option<&Key>,
        id: OrderId,
        (amount, wallet_id): (Option<Amount>, Option<WalletId>),
    ) -> Result<OrderAnswer, Error> {
        if let Some(answer) = self.replayed(key).await? {
            return Ok(answer);
        }
        let order = self.visible(caller, id).await?;
        let settings = self.clients.wallets.settings().await?;
        let wallet_id = wallet_id.unwrap_or(order.wallet_id);
        self.check_payer(caller, &order, wallet_id, &settings)
            .await?;
        let claimed = self.claim(key, (id, Kind::Pay, settings.till), |placed, _| {
            let amount = placed.order.charge(amount)?;
            Ok(Step::Charge(vec![Leg {
                wallet_id,
                asset_code: placed.order.asset_code.clone(),
                amount,
                covers: None,
                refunds: None,
            }]))
        });
        match claimed.await? {
            Claimed::Done(answer) => Ok(*answer),
            Claimed::Claim(claim) => {
                failpoint::hit("orders.pay.claimed");
                Ok(Reply::fresh(self.drive(&claim).await?))
            }
        }
    }
}
