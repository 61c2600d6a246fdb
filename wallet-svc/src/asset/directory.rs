//! Finds the asset that a request means by a code in any case. Only what never changes of an asset is
//! remembered, so that every replica is right without hearing of changes: whether it is enabled and
//! how fine it is are read under its lock by the poster, its type by [`AssetDirectory::read`].

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
    known: Cache<String, AssetCode>,
}

/// What is known of an asset before it is locked.
#[derive(Debug, Clone)]
pub struct KnownAsset {
    /// As it was written when it was made.
    pub code: AssetCode,
    /// What sort of thing it is, if it was read rather than remembered.
    pub kind: Option<AssetType>,
}

impl AssetDirectory {
    /// A directory that remembers nothing yet.
    pub fn new(pool: PgPool) -> Self {
        let known = Cache::new(REMEMBERED);
        Self { pool, known }
    }

    /// The asset with this code.
    pub async fn find(&self, code: &str) -> Result<Option<KnownAsset>, sqlx::Error> {
        let remembered = self.known.get(&code.to_ascii_lowercase()).await;
        match remembered {
            Some(code) => Ok(Some(KnownAsset { code, kind: None })),
            None => self.read(code).await,
        }
    }

    /// The asset with this code, and its type as it is now.
    pub async fn read(&self, code: &str) -> Result<Option<KnownAsset>, sqlx::Error> {
        let Some(asset) = repo::find_asset(&self.pool, code).await? else {
            return Ok(None);
        };
        let key = asset.code.as_str().to_ascii_lowercase();
        self.known.insert(key, asset.code.clone()).await;
        Ok(Some(KnownAsset {
            code: asset.code,
            kind: Some(asset.kind),
        }))
    }
}
