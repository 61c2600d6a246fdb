//! What can be done with assets.

use platform::{
    clock::Clock,
    idempotency::{self, Key, Reply, Started},
    ids::Ids,
    list::Page,
    messaging::outbox,
    pg,
};
use proto::{common::v1::ListRequest, wallet::v1::CreateAssetResponse};
use sqlx::{PgConnection, PgPool};

use super::{
    convert, events,
    model::{Asset, AssetPatch, NewAsset},
    repo,
};
use crate::{SCHEMA, error::Error};

/// The use cases of assets.
#[derive(Debug, Clone)]
pub struct Assets {
    pool: PgPool,
    clock: Clock,
    ids: Ids,
}

impl Assets {
    /// Assets in this database.
    pub const fn new(pool: PgPool, clock: Clock, ids: Ids) -> Self {
        Self { pool, clock, ids }
    }

    /// Makes the assets of a first start unless they exist, and tells of every asset that nobody was
    /// told of yet. Of several processes that start at once, one tells.
    pub async fn make_first_in_tx(&self, conn: &mut PgConnection) -> Result<(), sqlx::Error> {
        repo::insert_first_assets_in_tx(conn, &self.ids, self.clock.now()).await?;
        let untold = repo::take_untold_in_tx(conn).await?;
        let events = untold.iter().map(|asset| events::changed(asset, &self.ids));
        let events: Vec<_> = events.collect();
        outbox::append_in_tx(conn, SCHEMA, &events).await
    }

    /// Makes an asset, once per key.
    pub async fn create(
        &self,
        new: NewAsset,
        key: Option<&Key>,
    ) -> Result<Reply<CreateAssetResponse>, Error> {
        let mut work = match idempotency::start(&self.pool, SCHEMA, key).await? {
            Started::Replay(answer) => return Ok(answer),
            Started::Fresh(work) => work,
        };
        let asset = Asset::create(self.ids.next(), new, self.clock.now());
        repo::insert_asset_in_tx(&mut work, &asset)
            .await
            .map_err(pg::on_constraint([
                ("assets_pkey", Error::CodeTaken),
                ("assets_code_lower_key", Error::CodeTaken),
            ]))?;
        let event = events::changed(&asset, &self.ids);
        outbox::append_in_tx(&mut work, SCHEMA, &[event]).await?;
        let asset = Some(convert::asset(&asset));
        Ok(work.commit(CreateAssetResponse { asset }).await?)
    }

    /// The asset with this code, in any case.
    pub async fn get(&self, code: &str) -> Result<Asset, Error> {
        let found = repo::find_asset(&self.pool, code).await?;
        found.ok_or(Error::AssetNotFound)
    }

    /// Assets as the request wants them.
    pub async fn list(&self, request: &ListRequest) -> Result<Page<Asset>, Error> {
        let mut conn = self.pool.acquire().await?;
        Ok(repo::list_assets(&mut conn, request).await?)
    }

    /// Changes an asset. Postings share the lock of its row, so that none is accepted once it answers
    /// that the asset is disabled, and a first use cannot slip past a coarser rule.
    pub async fn update(&self, code: &str, patch: AssetPatch) -> Result<Asset, Error> {
        pg::retry_serialization(async || {
            let mut tx = pg::tx(&self.pool).await?;
            let before = repo::lock_asset_in_tx(&mut tx, code).await?;
            let before = before.ok_or(Error::AssetNotFound)?;
            let patched = before.patched(patch.clone(), self.clock.now());
            let Some(after) = patched.map_err(|_| Error::AssetReadOnly)? else {
                return Ok(before);
            };
            if before.is_coarser(&after) && repo::is_used(&mut tx, &before.code).await? {
                return Err(Error::DecimalPlacesInUse);
            }
            repo::update_asset_in_tx(&mut tx, &after).await?;
            let event = events::changed(&after, &self.ids);
            outbox::append_in_tx(&mut tx, SCHEMA, &[event]).await?;
            tx.commit().await?;
            Ok(after)
        })
        .await
    }
}
