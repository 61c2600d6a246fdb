//! wallet-svc: assets and the settings that contexts share, through a cache.
//!
//! A response is used for a few seconds without a new request, and for a day while wallet-svc is
//! unavailable.

use std::{future::Future, time::Duration};

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

/// Age up to which a response is used without a new request.
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
    asset_cache: Cache<String, Cached<Asset>>,
    default_asset_cache: Cache<(), Cached<String>>,
}

#[derive(Debug, Clone)]
struct Cached<T> {
    value: T,
    stored_at: Instant,
}

impl Wallet {
    /// Requests nothing before it is needed.
    pub fn new(client: &Client) -> Self {
        Self {
            assets: client.service(),
            settings: client.service(),
            asset_cache: Cache::builder()
                .max_capacity(MAX_ASSETS)
                .time_to_live(STALE_TTL)
                .build(),
            default_asset_cache: Cache::builder()
                .max_capacity(1)
                .time_to_live(STALE_TTL)
                .build(),
        }
    }

    /// Finds the asset with this code, in any case.
    pub async fn find_asset(&self, code: &str) -> Result<Option<Asset>, Failure> {
        let key = code.to_ascii_lowercase();
        fetch_or_cached(&self.asset_cache, key, self.fetch_asset(code)).await
    }

    /// Returns the code of the asset of products without one.
    pub async fn default_asset_code(&self) -> Result<String, Failure> {
        let code = fetch_or_cached(&self.default_asset_cache, (), self.fetch_default()).await?;
        code.ok_or_else(|| Failure::internal("wallet-svc responded without settings"))
    }

    /// Stores an asset that an event changed.
    pub async fn store(&self, asset: Asset) {
        let key = asset.code.to_ascii_lowercase();
        let cached = Cached {
            value: asset,
            stored_at: Instant::now(),
        };
        self.asset_cache.insert(key, cached).await;
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

    async fn fetch_default(&self) -> Result<Option<String>, Failure> {
        let response = self
            .settings
            .clone()
            .get_settings(wire::GetSettingsRequest {})
            .await
            .map_err(|status| Failure::from_status(&status))?;
        let settings = response.into_inner().settings;
        Ok(settings.map(|settings| settings.default_asset_code))
    }
}

/// Returns a fresh value, fetched if the cached one is older; while wallet-svc is unavailable, the
/// cached one of any age.
async fn fetch_or_cached<K, T>(
    cache: &Cache<K, Cached<T>>,
    key: K,
    fetch: impl Future<Output = Result<Option<T>, Failure>>,
) -> Result<Option<T>, Failure>
where
    K: std::hash::Hash + Eq + Send + Sync + 'static,
    T: Clone + Send + Sync + 'static,
{
    let last = cache.get(&key).await;
    if let Some(last) = last
        .as_ref()
        .filter(|last| last.stored_at.elapsed() < FRESH_TTL)
    {
        return Ok(Some(last.value.clone()));
    }
    match (fetch.await, last) {
        (Ok(Some(value)), _) => {
            let cached = Cached {
                value: value.clone(),
                stored_at: Instant::now(),
            };
            cache.insert(key, cached).await;
            Ok(Some(value))
        }
        (Ok(None), _) => {
            cache.invalidate(&key).await;
            Ok(None)
        }
        (Err(failure), Some(last)) if failure.code.is_transient() => {
            tracing::debug!(%failure, "wallet client: request failed, using the cached response");
            Ok(Some(last.value))
        }
        (Err(failure), _) => Err(failure),
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
