//! wallet-svc: assets and the settings that contexts share, through a cache that outlives it.
//!
//! An answer is used for a few seconds without asking again, and for a day while wallet-svc cannot
//! be asked.

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

/// How long an answer is as good as asking.
const FRESH: Duration = Duration::from_secs(5);
/// How long an answer is better than none.
const KEPT: Duration = Duration::from_hours(24);
const MAX_ASSETS: u64 = 10_000;

/// What the catalogue needs to know of an asset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asset {
    /// As wallet-svc writes it.
    pub code: String,
    /// Amounts of it are never finer.
    pub decimal_places: DecimalPlaces,
    /// Whether new prices may be in it.
    pub enabled: bool,
}

/// The client.
#[derive(Debug, Clone)]
pub struct Wallet {
    assets: AssetServiceClient<Client>,
    settings: SettingsServiceClient<Client>,
    known_assets: Cache<String, Known<Asset>>,
    known_default: Cache<(), Known<String>>,
}

#[derive(Debug, Clone)]
struct Known<T> {
    value: T,
    since: Instant,
}

impl Wallet {
    /// Nothing is asked before it is needed.
    pub fn new(client: &Client) -> Self {
        Self {
            assets: client.service(),
            settings: client.service(),
            known_assets: Cache::builder()
                .max_capacity(MAX_ASSETS)
                .time_to_live(KEPT)
                .build(),
            known_default: Cache::builder().max_capacity(1).time_to_live(KEPT).build(),
        }
    }

    /// The asset with this code in any case, if there is one.
    pub async fn find_asset(&self, code: &str) -> Result<Option<Asset>, Failure> {
        let key = code.to_ascii_lowercase();
        ask_or_recall(&self.known_assets, key, self.ask_asset(code)).await
    }

    /// The asset of products that name none.
    pub async fn default_asset_code(&self) -> Result<String, Failure> {
        let known = ask_or_recall(&self.known_default, (), self.ask_default()).await?;
        known.ok_or_else(|| Failure::internal("wallet-svc answered without settings"))
    }

    /// Takes note of what an event says of an asset.
    pub async fn learn(&self, asset: Asset) {
        let key = asset.code.to_ascii_lowercase();
        let answer = Known {
            value: asset,
            since: Instant::now(),
        };
        self.known_assets.insert(key, answer).await;
    }

    async fn ask_asset(&self, code: &str) -> Result<Option<Asset>, Failure> {
        let request = wire::GetAssetRequest { code: code.into() };
        match self.assets.clone().get_asset(request).await {
            Ok(answer) => answer.into_inner().asset.map(Asset::try_from).transpose(),
            Err(status) => match Failure::from_status(&status) {
                failure if failure.code == Code::AssetNotFound => Ok(None),
                failure => Err(failure),
            },
        }
    }

    async fn ask_default(&self) -> Result<Option<String>, Failure> {
        let answer = self
            .settings
            .clone()
            .get_settings(wire::GetSettingsRequest {})
            .await
            .map_err(|status| Failure::from_status(&status))?;
        let settings = answer.into_inner().settings;
        Ok(settings.map(|settings| settings.default_asset_code))
    }
}

/// A fresh answer, asked for if there is none; else, while nobody answers, the last one.
async fn ask_or_recall<K, T>(
    known: &Cache<K, Known<T>>,
    key: K,
    ask: impl Future<Output = Result<Option<T>, Failure>>,
) -> Result<Option<T>, Failure>
where
    K: std::hash::Hash + Eq + Send + Sync + 'static,
    T: Clone + Send + Sync + 'static,
{
    let last = known.get(&key).await;
    if let Some(last) = last.as_ref().filter(|last| last.since.elapsed() < FRESH) {
        return Ok(Some(last.value.clone()));
    }
    match (ask.await, last) {
        (Ok(Some(value)), _) => {
            let since = Instant::now();
            let answer = Known {
                value: value.clone(),
                since,
            };
            known.insert(key, answer).await;
            Ok(Some(value))
        }
        (Ok(None), _) => {
            known.invalidate(&key).await;
            Ok(None)
        }
        (Err(failure), Some(last)) if failure.code.is_transient() => {
            tracing::debug!(%failure, "using what wallet-svc last said");
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
