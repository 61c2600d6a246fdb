//! The use cases of tax rates: each public method is one transaction, unless its name says that it
//! runs in the caller's.

use platform::{
    error::Failure,
    idempotency::{self, Reply, Started},
    ids::Id,
    list::Page,
    messaging::outbox,
    pg,
};
use proto::common::v1::ListRequest;
use sqlx::PgConnection;

use super::{NewTaxRate, TaxRate, TaxRatePatch, events, repo};
use crate::{SCHEMA, context::Context, error::Error};

/// The tax rates.
#[derive(Debug, Clone)]
pub struct TaxRates {
    context: Context,
}

impl TaxRates {
    /// The tax rates in this database.
    pub fn new(context: Context) -> Self {
        Self { context }
    }

    /// Makes a tax rate, once per key. `answer` is what the key's record keeps.
    pub async fn create<R: prost::Message + Default>(
        &self,
        key: Option<&idempotency::Key>,
        new: NewTaxRate,
        answer: impl FnOnce(TaxRate) -> R,
    ) -> Result<Reply<R>, Error> {
        let mut work = match idempotency::start(&self.context.pool, SCHEMA, key).await? {
            Started::Replay(answer) => return Ok(answer),
            Started::Fresh(work) => work,
        };
        let created = self.create_in_tx(&mut work, new).await?;
        Ok(work.commit(answer(created)).await?)
    }

    async fn create_in_tx(
        &self,
        conn: &mut PgConnection,
        new: NewTaxRate,
    ) -> Result<TaxRate, Error> {
        let tax_rate = TaxRate::create(self.context.ids.next(), new, self.context.clock.now());
        repo::insert_in_tx(conn, &tax_rate).await?;
        let event = events::changed(&self.context.ids, &tax_rate);
        outbox::append_in_tx(conn, SCHEMA, [event]).await?;
        Ok(tax_rate)
    }

    /// Reads a tax rate.
    pub async fn get(&self, id: Id<TaxRate>) -> Result<TaxRate, Error> {
        let mut conn = self.context.pool.acquire().await?;
        repo::find(&mut conn, id)
            .await?
            .ok_or(Error::TaxRateNotFound)
    }

    /// Lists tax rates.
    pub async fn list(&self, request: &ListRequest) -> Result<Page<TaxRate>, Failure> {
        let mut conn = self.context.pool.acquire().await?;
        repo::list(&mut conn, request).await
    }

    /// Changes a tax rate, and with it the tax of products. An empty patch changes nothing, not
    /// even its time.
    pub async fn update(&self, id: Id<TaxRate>, patch: TaxRatePatch) -> Result<TaxRate, Error> {
        if patch.is_empty() {
            return self.get(id).await;
        }
        let mut tx = pg::tx(&self.context.pool).await?;
        let mut tax_rate = locked_in_tx(&mut tx, id).await?;
        tax_rate.update(patch, self.context.clock.now());
        repo::update_in_tx(&mut tx, &tax_rate).await?;
        let event = events::changed(&self.context.ids, &tax_rate);
        outbox::append_in_tx(&mut tx, SCHEMA, [event]).await?;
        tx.commit().await?;
        Ok(tax_rate)
    }

    /// Deletes a tax rate that no product names.
    pub async fn delete(&self, id: Id<TaxRate>) -> Result<(), Error> {
        let mut tx = pg::tx(&self.context.pool).await?;
        let mut tax_rate = locked_in_tx(&mut tx, id).await?;
        if repo::is_used(&mut tx, id).await? {
            return Err(Error::TaxRateInUse);
        }
        tax_rate.delete(self.context.clock.now());
        repo::delete_in_tx(&mut tx, &tax_rate).await?;
        let event = events::deleted(&self.context.ids, &tax_rate);
        outbox::append_in_tx(&mut tx, SCHEMA, [event]).await?;
        tx.commit().await?;
        Ok(())
    }
}

async fn locked_in_tx(conn: &mut PgConnection, id: Id<TaxRate>) -> Result<TaxRate, Error> {
    if !repo::lock_in_tx(conn, id).await? {
        return Err(Error::TaxRateNotFound);
    }
    repo::find(conn, id).await?.ok_or(Error::TaxRateNotFound)
}
