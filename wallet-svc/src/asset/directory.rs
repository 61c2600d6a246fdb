//! Resolves an asset code, in any case, to the code as stored.
//!
//! Only codes are cached, which never change, so replicas need no invalidation. Whether an asset is
//! enabled and its decimal places are read with the posting; its type by [`AssetDirectory::read`].

use moka::future::Cache;
use sqlx::PgPool;

use super::{
    model::{AssetCode, AssetType},
    repo,
};

/// Codes in the cache; others are read each time.
const CACHE_CAPACITY: u64 = 10_000;

/// Assets by code. Cloning is cheap and shares the cache.
#[derive(Debug, Clone)]
pub(crate) struct AssetDirectory {
    pool: PgPool,
    codes: Cache<String, AssetCode>,
}

/// An asset that a request names.
#[derive(Debug, Clone)]
pub(crate) struct ResolvedAsset {
    /// As stored.
    pub(crate) code: AssetCode,
    /// `None` from the cache: the type may have changed.
    pub(crate) kind: Option<AssetType>,
}

impl AssetDirectory {
    /// Creates a directory with an empty cache.
    pub(crate) fn new(pool: PgPool) -> Self {
        let codes = Cache::new(CACHE_CAPACITY);
        Self { pool, codes }
    }

    /// Finds an asset, in the cache if it is there.
    pub(crate) async fn find(&self, code: &str) -> Result<Option<ResolvedAsset>, sqlx::Error> {
        match self.codes.get(&code.to_ascii_lowercase()).await {
            Some(code) => Ok(Some(ResolvedAsset { code, kind: None })),
            None => self.read(code).await,
        }
    }

    /// Reads an asset with its current type.
    pub(crate) async fn read(&self, code: &str) -> Result<Option<ResolvedAsset>, sqlx::Error> {
        let Some(asset) = repo::find_asset(&self.pool, code).await? else {
            return Ok(None);
        };
        let key = asset.code.as_str().to_ascii_lowercase();
        self.codes.insert(key, asset.code.clone()).await;
        Ok(Some(ResolvedAsset {
            code: asset.code,
            kind: Some(asset.kind),
        }))
    }
}
