//! wallet-svc: assets and exchange rates.

use platform::{
    error::Code,
    grpc::client::Client,
    money::{Conversion, DecimalPlaces, Rate},
};
use proto::wallet::v1::{
    FindConversionRequest, GetAssetRequest, asset_service_client::AssetServiceClient,
    rate_service_client::RateServiceClient,
};

use super::{failed, malformed, optional};
use crate::error::Error;

#[derive(Debug, Clone)]
pub(crate) struct Rates {
    assets: AssetServiceClient<Client>,
    rates: RateServiceClient<Client>,
}

impl Rates {
    pub(crate) fn new(client: &Client) -> Self {
        Self {
            assets: client.service(),
            rates: client.service(),
        }
    }

    /// Returns the decimal places of an asset that exists.
    pub(crate) async fn decimal_places(&self, asset_code: &str) -> Result<DecimalPlaces, Error> {
        let code = asset_code.to_owned();
        let mut assets = self.assets.clone();
        let response = assets.get_asset(GetAssetRequest { code }).await;
        let asset = response.map_err(|status| failed(&status))?.into_inner();
        let asset = asset
            .asset
            .ok_or_else(|| Error::internal("GetAsset returned no asset"))?;
        DecimalPlaces::new(asset.decimal_places.into()).map_err(malformed)
    }

    /// Finds the conversion of one asset to another; `None` without a rate.
    pub(crate) async fn find(&self, from: &str, to: &str) -> Result<Option<Conversion>, Error> {
        let request = FindConversionRequest {
            from_asset_code: from.to_owned(),
            to_asset_code: to.to_owned(),
        };
        let response = self.rates.clone().find_conversion(request).await;
        let Some(found) = optional(response, Code::NoRate)? else {
            return Ok(None);
        };
        let found = found.into_inner();
        Ok(Some(Conversion {
            rate: Rate::parse(&found.rate).map_err(malformed)?,
            inverse: found.inverse,
        }))
    }
}
