//! The use cases of assets.

use platform::{
    audit::{self, Entry},
    clock::Clock,
    grpc::precondition::{self, Versions},
    idempotency::{self, Key, Reply, Started},
    ids::Ids,
    list::Page,
    messaging::outbox,
    pg,
};
use proto::{common::v1::ListRequest, wallet::v1 as wire};
use sqlx::{PgConnection, PgPool};

use super::{
    convert, events,
    model::{Asset, AssetPatch, NewAsset, PatchRefusal},
    repo,
};
use crate::{SCHEMA, error::Error};

/// The use cases of assets.
#[derive(Debug, Clone)]
pub(crate) struct Assets {
    pool: PgPool,
    clock: Clock,
    ids: Ids,
}

impl Assets {
    pub(crate) const fn new(pool: PgPool, clock: Clock, ids: Ids) -> Self {
        Self { pool, clock, ids }
    }

    /// Creates the system assets that are missing, and publishes each asset that has not been
    /// published. Of several processes that start at the same time, one publishes.
    pub(crate) async fn create_system_assets_in_tx(
        &self,
        conn: &mut PgConnection,
    ) -> Result<(), sqlx::Error> {
        repo::insert_system_assets_in_tx(conn, &self.ids, self.clock.now()).await?;
        let unpublished = repo::take_unpublished_in_tx(conn).await?;
        let events: Vec<_> = unpublished
            .iter()
            .map(|asset| events::changed(asset, &self.ids))
            .collect();
        outbox::append_in_tx(conn, SCHEMA, events).await
    }

    /// Creates an asset, once per idempotency key.
    pub(crate) async fn create(
        &self,
        new: NewAsset,
        key: Option<&Key>,
    ) -> Result<Reply<wire::Asset>, Error> {
        let mut work = match idempotency::start(&self.pool, SCHEMA, key).await? {
            Started::Replay(reply) => return Ok(reply),
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
        outbox::append_in_tx(&mut work, SCHEMA, [event]).await?;
        let entry = Entry::new("asset", "created", &asset.code);
        audit::record_in_tx(&mut work, SCHEMA, entry).await?;
        Ok(work.commit(convert::asset(&asset)).await?)
    }

    /// Returns the asset with this code, in any case.
    pub(crate) async fn get(&self, code: &str) -> Result<Asset, Error> {
        let found = repo::find_asset(&self.pool, code).await?;
        found.ok_or(Error::AssetNotFound)
    }

    pub(crate) async fn list(&self, request: &ListRequest) -> Result<Page<Asset>, Error> {
        let mut conn = self.pool.acquire().await?;
        Ok(repo::list_assets(&mut conn, request).await?)
    }

    /// Updates an asset under its lock, which postings share: once this returns that the asset is
    /// disabled, no posting in it is accepted.
    pub(crate) async fn update(
        &self,
        code: &str,
        patch: AssetPatch,
        if_version: Option<&Versions>,
    ) -> Result<Asset, Error> {
        pg::retry_serialization(async || {
            let mut tx = pg::tx(&self.pool).await?;
            let before = repo::lock_asset_in_tx(&mut tx, code)
                .await?
                .ok_or(Error::AssetNotFound)?;
            precondition::check(if_version, before.version)?;
            let patched = before.patched(patch.clone(), self.clock.now());
            let patched = patched.map_err(|refusal| match refusal {
                PatchRefusal::ReadOnly => Error::AssetReadOnly,
                PatchRefusal::FewerDecimals => Error::DecimalPlacesInUse,
            });
            let Some(after) = patched? else {
                return Ok(before);
            };
            repo::update_asset_in_tx(&mut tx, &after).await?;
            let event = events::changed(&after, &self.ids);
            outbox::append_in_tx(&mut tx, SCHEMA, [event]).await?;
            let entry = Entry::new("asset", "updated", &after.code);
            audit::record_in_tx(&mut tx, SCHEMA, entry).await?;
            tx.commit().await?;
            Ok(after)
        })
        .await
    }
}
