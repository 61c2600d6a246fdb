//! What can be done with rates.

use platform::{
    clock::Clock,
    idempotency::{self, Key, Reply, Started},
    ids::Ids,
    list::Page,
    messaging::outbox,
    money::Conversion,
    pg,
};
use proto::{common::v1::ListRequest, wallet::v1::CreateRateResponse};
use sqlx::PgPool;

use super::{
    convert, events,
    model::{ExchangeRate, NewRate, Pair, RatePatch},
    repo,
};
use crate::{
    SCHEMA,
    asset::{directory::AssetDirectory, model::AssetCode},
    error::Error,
};

/// The use cases of rates.
#[derive(Debug, Clone)]
pub struct Rates {
    pool: PgPool,
    assets: AssetDirectory,
    clock: Clock,
    ids: Ids,
}

impl Rates {
    /// Rates in this database, between these assets.
    pub const fn new(pool: PgPool, assets: AssetDirectory, clock: Clock, ids: Ids) -> Self {
        Self {
            pool,
            assets,
            clock,
            ids,
        }
    }

    /// The asset with this code in any case, as it is stored.
    pub async fn find_asset(&self, code: &str) -> Result<Option<AssetCode>, Error> {
        Ok(self.assets.find(code).await?.map(|asset| asset.code))
    }

    /// Makes a rate, once per key.
    pub async fn create(
        &self,
        new: NewRate,
        key: Option<&Key>,
    ) -> Result<Reply<CreateRateResponse>, Error> {
        let mut work = match idempotency::start(&self.pool, SCHEMA, key).await? {
            Started::Replay(answer) => return Ok(answer),
            Started::Fresh(work) => work,
        };
        let rate = ExchangeRate::create(self.ids.next(), new, self.clock.now());
        repo::insert_rate_in_tx(&mut work, &rate)
            .await
            .map_err(pg::on_constraint([("rates_pair_key", Error::RateExists)]))?;
        let event = events::changed(&rate, &self.ids);
        outbox::append_in_tx(&mut work, SCHEMA, &[event]).await?;
        let rate = Some(convert::rate(&rate));
        Ok(work.commit(CreateRateResponse { rate }).await?)
    }

    /// The rate of this pair itself.
    pub async fn get(&self, base: &str, quote: &str) -> Result<ExchangeRate, Error> {
        let pair = self.pair(base, quote).await?.ok_or(Error::RateNotFound)?;
        let mut conn = self.pool.acquire().await?;
        let found = repo::find_rate(&mut conn, &pair).await?;
        found.ok_or(Error::RateNotFound)
    }

    /// Rates as the request wants them.
    pub async fn list(&self, request: &ListRequest) -> Result<Page<ExchangeRate>, Error> {
        let mut conn = self.pool.acquire().await?;
        Ok(repo::list_rates(&mut conn, request).await?)
    }

    /// Changes the rate of this pair.
    pub async fn update(
        &self,
        base: &str,
        quote: &str,
        patch: RatePatch,
    ) -> Result<ExchangeRate, Error> {
        let pair = self.pair(base, quote).await?.ok_or(Error::RateNotFound)?;
        let mut tx = pg::tx(&self.pool).await?;
        let before = repo::lock_rate_in_tx(&mut tx, &pair).await?;
        let before = before.ok_or(Error::RateNotFound)?;
        let Some(after) = before.patched(patch, self.clock.now()) else {
            return Ok(before);
        };
        repo::update_rate_in_tx(&mut tx, &after).await?;
        let event = events::changed(&after, &self.ids);
        outbox::append_in_tx(&mut tx, SCHEMA, &[event]).await?;
        tx.commit().await?;
        Ok(after)
    }

    /// Deletes the rate of this pair.
    pub async fn delete(&self, base: &str, quote: &str) -> Result<(), Error> {
        let pair = self.pair(base, quote).await?.ok_or(Error::RateNotFound)?;
        let mut tx = pg::tx(&self.pool).await?;
        let rate = repo::lock_rate_in_tx(&mut tx, &pair).await?;
        let rate = rate.ok_or(Error::RateNotFound)?;
        repo::delete_rate_in_tx(&mut tx, rate.id).await?;
        let event = events::deleted(&rate.deleted(), &self.ids);
        outbox::append_in_tx(&mut tx, SCHEMA, &[event]).await?;
        tx.commit().await?;
        Ok(())
    }

    /// How to turn an asset into another.
    pub async fn find_conversion(&self, from: &str, to: &str) -> Result<Conversion, Error> {
        let pair = self.pair(from, to).await?.ok_or(Error::NoRate)?;
        let mut conn = self.pool.acquire().await?;
        let found = repo::find_conversion_in_tx(&mut conn, &pair.base, &pair.quote).await?;
        found.ok_or(Error::NoRate)
    }

    /// The assets with these codes, if there are both.
    async fn pair(&self, base: &str, quote: &str) -> Result<Option<Pair>, Error> {
        let base = self.find_asset(base).await?;
        let quote = self.find_asset(quote).await?;
        Ok(base.zip(quote).map(|(base, quote)| Pair { base, quote }))
    }
}
