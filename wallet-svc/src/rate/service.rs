//! The use cases of rates.

use platform::{
    audit::{self, Entry},
    clock::Clock,
    grpc::precondition::{self, Versions},
    idempotency::{self, Key, Reply, Started},
    ids::Ids,
    list::Page,
    messaging::outbox,
    money::Conversion,
    pg,
};
use proto::{common::v1::ListRequest, wallet::v1 as wire};
use sqlx::{PgConnection, PgPool};

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
pub(crate) struct Rates {
    pool: PgPool,
    assets: AssetDirectory,
    clock: Clock,
    ids: Ids,
}

impl Rates {
    pub(crate) const fn new(pool: PgPool, assets: AssetDirectory, clock: Clock, ids: Ids) -> Self {
        Self {
            pool,
            assets,
            clock,
            ids,
        }
    }

    /// Finds an asset by its code in any case, and returns the code as stored.
    pub(crate) async fn find_asset(&self, code: &str) -> Result<Option<AssetCode>, Error> {
        Ok(self.assets.find(code).await?.map(|asset| asset.code))
    }

    /// Creates a rate, once per idempotency key.
    pub(crate) async fn create(
        &self,
        new: NewRate,
        key: Option<&Key>,
    ) -> Result<Reply<wire::Rate>, Error> {
        let mut work = match idempotency::start(&self.pool, SCHEMA, key).await? {
            Started::Replay(reply) => return Ok(reply),
            Started::Fresh(work) => work,
        };
        let rate = ExchangeRate::create(self.ids.next(), new, self.clock.now());
        repo::insert_rate_in_tx(&mut work, &rate)
            .await
            .map_err(pg::on_constraint([("rates_pair_key", Error::RateExists)]))?;
        let event = events::changed(&rate, &self.ids);
        outbox::append_in_tx(&mut work, SCHEMA, [event]).await?;
        record_in_tx(&mut work, &rate.pair, "created").await?;
        Ok(work.commit(convert::rate(&rate)).await?)
    }

    /// Returns the rate of this pair, not of its inverse.
    pub(crate) async fn get(&self, base: &str, quote: &str) -> Result<ExchangeRate, Error> {
        let pair = self.pair(base, quote).await?.ok_or(Error::RateNotFound)?;
        let mut conn = self.pool.acquire().await?;
        let found = repo::find_rate(&mut conn, &pair).await?;
        found.ok_or(Error::RateNotFound)
    }

    pub(crate) async fn list(&self, request: &ListRequest) -> Result<Page<ExchangeRate>, Error> {
        let mut conn = self.pool.acquire().await?;
        Ok(repo::list_rates(&mut conn, request).await?)
    }

    pub(crate) async fn update(
        &self,
        base: &str,
        quote: &str,
        patch: RatePatch,
        if_version: Option<&Versions>,
    ) -> Result<ExchangeRate, Error> {
        let pair = self.pair(base, quote).await?.ok_or(Error::RateNotFound)?;
        let mut tx = pg::tx(&self.pool).await?;
        let before = repo::lock_rate_in_tx(&mut tx, &pair)
            .await?
            .ok_or(Error::RateNotFound)?;
        precondition::check(if_version, before.version)?;
        let Some(after) = before.patched(patch, self.clock.now()) else {
            return Ok(before);
        };
        repo::update_rate_in_tx(&mut tx, &after).await?;
        let event = events::changed(&after, &self.ids);
        outbox::append_in_tx(&mut tx, SCHEMA, [event]).await?;
        record_in_tx(&mut tx, &pair, "updated").await?;
        tx.commit().await?;
        Ok(after)
    }

    pub(crate) async fn delete(
        &self,
        base: &str,
        quote: &str,
        if_version: Option<&Versions>,
    ) -> Result<(), Error> {
        let pair = self.pair(base, quote).await?.ok_or(Error::RateNotFound)?;
        let mut tx = pg::tx(&self.pool).await?;
        let rate = repo::lock_rate_in_tx(&mut tx, &pair)
            .await?
            .ok_or(Error::RateNotFound)?;
        precondition::check(if_version, rate.version)?;
        repo::delete_rate_in_tx(&mut tx, rate.id).await?;
        let event = events::deleted(&rate.deleted(), &self.ids);
        outbox::append_in_tx(&mut tx, SCHEMA, [event]).await?;
        record_in_tx(&mut tx, &pair, "deleted").await?;
        tx.commit().await?;
        Ok(())
    }

    /// Returns the conversion of an asset into another, by the pair's own rate or the inverse pair's.
    pub(crate) async fn find_conversion(&self, from: &str, to: &str) -> Result<Conversion, Error> {
        let pair = self.pair(from, to).await?.ok_or(Error::NoRate)?;
        let mut conn = self.pool.acquire().await?;
        let found = repo::find_conversion(&mut conn, &pair.base, &pair.quote).await?;
        found.ok_or(Error::NoRate)
    }

    /// Resolves the codes; `None` if an asset does not exist.
    async fn pair(&self, base: &str, quote: &str) -> Result<Option<Pair>, Error> {
        let base = self.find_asset(base).await?;
        let quote = self.find_asset(quote).await?;
        Ok(base.zip(quote).map(|(base, quote)| Pair { base, quote }))
    }
}

/// Records a change in the audit log, under the path of the rate.
async fn record_in_tx(conn: &mut PgConnection, pair: &Pair, done: &str) -> Result<(), sqlx::Error> {
    let Pair { base, quote } = pair;
    let entry = Entry::new("rate", done, format_args!("{base}/{quote}"));
    audit::record_in_tx(conn, SCHEMA, entry).await
}
