//! The settings of orders-svc, from flags and the environment.

use std::{collections::HashMap, net::SocketAddr, str::FromStr};

use clap::Args;
use platform::{
    config::{self, Common, Grpc, Nats, ServiceSecret, Settings},
    money::{Amount, DecimalPlaces, OutOfRange, Rounding},
};
use secrecy::SecretString;

/// Settings of orders-svc.
#[derive(Debug, Clone, Args)]
pub struct Config {
    /// Settings of all processes.
    #[command(flatten)]
    pub common: Common,

    /// Secret of this process.
    #[command(flatten)]
    pub service_secret: ServiceSecret,

    /// Settings of the gRPC server.
    #[command(flatten)]
    pub grpc: Grpc,

    /// Settings of the broker.
    #[command(flatten)]
    pub nats: Nats,

    /// Address of the gRPC server.
    #[arg(long, env = "ORDERS_LISTEN", default_value = "127.0.0.1:15052")]
    pub listen: SocketAddr,

    /// Address of `/livez`, `/readyz` and `/metrics`; they are not served without it.
    #[arg(long, env = "ORDERS_METRICS_LISTEN")]
    pub metrics_listen: Option<SocketAddr>,

    /// Postgres URL, as the role `guerdon_orders_app`.
    #[arg(long, env = "ORDERS_DATABASE_URL", value_parser = config::secret, hide_env_values = true)]
    pub database_url: SecretString,

    /// Flat shipping amounts by asset, `usd=5.00,eur=4.50`; zero in other assets. Rounded half away
    /// from zero to the decimal places of the asset.
    #[arg(long, env = "SHIPPING_AMOUNTS", default_value = "")]
    pub shipping_amounts: ShippingAmounts,

    /// Name of the shop on receipts.
    #[arg(long, env = "SELLER_NAME", default_value = "")]
    pub seller_name: String,
}

impl Settings for Config {
    fn common(&self) -> &Common {
        &self.common
    }

    fn listen(&self) -> SocketAddr {
        self.listen
    }

    fn metrics_listen(&self) -> Option<SocketAddr> {
        self.metrics_listen
    }

    fn nats(&self) -> Option<&Nats> {
        Some(&self.nats)
    }

    fn database_url(&self) -> Option<&SecretString> {
        Some(&self.database_url)
    }
}

/// Flat shipping amounts by lower-case asset code.
#[derive(Debug, Clone, Default)]
pub struct ShippingAmounts(HashMap<String, Amount>);

impl ShippingAmounts {
    /// Returns the shipping amount in the asset, rounded to its decimal places; zero if none is
    /// set. A rounded one is logged as an error of the setting.
    pub(crate) fn of(&self, asset_code: &str, places: DecimalPlaces) -> Result<Amount, OutOfRange> {
        let amount = self.0.get(&asset_code.to_lowercase());
        let amount = amount.copied().unwrap_or(Amount::ZERO);
        if amount.fits(places) {
            return Ok(amount);
        }
        let rounded = amount.round(places, Rounding::HalfAwayFromZero)?;
        tracing::error!(
            asset_code, %amount, %rounded,
            "SHIPPING_AMOUNTS: the amount has more decimal places than its asset, rounding it"
        );
        Ok(rounded)
    }
}

impl FromStr for ShippingAmounts {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.split(',')
            .filter(|pair| !pair.trim().is_empty())
            .map(|pair| {
                let (code, amount) = pair
                    .split_once('=')
                    .ok_or_else(|| format!("{pair}: expected asset=amount"))?;
                let amount =
                    Amount::parse(amount.trim()).map_err(|error| format!("{pair}: {error}"))?;
                Ok((code.trim().to_lowercase(), amount))
            })
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipping_is_flat_by_asset() {
        let amounts: ShippingAmounts = "usd=5.00, EUR=4.505".parse().unwrap();
        let cents = DecimalPlaces::new(2).unwrap();
        for (asset_code, expected) in [
            ("USD", "5.00000000"),
            ("eur", "4.51000000"),
            ("btc", "0.00000000"),
        ] {
            let amount = amounts.of(asset_code, cents).unwrap();
            assert_eq!(amount.to_string(), expected);
        }
        assert!("".parse::<ShippingAmounts>().is_ok());
        for bad in ["usd", "usd=", "usd=-1", "usd=1e3"] {
            assert!(bad.parse::<ShippingAmounts>().is_err(), "{bad}");
        }
    }
}
