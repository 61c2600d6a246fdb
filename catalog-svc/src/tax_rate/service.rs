//! The use cases of tax rates: each public method is one transaction.

use platform::{
    audit::{self, Entry},
    error::Failure,
    grpc::precondition::{self, Versions},
    idempotency::{self, Key, Reply, Started},
    ids::Id,
    messaging::outbox,
    pg,
};
use proto::{
    catalog::v1 as wire,
    common::v1::{ListRequest, PageInfo},
};
use sqlx::PgConnection;

use super::{NewTaxRate, TaxRate, TaxRatePatch, convert, events, repo};
use crate::{
    SCHEMA,
    context::{Change, Context},
    error::Error,
};

#[derive(Debug, Clone)]
pub(crate) struct TaxRates {
    context: Context,
}

impl TaxRates {
    pub(crate) fn new(context: Context) -> Self {
        Self { context }
    }

    /// Creates a tax rate, once per key.
    pub(crate) async fn create(
        &self,
        key: Option<&Key>,
        new: NewTaxRate,
    ) -> Result<Reply<wire::TaxRate>, Error> {
        let mut work = match idempotency::start(&self.context.pool, SCHEMA, key).await? {
            Started::Replay(reply) => return Ok(reply),
            Started::Fresh(work) => work,
        };
        let tax_rate = TaxRate::create(self.context.ids.next(), new, self.context.clock.now());
        self.write_in_tx(&mut work, &tax_rate, Change::Created)
            .await?;
        Ok(work.commit(convert::to_proto(tax_rate)).await?)
    }

    pub(crate) async fn get(&self, id: Id<TaxRate>) -> Result<wire::TaxRate, Error> {
        let mut conn = self.context.pool.acquire().await?;
        let tax_rate = repo::find(&mut conn, id).await?;
        Ok(convert::to_proto(tax_rate.ok_or(Error::TaxRateNotFound)?))
    }

    pub(crate) async fn list(
        &self,
        request: &ListRequest,
    ) -> Result<(Vec<wire::TaxRate>, PageInfo), Failure> {
        let mut conn = self.context.pool.acquire().await?;
        let page = repo::list(&mut conn, request).await?;
        Ok(page.encode(convert::to_proto))
    }

    /// Updates a tax rate, and with it the tax of products. An empty patch changes nothing, not even
    /// its time.
    pub(crate) async fn update(
        &self,
        id: Id<TaxRate>,
        patch: TaxRatePatch,
        if_version: Option<&Versions>,
    ) -> Result<wire::TaxRate, Error> {
        if patch == TaxRatePatch::default() {
            let tax_rate = self.get(id).await?;
            precondition::check(if_version, tax_rate.version)?;
            return Ok(tax_rate);
        }
        let mut tx = pg::tx(&self.context.pool).await?;
        let mut tax_rate = lock_in_tx(&mut tx, id).await?;
        precondition::check(if_version, tax_rate.version)?;
        tax_rate.update(patch, self.context.clock.now());
        self.write_in_tx(&mut tx, &tax_rate, Change::Updated)
            .await?;
        tx.commit().await?;
        Ok(convert::to_proto(tax_rate))
    }

    /// Deletes a tax rate that no product uses.
    pub(crate) async fn delete(
        &self,
        id: Id<TaxRate>,
        if_version: Option<&Versions>,
    ) -> Result<(), Error> {
        let mut tx = pg::tx(&self.context.pool).await?;
        let mut tax_rate = lock_in_tx(&mut tx, id).await?;
        precondition::check(if_version, tax_rate.version)?;
        if repo::is_used(&mut tx, id).await? {
            return Err(Error::TaxRateInUse);
        }
        tax_rate.touch(self.context.clock.now());
        self.write_in_tx(&mut tx, &tax_rate, Change::Deleted)
            .await?;
        Ok(tx.commit().await?)
    }

    /// Writes a change, its event and its entry in the audit log.
    async fn write_in_tx(
        &self,
        conn: &mut PgConnection,
        tax_rate: &TaxRate,
        change: Change,
    ) -> Result<(), sqlx::Error> {
        match change {
            Change::Created => repo::insert_in_tx(conn, tax_rate).await?,
            Change::Updated => repo::update_in_tx(conn, tax_rate).await?,
            Change::Deleted => repo::delete_in_tx(conn, tax_rate).await?,
        }
        let event = events::message(&self.context.ids, tax_rate, change);
        outbox::append_in_tx(conn, SCHEMA, [event]).await?;
        let entry = Entry::new("tax_rate", change.name(), tax_rate.id);
        audit::record_in_tx(conn, SCHEMA, entry).await
    }
}

/// Reads a tax rate and locks it against every other change.
async fn lock_in_tx(conn: &mut PgConnection, id: Id<TaxRate>) -> Result<TaxRate, Error> {
    if !repo::lock_in_tx(conn, id).await? {
        return Err(Error::TaxRateNotFound);
    }
    repo::find(conn, id).await?.ok_or(Error::TaxRateNotFound)
}
