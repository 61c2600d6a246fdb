//! Moves in a list that a table keeps: reads the neighbours and re-spaces them where needed.

use sqlx::{AssertSqlSafe, PgConnection};
use uuid::Uuid;

use super::{
    Rank,
    place::{Side, place},
};

/// Neighbours that are read first on each side; nearly all moves need no more.
const FIRST_LIMIT: u32 = 16;

/// A table whose rows are ordered by its column `rank`, then by their id.
///
/// ```
/// const TASKS: platform::rank::RankedList = platform::rank::RankedList {
///     table: "identity.tasks",
///     id: "id",
///     only: "deleted_at is null",
/// };
/// ```
#[derive(Debug, Clone, Copy)]
pub struct RankedList {
    /// With its schema.
    pub table: &'static str,
    /// The column of ids.
    pub id: &'static str,
    /// The condition on the rows of the list; `$1` is the id of the owner of the list.
    pub only: &'static str,
}

/// A row of a list. Rows compare as the list orders them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ranked {
    /// Its rank.
    pub rank: Rank,
    /// Its id.
    pub id: Uuid,
}

impl RankedList {
    /// Locks this list against moves of other transactions until this one ends. `owner` is nil where
    /// there is one list.
    ///
    /// Everything that writes a chosen rank takes it before any lock on a row.
    pub async fn lock_in_tx(
        &self,
        conn: &mut PgConnection,
        owner: Uuid,
    ) -> Result<(), sqlx::Error> {
        sqlx::query("select pg_advisory_xact_lock(hashtextextended($1 || $2::text, 0))")
            .bind(self.table)
            .bind(owner)
            .execute(conn)
            .await
            .map(drop)
    }

    /// Makes room for `item` right before `next`, or at the end, in a list that is locked. Returns
    /// the rank that the caller has to give it; `None` if it is there already.
    pub async fn make_room_in_tx(
        &self,
        conn: &mut PgConnection,
        owner: Uuid,
        item: Ranked,
        next: Option<Ranked>,
    ) -> Result<Option<Rank>, sqlx::Error> {
        if next.is_some_and(|next| next.id == item.id) {
            return Ok(None);
        }
        let mut limit = FIRST_LIMIT;
        loop {
            let (before, after) = self.neighbours(conn, owner, item.id, next, limit).await?;
            let lower = before.rows.first().is_none_or(|row| row.rank < item.rank);
            if lower && after.rows.first().is_none_or(|row| item.rank < row.rank) {
                return Ok(None);
            }
            if let Some(placement) = place(&before, &after) {
                self.respace_in_tx(conn, owner, &placement.neighbours)
                    .await?;
                return Ok(Some(placement.item));
            }
            limit *= 8;
        }
    }

    /// Reads the nearest rows before and after the place right before `next`, without the item.
    async fn neighbours(
        &self,
        conn: &mut PgConnection,
        owner: Uuid,
        item: Uuid,
        next: Option<Ranked>,
        limit: u32,
    ) -> Result<(Side, Side), sqlx::Error> {
        let Self { table, id, only } = self;
        let sql = format!(
            "(select {id}, rank::text as key from {table}
              where {only} and {id} <> $2
                and ($4::uuid is null or (rank, {id}) < ($3::text::numeric, $4))
              order by rank desc, {id} desc
              limit $5)
             union all
             (select {id}, rank::text as key from {table}
              where {only} and {id} <> $2
                and $4 is not null and (rank, {id}) >= ($3::text::numeric, $4)
              order by rank, {id}
              limit $5)"
        );
        let rows: Vec<(Uuid, Rank)> = sqlx::query_as(AssertSqlSafe(sql))
            .bind(owner)
            .bind(item)
            .bind(next.map(|next| next.rank))
            .bind(next.map(|next| next.id))
            .bind(i64::from(limit))
            .fetch_all(conn)
            .await?;
        let rows = rows.into_iter().map(|(id, rank)| Ranked { rank, id });
        let mut before: Vec<_> = rows.collect();
        before.sort_unstable();
        let place = before.partition_point(|row| next.is_none_or(|next| *row < next));
        let after = before.split_off(place);
        before.reverse();
        Ok((Side::new(before, limit), Side::new(after, limit)))
    }

    /// Changes only ranks: a neighbour's version and time stay. A row that was deleted meanwhile has
    /// no rank.
    async fn respace_in_tx(
        &self,
        conn: &mut PgConnection,
        owner: Uuid,
        rows: &[Ranked],
    ) -> Result<(), sqlx::Error> {
        if rows.is_empty() {
            return Ok(());
        }
        let Self { table, id, only } = self;
        let sql = format!(
            "update {table} set rank = respaced.key::numeric
             from unnest($2::uuid[], $3::text[]) as respaced (item, key)
             where {id} = respaced.item and {only}"
        );
        let (ids, ranks): (Vec<_>, Vec<_>) = rows.iter().map(|row| (row.id, row.rank)).unzip();
        sqlx::query(AssertSqlSafe(sql))
            .bind(owner)
            .bind(ids)
            .bind(ranks)
            .execute(conn)
            .await
            .map(drop)
    }
}
