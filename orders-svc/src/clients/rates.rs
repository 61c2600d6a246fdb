//! wallet-svc: assets and the rates between them.

use platform::{
    error::Code,
    grpc::client::Client,
    money::{Conversion, DecimalPlaces, Rate},
};
use proto::wallet::v1::{
    FindConversionRequest, GetAssetRequest, asset_service_client::AssetServiceClient,
    rate_service_client::RateServiceClient,
};

use super::{found, malformed, refused};
use crate::error::Error;

/// Knows what one asset is worth in another.
#[derive(Debug, Clone)]
pub struct Rates {
    assets: AssetServiceClient<Client>,
    rates: RateServiceClient<Client>,
}

impl Rates {
    /// Over this connection.
    pub fn new(client: &Client) -> Self {
        Self {
            assets: client.service(),
            rates: client.service(),
        }
    }

    /// How fine amounts of an asset are that exists.
    pub async fn decimal_places(&self, asset_code: &str) -> Result<DecimalPlaces, Error> {
        let code = asset_code.to_owned();
        let answer = self
            .assets
            .clone()
            .get_asset(GetAssetRequest { code })
            .await;
        let answer = answer.map_err(|status| refused(&status))?.into_inner();
        let asset = answer.asset.ok_or_else(|| Error::fault("no asset"))?;
        DecimalPlaces::new(asset.decimal_places.into()).map_err(malformed)
    }

    /// How to turn an asset into another; `None` where no rate leads there.
    pub async fn find(&self, from: &str, to: &str) -> Result<Option<Conversion>, Error> {
        let request = FindConversionRequest {
            from_asset_code: from.to_owned(),
            to_asset_code: to.to_owned(),
        };
        let answer = self.rates.clone().find_conversion(request).await;
        let Some(answer) = found(answer, Code::NoRate)? else {
            return Ok(None);
        };
        let answer = answer.into_inner();
        Ok(Some(Conversion {
            rate: Rate::parse(&answer.rate).map_err(malformed)?,
            inverse: answer.inverse,
        }))
    }
}
