//! Reads a page: page, total and cursor come from one statement, so from one snapshot.
//!
//! A page is bounded in rows by the request and in bytes by [`MAX_PAGE_BYTES`]: where its rows would
//! pass that, it ends early, and its cursor leads to the rest.

use std::time::Duration;

use futures::TryStreamExt as _;
use proto::common::v1::{ListRequest, PageInfo};
use sqlx::{FromRow, PgConnection, Row, ValueRef as _, postgres::PgRow};

use super::{List, Search, Sql, cursor, statement::Statement};
use crate::{
    error::{Code, Failure},
    list::check::{Checked, Start, check},
    pg,
};

/// How long a statement of a list may run: a list that takes longer lacks an index, and holds one of the
/// process's few connections.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(1);

/// Bytes of the rows of a page, unless one row alone has more.
pub const MAX_PAGE_BYTES: usize = 8 * 1024 * 1024;

/// Bytes of the columns read for a page. More than the rows have once encoded: numbers are longer in a
/// column, and a column need not be shown.
const MAX_READ_BYTES: usize = 2 * MAX_PAGE_BYTES;

/// Bytes of a page from which it says the cursor of each row: the gateway may end it earlier, because
/// JSON is longer. Below, no JSON is as long as [`MAX_PAGE_BYTES`].
const CURSORS_FROM: usize = MAX_PAGE_BYTES / 8;

/// One page of a list.
#[derive(Debug)]
pub struct Page<T> {
    /// Its rows.
    pub rows: Vec<T>,
    /// Number of matching rows on all pages.
    pub total: u64,
    /// Cursor of the next page; `None` on the last.
    pub next_cursor: Option<String>,
    /// Relations to embed.
    pub include: Vec<&'static str>,
    cursors: Cursors,
}

/// The sort keys of the rows of a page, to continue the list after any of them. Empty for a list
/// without pages.
#[derive(Debug, Default)]
struct Cursors {
    sort: String,
    keys: Vec<Vec<Option<String>>>,
}

impl Cursors {
    /// Returns the cursor of the page that follows the first `rows` rows.
    fn after(&self, rows: usize) -> Option<String> {
        let keys = self.keys.get(rows.checked_sub(1)?)?;
        Some(cursor::encode(&self.sort, keys))
    }

    fn first(&self, rows: usize) -> Vec<String> {
        (1..=rows).filter_map(|row| self.after(row)).collect()
    }
}

impl<T> Page<T> {
    /// Returns whether to embed this relation.
    pub fn includes(&self, relation: &str) -> bool {
        self.include.contains(&relation)
    }

    /// Converts each row.
    pub fn map<U>(mut self, convert: impl FnMut(T) -> U) -> Page<U> {
        let rows = std::mem::take(&mut self.rows);
        self.with_rows(rows.into_iter().map(convert).collect())
    }

    /// Replaces the rows one by one, for example by rows with embedded relations.
    pub fn with_rows<U>(self, rows: Vec<U>) -> Page<U> {
        Page {
            rows,
            total: self.total,
            next_cursor: self.next_cursor,
            include: self.include,
            cursors: self.cursors,
        }
    }

    /// Replaces the rows by other forms of the first of them; where there are fewer, the page ends early.
    pub fn with_first_rows<U>(self, rows: Vec<U>) -> Page<U> {
        let next_cursor = self.cursors.after(rows.len());
        let ends_early = rows.len() < self.cursors.keys.len();
        let mut page = self.with_rows(rows);
        if ends_early {
            page.next_cursor = next_cursor;
        }
        page
    }

    /// Ends the page after its first `rows` rows, at least one.
    pub fn truncate(&mut self, rows: usize) {
        let rows = rows.max(1);
        if rows < self.rows.len()
            && let Some(next) = self.cursors.after(rows)
        {
            self.rows.truncate(rows);
            self.next_cursor = Some(next);
        }
    }

    /// Encodes the rows, as many as [`MAX_PAGE_BYTES`] holds and at least one, and the part of the
    /// response that is not rows.
    pub fn encode<M: prost::Message>(self, encode: impl FnMut(T) -> M) -> (Vec<M>, PageInfo) {
        self.encode_from(CURSORS_FROM, encode)
    }

    /// Does the same, and always says the cursor of each row: the list is merged with others, and a page
    /// of the whole may end after any row.
    pub fn encode_with_cursors<M: prost::Message>(
        self,
        encode: impl FnMut(T) -> M,
    ) -> (Vec<M>, PageInfo) {
        self.encode_from(0, encode)
    }

    /// Encodes the rows, with their cursors if they have this many bytes.
    fn encode_from<M: prost::Message>(
        mut self,
        cursors_from: usize,
        mut encode: impl FnMut(T) -> M,
    ) -> (Vec<M>, PageInfo) {
        let mut encoded: Vec<M> = Vec::with_capacity(self.rows.len());
        let mut bytes = 0_usize;
        for row in std::mem::take(&mut self.rows) {
            let row = encode(row);
            let with_row = bytes.saturating_add(row.encoded_len());
            if with_row > MAX_PAGE_BYTES
                && let Some(next) = self.cursors.after(encoded.len())
            {
                self.next_cursor = Some(next);
                break;
            }
            bytes = with_row;
            encoded.push(row);
        }
        let row_cursors = if bytes >= cursors_from {
            self.cursors.first(encoded.len())
        } else {
            Vec::new()
        };
        let info = PageInfo {
            total: self.total,
            next_cursor: self.next_cursor.unwrap_or_default(),
            row_cursors,
        };
        (encoded, info)
    }
}

impl List {
    /// Reads the page that the request asks for, up to twice [`MAX_PAGE_BYTES`]; [`Page::encode`] ends it
    /// exactly. A list that takes longer than a second is `timeout`.
    pub async fn fetch<T>(
        &self,
        conn: &mut PgConnection,
        request: &ListRequest,
    ) -> Result<Page<T>, Failure>
    where
        T: for<'r> FromRow<'r, PgRow>,
    {
        let checked = check(self.table, request)?;
        let statement = self.statement(request, &checked)?;
        // Dropped, not committed: the rollback is sent with the next statement of the connection.
        let mut tx = pg::read_only_within(STATEMENT_TIMEOUT, conn).await?;
        let read = self.read(&mut tx, &statement, &checked).await?;
        let total = match read.total {
            Some(total) => total,
            None if checked.start == Start::Number(1) => 0,
            None => {
                let mut count = statement.count();
                let count = count.build_query_scalar().persistent(false);
                count.fetch_one(&mut *tx).await.map_err(failure)?
            }
        };
        let next_cursor = if read.more {
            read.cursors.after(read.rows.len())
        } else {
            None
        };
        Ok(Page {
            rows: read.rows,
            total: u64::try_from(total).unwrap_or_default(),
            next_cursor,
            include: checked.include,
            cursors: read.cursors,
        })
    }

    async fn read<T>(
        &self,
        conn: &mut PgConnection,
        statement: &Statement<'_>,
        checked: &Checked,
    ) -> Result<Read<T>, Failure>
    where
        T: for<'r> FromRow<'r, PgRow>,
    {
        let keys = statement.keys();
        let mut read = Read {
            rows: Vec::new(),
            total: None,
            more: false,
            cursors: Cursors {
                sort: keys.name().to_owned(),
                keys: Vec::new(),
            },
        };
        let size = checked.page_size as usize;
        let mut bytes = 0_usize;
        let mut sql = statement.page(&keys)?;
        // Planned for its values each time: the best plan for a wallet with ten rows differs from
        // the best for one with half of the table, and no plan serves both.
        let mut rows = sql.build().persistent(false).fetch(conn);
        while let Some(row) = rows.try_next().await.map_err(failure)? {
            bytes = bytes.saturating_add(bytes_of(&row)?);
            if read.total.is_none() {
                read.total = Some(row.try_get("list_total")?);
            }
            if self.table.paged {
                let is_full = read.rows.len() == size || bytes > MAX_READ_BYTES;
                if is_full && !read.rows.is_empty() {
                    read.more = true;
                    break;
                }
                read.cursors.keys.push(row.try_get("list_keys")?);
            }
            read.rows.push(T::from_row(&row)?);
        }
        Ok(read)
    }

    /// Builds the statement of the page that the request asks for, to test or to explain it.
    pub fn page_statement(&self, request: &ListRequest) -> Result<Sql, Failure> {
        let checked = check(self.table, request)?;
        let statement = self.statement(request, &checked)?;
        statement.page(&statement.keys())
    }

    fn statement<'a>(
        &'a self,
        request: &ListRequest,
        checked: &'a Checked,
    ) -> Result<Statement<'a>, Failure> {
        let search: Option<&dyn Search> = match (&checked.search, self.search.as_deref()) {
            (None, _) => None,
            (Some(_), Some(search)) => Some(search),
            (Some(_), None) => return Err(Failure::internal("the list has no search")),
        };
        let sorted = !request.sort.is_empty();
        Ok(Statement::new(self, checked, search, sorted))
    }
}

/// The rows of a page as they are read.
struct Read<T> {
    rows: Vec<T>,
    /// `None` without rows.
    total: Option<i64>,
    /// Whether there are rows after them.
    more: bool,
    cursors: Cursors,
}

/// Tells a list that took too long from a database that is unavailable: it is no use to try it again soon.
fn failure(error: sqlx::Error) -> Failure {
    if pg::is_canceled(&error) {
        Failure::new(Code::Timeout, "the list took too long").with_source(error)
    } else {
        error.into()
    }
}

fn bytes_of(row: &PgRow) -> Result<usize, sqlx::Error> {
    let mut bytes = 0;
    for column in 0..row.len() {
        let value = row.try_get_raw(column)?;
        if !value.is_null() {
            bytes += value.as_bytes().map_err(sqlx::Error::Decode)?.len();
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests;
