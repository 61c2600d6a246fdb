//! Lookups for bonuses: the asset they are granted in, and the balance that pays an order.

use platform::auth::Caller;

use super::Orders;
use crate::{
    clients::Settings,
    error::Error,
    order::model::{BonusAsset, Leg, Order, Quote},
};

impl Orders {
    /// Looks up the asset of bonuses. Returns `None` if it is the asset of the cart.
    pub(super) async fn bonus_asset(
        &self,
        settings: &Settings,
        quotes: &[Option<Quote>],
    ) -> Result<Option<BonusAsset>, Error> {
        let first = quotes.iter().flatten().next();
        let (Some(code), Some(first)) = (&settings.bonus_asset_code, first) else {
            return Ok(None);
        };
        if *code == first.asset_code {
            return Ok(None);
        }
        let rates = &self.clients.rates;
        let (decimal_places, conversion) = tokio::try_join!(
            rates.decimal_places(code),
            rates.find(&first.asset_code, code),
        )?;
        Ok(Some(BonusAsset {
            code: code.clone(),
            decimal_places,
            conversion,
        }))
    }

    /// Builds the payment from the buyer's bonus balance, as far as the balance covers the order.
    pub(super) async fn bonus_leg(
        &self,
        caller: &Caller,
        order: &Order,
        settings: &Settings,
    ) -> Result<Leg, Error> {
        self.check_payer(caller, order, order.wallet_id, settings)
            .await?;
        let wallets = &self.clients.wallets;
        let bonus_asset = &order.bonus_asset_code;
        let available = wallets.available(order.wallet_id, bonus_asset).await?;
        let conversion = if *bonus_asset == order.asset_code {
            None
        } else {
            let rates = &self.clients.rates;
            let conversion = rates.find(bonus_asset, &order.asset_code).await?;
            Some(conversion.ok_or(Error::NoRate)?)
        };
        Ok(order.bonus_leg(available, conversion)?)
    }
}
