//! Cache of what the tables of products show. Each transaction that changes one of them changes a version, as its
//! last step; what was read at an older version is read again, so that no caller sees it.

use std::{hash::Hash, sync::Arc, time::Duration};

use moka::sync::Cache;
use sqlx::PgConnection;
use uuid::Uuid;

/// How long a value is kept that nobody asks for.
const MAX_IDLE: Duration = Duration::from_mins(1);

/// The version of the products, categories, tax rates, assets and questions in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Version(Uuid);

impl Version {
    /// Reads the version. What is read after it is at least as new.
    pub(crate) async fn read(conn: &mut PgConnection) -> Result<Self, sqlx::Error> {
        let version = sqlx::query_scalar!("select version from catalog.products_version");
        Ok(Self(version.fetch_one(conn).await?))
    }
}

/// Values with the version before they were read. Cloning is cheap and shares them.
#[derive(Debug, Clone)]
pub(crate) struct VersionedCache<K, V>(Cache<K, Arc<(Version, V)>>)
where
    K: Eq + Hash + Send + Sync + 'static,
    V: Send + Sync + 'static;

impl<K, V> VersionedCache<K, V>
where
    K: Eq + Hash + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    /// Makes a cache of the values that weigh as much together.
    pub(crate) fn new(max_weight: u64, weigh: fn(&K, &V) -> usize) -> Self {
        let cache = Cache::builder()
            .max_capacity(max_weight)
            .weigher(move |key, value: &Arc<(Version, V)>| {
                u32::try_from(weigh(key, &value.1)).unwrap_or(u32::MAX)
            })
            .time_to_idle(MAX_IDLE);
        Self(cache.build())
    }

    /// Finds the value if it was read at this version.
    pub(crate) fn get(&self, key: &K, current: Version) -> Option<V> {
        let entry = self.0.get(key)?;
        let (version, value) = &*entry;
        (*version == current).then(|| value.clone())
    }

    /// Keeps a value that was read after this version.
    pub(crate) fn insert(&self, key: K, version: Version, value: V) {
        self.0.insert(key, Arc::new((version, value)));
    }
}
