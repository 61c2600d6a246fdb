//! One slice of a pass.

use std::time::Duration;

use platform::pg;
use sqlx::PgPool;
use tokio::time::Instant;
use uuid::Uuid;

use super::{
    Violation,
    progress::{Key, Position},
};

/// A slice that was checked.
pub(super) struct Slice {
    pub violations: Vec<Violation>,
    /// Where the next slice starts; none at the end of the pass.
    pub next: Option<Position>,
    /// How long the statement took.
    pub elapsed: Duration,
}

/// A row of `checks/`.
#[derive(sqlx::FromRow)]
struct Row {
    rules: Option<Vec<String>>,
    places: Option<Vec<String>>,
    /// The last key of the slice; none if there are no rows after it.
    last_id: Option<Uuid>,
    last_name: Option<String>,
}

/// Checks the next rows after a position, under limits of its own. Each row is found by its key, as the
/// sessions of the pool are set; rows of two tables may be joined in any way.
pub(super) async fn check_slice(
    pool: &PgPool,
    position: &Position,
    rows: i64,
) -> Result<Slice, sqlx::Error> {
    let mut tx = pg::tx(pool).await?;
    let settings = sqlx::raw_sql(
        "set transaction read only;
         set local statement_timeout = '10s';
         set local plan_cache_mode = auto;
         set local max_parallel_workers_per_gather = 0;
         set local enable_hashjoin = on;
         set local enable_mergejoin = on",
    );
    pg::bounded(settings.execute(&mut *tx)).await?;
    let Position { table, after } = position;
    let check = sqlx::query_as(table.checks())
        .bind(after.id)
        .bind(&after.name)
        .bind(rows);
    let started = Instant::now();
    let row: Row = pg::within(Duration::from_secs(15), check.fetch_one(&mut *tx)).await?;
    let elapsed = started.elapsed();
    pg::bounded(tx.rollback()).await?;
    Ok(Slice {
        next: row.last_key().map_or_else(
            || table.next().map(Position::start_of),
            |after| {
                Some(Position {
                    table: *table,
                    after,
                })
            },
        ),
        violations: row.violations(),
        elapsed,
    })
}

impl Row {
    fn last_key(&self) -> Option<Key> {
        Some(Key {
            id: self.last_id?,
            name: self.last_name.clone()?,
        })
    }

    fn violations(self) -> Vec<Violation> {
        let rules = self.rules.unwrap_or_default().into_iter();
        let places = self.places.unwrap_or_default();
        let pairs = rules.zip(places);
        pairs
            .map(|(rule, place)| Violation { rule, place })
            .collect()
    }
}
