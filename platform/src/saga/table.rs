//! The SQL of items.

use std::{error::Error, time::Duration};

use chrono::{DateTime, Utc};
use sqlx::{AssertSqlSafe, PgExecutor, PgPool};
use uuid::Uuid;

use super::LEASE;
use crate::{pg::Schema, telemetry};

/// The most characters of an error that are stored.
const MAX_ERROR_CHARS: usize = 1_000;

/// A table of items; [the module](super) lists its columns.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    /// The service's schema.
    pub schema: Schema,
    /// The table's name, without the schema.
    pub name: &'static str,
    /// The primary key, a `uuid`.
    pub key: &'static str,
}

/// An item that a worker has taken.
#[derive(Debug, Clone, Copy, sqlx::FromRow)]
pub(super) struct Item {
    pub(super) id: Uuid,
    /// The attempts so far, this one included: tells the item from a later one with the same key.
    pub(super) attempts: i32,
}

/// When an item is due next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    In(Duration),
    /// By the database's clock, and in [`SOONEST`] if that time is over.
    At(DateTime<Utc>),
}

/// The least delay before an attempt that is due at a time.
const SOONEST: Duration = Duration::from_secs(1);

impl Table {
    /// Gives an item back whose outcome the request does not know, so that a worker resumes it
    /// immediately. Does nothing if a worker has it already.
    pub async fn retry_now(
        &self,
        db: impl PgExecutor<'_>,
        id: Uuid,
        error: &(dyn Error + Send + Sync + 'static),
    ) -> Result<(), sqlx::Error> {
        let item = Item { id, attempts: 0 };
        let error = telemetry::chain(error);
        let now = Due::In(Duration::ZERO);
        self.postpone(db, item, now, &error).await
    }

    /// Takes items that are due, the longest due first. Each is due again in [`LEASE`].
    pub(super) async fn take_due(
        &self,
        pool: &PgPool,
        limit: usize,
    ) -> Result<Vec<Item>, sqlx::Error> {
        let sql = self.sql(
            "update :schema.:table
             set attempts = attempts + 1, due_at = now() + $1 * interval '1 second'
             where :key in (
                 select :key from :schema.:table where due_at <= now()
                 order by due_at limit $2 for update skip locked)
             returning :key as id, attempts",
        );
        sqlx::query_as(sql)
            .bind(LEASE.as_secs_f64())
            .bind(i64::try_from(limit).unwrap_or(i64::MAX))
            .fetch_all(pool)
            .await
    }

    /// Makes an item due later and records why.
    pub(super) async fn postpone(
        &self,
        db: impl PgExecutor<'_>,
        item: Item,
        due: Due,
        error: &str,
    ) -> Result<(), sqlx::Error> {
        let (delay, time) = match due {
            Due::In(delay) => (delay, None),
            Due::At(time) => (SOONEST, Some(time)),
        };
        let sql = self.sql(
            "update :schema.:table
             set due_at = greatest(now() + $3 * interval '1 second', $4), last_error = $5
             where :key = $1 and attempts = $2",
        );
        sqlx::query(sql)
            .bind(item.id)
            .bind(item.attempts)
            .bind(delay.as_secs_f64())
            .bind(time)
            .bind(error.chars().take(MAX_ERROR_CHARS).collect::<String>())
            .execute(db)
            .await?;
        Ok(())
    }

    /// Gives items back that were taken and not begun.
    pub(super) async fn give_back(&self, pool: &PgPool, item: Item) -> Result<(), sqlx::Error> {
        let sql = self.sql(
            "update :schema.:table set due_at = now(), attempts = attempts - 1
             where :key = $1 and attempts = $2",
        );
        sqlx::query(sql)
            .bind(item.id)
            .bind(item.attempts)
            .execute(pool)
            .await?;
        Ok(())
    }

    /// Returns the number of items and the age of the oldest in seconds.
    pub(super) async fn backlog(&self, pool: &PgPool) -> Result<(f64, f64), sqlx::Error> {
        let sql = self.sql(
            "select count(*)::float8,
                    coalesce(extract(epoch from now() - min(created_at)), 0)::float8
             from :schema.:table",
        );
        sqlx::query_as(sql).fetch_one(pool).await
    }

    fn sql(&self, template: &str) -> AssertSqlSafe<String> {
        let sql = template
            .replace(":table", self.name)
            .replace(":key", self.key);
        self.schema.sql(&sql)
    }
}
