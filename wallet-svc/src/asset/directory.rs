//! Finds the asset that a request means by a code in any case. What never changes of an asset is
//! remembered; whether it is enabled is read under its lock by the poster.

use moka::future::Cache;
use sqlx::PgPool;

use super::{
    model::{AssetCode, AssetType},
    repo,
};

/// Assets remembered; more are looked up again.
const REMEMBERED: u64 = 10_000;

/// Assets by code. Cloning is cheap and shares the memory.
#[derive(Debug, Clone)]
pub struct AssetDirectory {
    pool: PgPool,
    known: Cache<String, KnownAsset>,
}

/// What never changes of an asset.
#[derive(Debug, Clone)]
pub struct KnownAsset {
    /// As it was written when it was made.
    pub code: AssetCode,
    /// What sort of thing it is.
    pub kind: AssetType,
}

impl AssetDirectory {
    /// A directory that remembers nothing yet.
    pub fn new(pool: PgPool) -> Self {
        let known = Cache::new(REMEMBERED);
        Self { pool, known }
    }

    /// The asset with this code.
    pub async fn find(&self, code: &str) -> Result<Option<KnownAsset>, sqlx::Error> {
        let key = code.to_ascii_lowercase();
        if let Some(known) = self.known.get(&key).await {
            return Ok(Some(known));
        }
        let Some(asset) = repo::find_asset(&self.pool, code).await? else {
            return Ok(None);
        };
        let known = KnownAsset {
            code: asset.code,
            kind: asset.kind,
        };
        self.known.insert(key, known.clone()).await;
        Ok(Some(known))
    }
}
