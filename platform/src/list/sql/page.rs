//! Reads a page: page, total and cursor come from one statement, so from one snapshot.

use proto::common::v1::{ListRequest, PageInfo};
use sqlx::{FromRow, PgConnection, Row, postgres::PgRow};

use super::{List, Search, Sql, statement::Statement};
use crate::{
    error::Failure,
    list::check::{Checked, Start, check},
};

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

    /// Replaces the rows, for example by rows with embedded relations.
    pub fn with_rows<U>(self, rows: Vec<U>) -> Page<U> {
        Page {
            rows,
            total: self.total,
            next_cursor: self.next_cursor,
            include: self.include,
        }
    }

    /// Returns the part of the response that is not rows.
    pub fn info(&self) -> PageInfo {
        let next_cursor = self.next_cursor.clone().unwrap_or_default();
        PageInfo {
            total: self.total,
            next_cursor,
        }
    }
}

impl List {
    /// Reads the page that the request asks for.
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
        let keys = statement.keys();
        let mut rows = statement
            .page(&keys)?
            .build()
            // Planned for its values each time: the best plan for a wallet with ten rows differs from
            // the best for one with half of the table, and no plan serves both.
            .persistent(false)
            .fetch_all(&mut *conn)
            .await?;
        let size = checked.page_size as usize;
        let more = self.table.paged && rows.len() > size;
        if more {
            rows.truncate(size);
        }
        let total: i64 = match rows.first() {
            Some(row) => row.try_get("list_total")?,
            None if checked.start == Start::Number(1) => 0,
            None => {
                let mut count = statement.count();
                let count = count.build_query_scalar().persistent(false);
                count.fetch_one(conn).await?
            }
        };
        let last = rows.last().filter(|_| more);
        Ok(Page {
            total: u64::try_from(total).unwrap_or_default(),
            next_cursor: last.map(|row| keys.cursor(row)).transpose()?,
            rows: rows.iter().map(T::from_row).collect::<Result<_, _>>()?,
            include: checked.include,
        })
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
