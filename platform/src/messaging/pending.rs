//! Which events are still to be published: runs of neighbouring positions, mostly one an append.

use std::collections::HashSet;

use sqlx::PgPool;

use crate::pg::{self, Schema};

/// A row of `outbox_pending`. Runs have no position in common, so that their order is that of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, sqlx::FromRow)]
struct Run {
    first_position: i64,
    last_position: i64,
}

/// The first events that are pending, and the runs that they are in.
#[derive(Debug)]
pub(super) struct Pending {
    runs: Vec<Run>,
    pub(super) positions: Vec<i64>,
}

impl Pending {
    /// Reads the first ones, always from the start: a run far back may just have been committed, and
    /// later events of its aggregates must not overtake it.
    pub(super) async fn read(pool: &PgPool, schema: Schema, limit: u16) -> sqlx::Result<Self> {
        let sql = schema.sql(
            "select first_position, last_position from :schema.outbox_pending
             order by first_position limit $1",
        );
        // Planned anew each time, as is what deletes them: a plan that was made while the table was
        // small goes on to read all of it.
        let runs: Vec<Run> = sqlx::query_as(sql)
            .persistent(false)
            .bind(i64::from(limit))
            .fetch_all(pool)
            .await?;
        Ok(Self::first_of(runs, usize::from(limit)))
    }

    fn first_of(mut runs: Vec<Run>, limit: usize) -> Self {
        let mut positions = Vec::new();
        let mut read = 0;
        for run in &runs {
            if positions.len() == limit {
                break;
            }
            let room = limit - positions.len();
            positions.extend((run.first_position..=run.last_position).take(room));
            read += 1;
        }
        runs.truncate(read);
        Self { runs, positions }
    }

    /// Takes published events off the pending ones, without waiting for the disk: where that is lost,
    /// they are published again, as after any crash.
    pub(super) async fn mark(
        &self,
        pool: &PgPool,
        schema: Schema,
        published: &[i64],
    ) -> sqlx::Result<()> {
        let read: Vec<_> = self.runs.iter().map(|run| run.first_position).collect();
        let (firsts, lasts): (Vec<_>, Vec<_>) = self
            .without(published)
            .iter()
            .map(|run| (run.first_position, run.last_position))
            .unzip();
        let mut tx = pg::tx(pool).await?;
        let delete = schema.sql(
            "delete from :schema.outbox_pending
             using set_config('synchronous_commit', 'off', true)
             where first_position = any($1)",
        );
        let delete = sqlx::query(delete).persistent(false).bind(read);
        delete.execute(&mut *tx).await?;
        if !firsts.is_empty() {
            let insert = "insert into :schema.outbox_pending
                 select * from unnest($1::bigint[], $2::bigint[])";
            let insert = sqlx::query(schema.sql(insert)).bind(firsts).bind(lasts);
            insert.execute(&mut *tx).await?;
        }
        tx.commit().await
    }

    /// What remains of the runs without those events.
    fn without(&self, published: &[i64]) -> Vec<Run> {
        let published: HashSet<_> = published.iter().collect();
        let mut rest = Vec::new();
        for run in &self.runs {
            let positions: Vec<_> = (run.first_position..=run.last_position).collect();
            let left = positions.split(|position| published.contains(position));
            rest.extend(left.filter_map(|positions| {
                Some(Run {
                    first_position: *positions.first()?,
                    last_position: *positions.last()?,
                })
            }));
        }
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(ends: &[(i64, i64)]) -> Vec<Run> {
        let run = |&(first_position, last_position)| Run {
            first_position,
            last_position,
        };
        ends.iter().map(run).collect()
    }

    #[test]
    fn no_more_is_read_than_fits() {
        let pending = Pending::first_of(runs(&[(1, 2), (5, 9), (10, 10)]), 4);
        assert_eq!(pending.positions, [1, 2, 5, 6]);
        assert_eq!(pending.runs, runs(&[(1, 2), (5, 9)]));
        let pending = Pending::first_of(runs(&[(1, 2), (5, 9)]), 7);
        assert_eq!(pending.positions, [1, 2, 5, 6, 7, 8, 9]);
        assert_eq!(pending.runs, runs(&[(1, 2), (5, 9)]));
    }

    #[test]
    fn what_is_not_published_stays_pending() {
        let pending = Pending::first_of(runs(&[(1, 2), (5, 9), (12, 14)]), 9);
        assert_eq!(pending.without(&pending.positions), runs(&[(14, 14)]));
        assert_eq!(
            pending.without(&[2, 6, 7, 12]),
            runs(&[(1, 1), (5, 5), (8, 9), (13, 14)])
        );
        assert_eq!(pending.without(&[]), pending.runs);
    }
}
