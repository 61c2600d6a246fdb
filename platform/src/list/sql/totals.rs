//! Totals of lists whose rows are only ever added: old rows are counted once, and a page counts the new ones.
//!
//! A page's statement counts from a time on, and adds the number of rows of before, so that the total is still
//! exact and of the page's snapshot. Rows are old once no row can be added before them any more: their
//! `created_at` is read from the database's clock shortly before they are written, and the counted time lies
//! before the start of every transaction that writes, and five minutes before the present. Ids would not do:
//! an event may have brought its transaction's id long before the transaction is written.
//!
//! Counts run in the background, one at a time, on a connection of the service's pool, and go on if nobody
//! waits for them. What is known is kept in memory for an hour at most: after a restore, or where an operator has
//! deleted rows, totals are right again by then.

mod count;

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use moka::sync::Cache;
use sqlx::PgPool;
use tokio::sync::Semaphore;

use self::count::Count;
use super::{
    Key, List, Sql,
    counting::{CountKey, Counted},
    statement::Statement,
};
use crate::{ids::first_id_of, pg};

/// Counts that are kept: the lists and filters of a service that many rows match.
const CAPACITY: u64 = 1_000;
/// Lists that wait for a count at a time: each holds one of the process's few connections.
const MAX_WAITING: usize = 4;
/// How much longer than the server's limit a response to a count is waited for.
const GRACE: Duration = Duration::from_secs(2);

/// How many, how long, how often.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// A page that counted more rows than these is worth a count.
    pub(super) rows: i64,
    /// How old counted rows are. The clock that the time of a row is read from may be a few seconds behind,
    /// as after a failover.
    pub(super) age: TimeDelta,
    /// How long a count of the same rows is not gone on with, and not tried again after a failure.
    pub(super) pause: Duration,
    /// How long a count is gone on with; then it begins again.
    pub(super) restart: Duration,
    /// How long a count is used since it began.
    pub(super) expiry: Duration,
    /// How long the statement of a count may run.
    pub(super) statement: Duration,
    /// How long a list that was cut off waits for a count.
    pub(super) wait: Duration,
}

impl Limits {
    pub(super) const DEFAULT: Self = Self {
        rows: 10_000,
        age: TimeDelta::minutes(5),
        pause: Duration::from_mins(1),
        restart: Duration::from_mins(30),
        expiry: Duration::from_hours(1),
        statement: Duration::from_secs(30),
        wait: Duration::from_secs(5),
    };
}

/// The counts that a service knows, for all its lists of such rows. Cloning is cheap and shares them.
#[derive(Debug, Clone)]
pub struct Totals(Arc<State>);

#[derive(Debug)]
struct State {
    pool: PgPool,
    limits: Limits,
    counts: Cache<CountKey, Counted>,
    /// Those that failed a moment ago.
    failed: Cache<CountKey, ()>,
    running: Arc<Semaphore>,
    waiting: Semaphore,
}

impl Totals {
    /// Creates an empty store, which counts on connections of this pool.
    pub fn new(pool: PgPool) -> Self {
        Self::with_limits(pool, Limits::DEFAULT)
    }

    pub(super) fn with_limits(pool: PgPool, limits: Limits) -> Self {
        let counts = Cache::builder().max_capacity(CAPACITY);
        let failed = Cache::builder().max_capacity(CAPACITY);
        Self(Arc::new(State {
            pool,
            limits,
            counts: counts.time_to_idle(limits.expiry).build(),
            failed: failed.time_to_live(limits.pause).build(),
            running: Arc::new(Semaphore::new(1)),
            waiting: Semaphore::new(MAX_WAITING),
        }))
    }

    /// Waits until no count runs.
    #[cfg(test)]
    pub(super) async fn idle(&self) {
        let _turn = self.0.running.acquire().await.unwrap();
    }
}

impl State {
    async fn count(&self, mut sql: Sql) -> Result<i64, sqlx::Error> {
        let limit = self.limits.statement;
        let count = async {
            let mut conn = self.pool.acquire().await?;
            let mut tx = pg::read_only_within(limit, &mut conn).await?;
            let count = sql.build_query_scalar().persistent(false);
            count.fetch_one(&mut *tx).await
        };
        let count = Box::pin(pg::within(limit + GRACE, count));
        // A service that stops does not wait for it.
        self.pool.close_event().do_until(count).await?
    }
}

/// What a list says of its rows.
#[derive(Debug)]
pub(super) struct AppendOnly {
    totals: Totals,
    mutable_fields: &'static [&'static str],
}

impl List {
    /// Declares that rows are only ever added, each with the database's time as `created_at`, and that later only
    /// these fields change: `.append_only(&totals, &["status", "updatedAt"])`. The list's own conditions
    /// must be on what never changes.
    ///
    /// Rows that are counted once are not counted again, unless a filter is on a field that changes, or there is
    /// a search.
    ///
    /// ```sql
    /// select …, (select $1 + count(*) from wallet.transactions t where true and t.created_at >= $2)
    ///     as list_total, …
    /// ```
    #[must_use]
    pub fn append_only(mut self, totals: &Totals, mutable_fields: &'static [&'static str]) -> Self {
        self.append_only = Some(AppendOnly {
            totals: totals.clone(),
            mutable_fields,
        });
        self
    }

    /// Pushes ` and …` for the rows that were added on this side of a time.
    pub(super) fn push_added(&self, sql: &mut Sql, operator: &str, time: DateTime<Utc>) {
        if let Key::TimeOrderedId(id) = self.key {
            sql.push(format_args!(" and {id} {operator} "))
                .push_bind(first_id_of(time));
        } else {
            let created_at = self.default_column("createdAt");
            sql.push(format_args!(" and {created_at} {operator} "))
                .push_bind(time);
        }
    }

    /// Returns the count of a statement's rows, if it can be kept.
    pub(super) fn count_of<'s>(&'s self, statement: &'s Statement<'s>) -> Option<Count<'s>> {
        let AppendOnly {
            totals,
            mutable_fields,
        } = self.append_only.as_ref()?;
        let mut conditions = statement.checked.conditions.iter();
        let is_mutable = conditions.any(|one| mutable_fields.contains(&one.field.name));
        (!is_mutable && statement.search.is_none()).then(|| Count::new(&totals.0, statement))
    }
}
