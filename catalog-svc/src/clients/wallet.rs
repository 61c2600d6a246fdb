//! wallet-svc: assets and the settings that contexts share.
//!
//! An asset is asked for whenever one is written: whether it is enabled may have changed a moment ago.
//! While wallet-svc is unavailable, the last response is used for a day, if the asset was enabled in it.

use std::time::Duration;

use moka::future::Cache;
use platform::{
    error::{Code, Failure},
    grpc::client::Client,
    money::DecimalPlaces,
};
use proto::wallet::v1::{
    self as wire, asset_service_client::AssetServiceClient,
    settings_service_client::SettingsServiceClient,
};
use tokio::time::Instant;

/// Age up to which settings are used without a new request: they change with a restart of wallet-svc.
const FRESH_TTL: Duration = Duration::from_secs(5);
/// Age up to which a response is used while wallet-svc is unavailable.
const STALE_TTL: Duration = Duration::from_hours(24);
const MAX_ASSETS: u64 = 10_000;

/// The fields of an asset that the catalogue needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asset {
    /// In wallet-svc's case.
    pub code: String,
    /// Amounts have at most these.
    pub decimal_places: DecimalPlaces,
    /// Whether new prices may be in it.
    pub enabled: bool,
}

#[derive(Debug, Clone)]
pub struct Wallet {
    assets: AssetServiceClient<Client>,
    settings: SettingsServiceClient<Client>,
    /// By code in lower case.
    last_assets: Cache<String, Asset>,
    default_asset: Cache<(), DefaultAsset>,
}

#[derive(Debug, Clone)]
struct DefaultAsset {
    code: String,
    stored_at: Instant,
}

impl Wallet {
    /// Requests nothing before it is needed.
    pub fn new(client: &Client) -> Self {
        Self {
            assets: client.service(),
            settings: client.service(),
            last_assets: Cache::builder()
                .max_capacity(MAX_ASSETS)
                .time_to_live(STALE_TTL)
                .build(),
            default_asset: Cache::builder()
                .max_capacity(1)
                .time_to_live(STALE_TTL)
                .build(),
        }
    }

    /// Finds the asset with this code, in any case.
    pub async fn find_asset(&self, code: &str) -> Result<Option<Asset>, Failure> {
        let key = code.to_ascii_lowercase();
        match self.fetch_asset(code).await {
            Ok(Some(asset)) => {
                self.last_assets.insert(key, asset.clone()).await;
                Ok(Some(asset))
            }
            Ok(None) => {
                self.last_assets.invalidate(&key).await;
                Ok(None)
            }
            Err(failure) => self.last_enabled(&key, failure).await.map(Some),
        }
    }

    /// Returns the asset that a request failed to fetch as it was last seen. One that was disabled may
    /// be enabled by now: its request fails.
    async fn last_enabled(&self, key: &str, failure: Failure) -> Result<Asset, Failure> {
        if !failure.code.is_transient() {
            return Err(failure);
        }
        let last = self.last_assets.get(key).await;
        match last.filter(|asset| asset.enabled) {
            Some(asset) => {
                tracing::debug!(%failure, "wallet client: request failed, using the last response");
                Ok(asset)
            }
            None => Err(failure),
        }
    }

    /// Returns the code of the asset of products without one.
    pub async fn default_asset_code(&self) -> Result<String, Failure> {
        let last = self.default_asset.get(&()).await;
        if let Some(last) = &last
            && last.stored_at.elapsed() < FRESH_TTL
        {
            return Ok(last.code.clone());
        }
        match (self.fetch_default().await, last) {
            (Ok(code), _) => {
                let stored_at = Instant::now();
                let stored = DefaultAsset {
                    code: code.clone(),
                    stored_at,
                };
                self.default_asset.insert((), stored).await;
                Ok(code)
            }
            (Err(failure), Some(last)) if failure.code.is_transient() => {
                tracing::debug!(%failure, "wallet client: request failed, using the last response");
                Ok(last.code)
            }
            (Err(failure), _) => Err(failure),
        }
    }

    /// Stores an asset that an event changed.
    pub async fn store(&self, asset: Asset) {
        let key = asset.code.to_ascii_lowercase();
        self.last_assets.insert(key, asset).await;
    }

    async fn fetch_asset(&self, code: &str) -> Result<Option<Asset>, Failure> {
        let request = wire::GetAssetRequest { code: code.into() };
        match self.assets.clone().get_asset(request).await {
            Ok(response) => response.into_inner().asset.map(Asset::try_from).transpose(),
            Err(status) => match Failure::from_status(&status) {
                failure if failure.code == Code::AssetNotFound => Ok(None),
                failure => Err(failure),
            },
        }
    }

    async fn fetch_default(&self) -> Result<String, Failure> {
        let response = self
            .settings
            .clone()
            .get_settings(wire::GetSettingsRequest {})
            .await
            .map_err(|status| Failure::from_status(&status))?;
        let settings = response.into_inner().settings;
        let settings =
            settings.ok_or_else(|| Failure::internal("wallet-svc responded without settings"))?;
        Ok(settings.default_asset_code)
    }
}

impl TryFrom<wire::Asset> for Asset {
    type Error = Failure;

    fn try_from(asset: wire::Asset) -> Result<Self, Failure> {
        let decimal_places =
            DecimalPlaces::new(asset.decimal_places.into()).map_err(Failure::internal)?;
        Ok(Self {
            code: asset.code,
            decimal_places,
            enabled: asset.enabled,
        })
    }
}
