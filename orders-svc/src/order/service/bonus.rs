//! What bonuses are worth when an order is placed: those it earns, and those that pay for it.

use platform::money::Rounding;

use super::Orders;
use crate::{
    clients::Settings,
    error::Error,
    order::{
        bonus::{BonusAsset, cover},
        claim::Leg,
        model::Order,
        quote::Quote,
    },
};

impl Orders {
    /// What bonuses are paid in, unless that is the asset of the cart.
    pub(super) async fn bonus_asset(
        &self,
        settings: &Settings,
        quotes: &[Option<Quote>],
    ) -> Result<Option<BonusAsset>, Error> {
        let priced = quotes.iter().flatten().next();
        let (Some(code), Some(priced)) = (&settings.bonus_asset_code, priced) else {
            return Ok(None);
        };
        if *code == priced.asset_code {
            return Ok(None);
        }
        let rates = &self.clients.rates;
        let (decimal_places, earned_at) = tokio::try_join!(
            rates.decimal_places(code),
            rates.find(&priced.asset_code, code),
        )?;
        Ok(Some(BonusAsset {
            code: code.clone(),
            decimal_places,
            earned_at,
        }))
    }

    /// The payment from the buyer's bonus balance, as far as it goes.
    pub(super) async fn bonus_leg(&self, order: &Order) -> Result<Leg, Error> {
        let available = self
            .clients
            .wallets
            .available(order.wallet_id, &order.bonus_asset_code)
            .await?;
        let (amount, covers) = if order.bonus_asset_code == order.asset_code {
            let whole = available.round(order.asset_decimal_places, Rounding::Down)?;
            (whole.min(order.amount), None)
        } else {
            let rates = &self.clients.rates;
            let conversion = rates
                .find(&order.bonus_asset_code, &order.asset_code)
                .await?;
            let conversion = conversion.ok_or(Error::NoRate)?;
            let covered = cover(
                conversion,
                available,
                order.amount,
                order.asset_decimal_places,
            );
            (
                conversion.debited(covered, order.bonus_places())?,
                Some(covered),
            )
        };
        Ok(Leg {
            wallet_id: order.wallet_id,
            asset_code: order.bonus_asset_code.clone(),
            amount,
            covers,
            refunds: None,
        })
    }
}
