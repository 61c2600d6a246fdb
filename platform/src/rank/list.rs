//! Moves in a list that a table keeps: which neighbours to look up, and what to write.

use sqlx::{AssertSqlSafe, PgConnection};
use uuid::Uuid;

use super::{Placement, Rank, Side, place};

/// Neighbours looked up at first; nearly all moves need no more.
const SIGHT: i64 = 16;

/// A table whose rows have a place: ordered by its column `rank`, then by their id.
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
    /// Which rows make the list; `$1` stands for the id of what the list belongs to.
    pub only: &'static str,
}

/// A row of a list, and where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ranked {
    /// Its id.
    pub id: Uuid,
    /// Its key.
    pub rank: Rank,
}

impl RankedList {
    /// Waits until no other transaction moves something in this list, and keeps others waiting until
    /// this one ends. `owner` is what the list belongs to; nil where there is one list.
    ///
    /// Everything that writes a chosen key takes it before any lock on a row.
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

    /// Makes room for `item` right before `next`, or at the end, in a list that is locked. Answers
    /// the key that the caller has to give it; `None` if it is where it should be.
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
        let mut sight = SIGHT;
        loop {
            let before = self.before(conn, owner, item.id, next, sight).await?;
            let after = match next {
                Some(next) => self.after(conn, owner, item.id, next, sight).await?,
                None => Vec::new(),
            };
            let (nearest, sides) = (
                (before.first(), after.first()),
                (side(&before, sight), side(&after, sight)),
            );
            let below = nearest.0.is_none_or(|before| before.rank < item.rank);
            if below && nearest.1.is_none_or(|after| item.rank < after.rank) {
                return Ok(None);
            }
            match place(&sides.0, &sides.1) {
                Placement::Between(rank) => return Ok(Some(rank)),
                Placement::Unknown => sight *= 8,
                Placement::Respaced {
                    before: lower,
                    item,
                    after: upper,
                } => {
                    let neighbours = before.iter().zip(lower).chain(after.iter().zip(upper));
                    self.respace_in_tx(conn, owner, neighbours).await?;
                    return Ok(Some(item));
                }
            }
        }
    }

    async fn before(
        &self,
        conn: &mut PgConnection,
        owner: Uuid,
        item: Uuid,
        next: Option<Ranked>,
        sight: i64,
    ) -> Result<Vec<Ranked>, sqlx::Error> {
        let Self { table, id, only } = self;
        let sql = format!(
            "select {id}, rank::text as key from {table}
             where {only} and {id} <> $2
               and ($4::uuid is null or (rank, {id}) < ($3::text::numeric, $4))
             order by rank desc, {id} desc
             limit $5"
        );
        let rank = next.map(|next| next.rank);
        let rows = sqlx::query_as(AssertSqlSafe(sql))
            .bind(owner)
            .bind(item)
            .bind(rank)
            .bind(next.map(|next| next.id))
            .bind(sight);
        rows.fetch_all(conn).await.map(ranked)
    }

    async fn after(
        &self,
        conn: &mut PgConnection,
        owner: Uuid,
        item: Uuid,
        next: Ranked,
        sight: i64,
    ) -> Result<Vec<Ranked>, sqlx::Error> {
        let Self { table, id, only } = self;
        let sql = format!(
            "select {id}, rank::text as key from {table}
             where {only} and {id} <> $2 and (rank, {id}) >= ($3::text::numeric, $4)
             order by rank, {id}
             limit $5"
        );
        let rows = sqlx::query_as(AssertSqlSafe(sql))
            .bind(owner)
            .bind(item)
            .bind(next.rank)
            .bind(next.id)
            .bind(sight);
        rows.fetch_all(conn).await.map(ranked)
    }

    /// Only keys change: to those who look at a neighbour, nothing happened to it. A row that was
    /// deleted meanwhile has no place.
    async fn respace_in_tx(
        &self,
        conn: &mut PgConnection,
        owner: Uuid,
        keys: impl Iterator<Item = (&Ranked, Rank)>,
    ) -> Result<(), sqlx::Error> {
        let Self { table, id, only } = self;
        let sql = format!(
            "update {table} set rank = respaced.key::numeric
             from unnest($2::uuid[], $3::text[]) as respaced (item, key)
             where {id} = respaced.item and {only}"
        );
        let (ids, ranks): (Vec<_>, Vec<_>) = keys.map(|(row, rank)| (row.id, rank)).unzip();
        sqlx::query(AssertSqlSafe(sql))
            .bind(owner)
            .bind(ids)
            .bind(ranks)
            .execute(conn)
            .await
            .map(drop)
    }
}

fn ranked(rows: Vec<(Uuid, Rank)>) -> Vec<Ranked> {
    let rows = rows.into_iter();
    rows.map(|(id, rank)| Ranked { id, rank }).collect()
}

fn side(rows: &[Ranked], sight: i64) -> Side {
    Side {
        keys: rows.iter().map(|row| row.rank).collect(),
        complete: i64::try_from(rows.len()).is_ok_and(|rows| rows < sight),
    }
}
