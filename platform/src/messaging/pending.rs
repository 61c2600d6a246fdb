//! The events that are not published yet, as ranges of positions, mostly one for each append.

use std::collections::HashSet;

use sqlx::PgPool;

use crate::pg::{self, Schema};

/// A row of `outbox_pending`. Ranges do not overlap, so their order is the order of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, sqlx::FromRow)]
struct Range {
    first_position: i64,
    last_position: i64,
}

/// The first pending events, and the ranges they are in.
#[derive(Debug)]
pub(super) struct Pending {
    ranges: Vec<Range>,
    pub(super) positions: Vec<i64>,
}

impl Pending {
    /// Reads the first `limit` events. Always from the lowest position: a low range may have been
    /// committed last, and later events of its aggregates must not overtake it.
    pub(super) async fn read(pool: &PgPool, schema: Schema, limit: u16) -> sqlx::Result<Self> {
        let sql = schema.sql(
            "select first_position, last_position from :schema.outbox_pending
             order by first_position limit $1",
        );
        // Not a prepared statement, here and in the delete below: a plan that was made while the
        // table was small would scan all of it later.
        let ranges: Vec<Range> = sqlx::query_as(sql)
            .persistent(false)
            .bind(i64::from(limit))
            .fetch_all(pool)
            .await?;
        Ok(Self::first_of(ranges, usize::from(limit)))
    }

    fn first_of(mut ranges: Vec<Range>, limit: usize) -> Self {
        let mut positions = Vec::new();
        let mut read = 0;
        for range in &ranges {
            if positions.len() == limit {
                break;
            }
            let left = limit - positions.len();
            positions.extend((range.first_position..=range.last_position).take(left));
            read += 1;
        }
        ranges.truncate(read);
        Self { ranges, positions }
    }

    /// Removes published events from `outbox_pending`. The commit does not wait for the disk: if it
    /// is lost, the events are published again, as after any crash.
    pub(super) async fn remove(
        &self,
        pool: &PgPool,
        schema: Schema,
        published: &[i64],
    ) -> sqlx::Result<()> {
        let read: Vec<_> = self
            .ranges
            .iter()
            .map(|range| range.first_position)
            .collect();
        let (firsts, lasts): (Vec<_>, Vec<_>) = self
            .without(published)
            .iter()
            .map(|range| (range.first_position, range.last_position))
            .unzip();
        let mut tx = pg::tx(pool).await?;
        let delete = schema.sql(
            "delete from :schema.outbox_pending
             using set_config('synchronous_commit', 'off', true)
             where first_position = any($1)",
        );
        sqlx::query(delete)
            .persistent(false)
            .bind(read)
            .execute(&mut *tx)
            .await?;
        if !firsts.is_empty() {
            let insert = schema.sql(
                "insert into :schema.outbox_pending
                 select * from unnest($1::bigint[], $2::bigint[])",
            );
            sqlx::query(insert)
                .bind(firsts)
                .bind(lasts)
                .execute(&mut *tx)
                .await?;
        }
        tx.commit().await
    }

    /// Returns the ranges that remain without the published events.
    fn without(&self, published: &[i64]) -> Vec<Range> {
        let published: HashSet<_> = published.iter().collect();
        let mut rest = Vec::new();
        for range in &self.ranges {
            let positions: Vec<_> = (range.first_position..=range.last_position).collect();
            let left = positions.split(|position| published.contains(position));
            rest.extend(left.filter_map(|positions| {
                Some(Range {
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

    fn ranges(ends: &[(i64, i64)]) -> Vec<Range> {
        ends.iter()
            .map(|&(first_position, last_position)| Range {
                first_position,
                last_position,
            })
            .collect()
    }

    #[test]
    fn reading_stops_at_the_limit() {
        let pending = Pending::first_of(ranges(&[(1, 2), (5, 9), (10, 10)]), 4);
        assert_eq!(pending.positions, [1, 2, 5, 6]);
        assert_eq!(pending.ranges, ranges(&[(1, 2), (5, 9)]));
        let pending = Pending::first_of(ranges(&[(1, 2), (5, 9)]), 7);
        assert_eq!(pending.positions, [1, 2, 5, 6, 7, 8, 9]);
        assert_eq!(pending.ranges, ranges(&[(1, 2), (5, 9)]));
    }

    #[test]
    fn events_that_are_not_published_stay_pending() {
        let pending = Pending::first_of(ranges(&[(1, 2), (5, 9), (12, 14)]), 9);
        assert_eq!(pending.without(&pending.positions), ranges(&[(14, 14)]));
        assert_eq!(
            pending.without(&[2, 6, 7, 12]),
            ranges(&[(1, 1), (5, 5), (8, 9), (13, 14)])
        );
        assert_eq!(pending.without(&[]), pending.ranges);
    }
}
