//! Reads a page: page, total and cursor come from one statement, so from one snapshot.

use std::time::Duration;

use futures::TryStreamExt as _;
use proto::common::v1::ListRequest;
use sqlx::{FromRow, PgConnection, Row, ValueRef as _, postgres::PgRow};

use super::{
    List, Search, Sql,
    counting::Counting,
    page::{Cursors, MAX_PAGE_BYTES, Page},
    statement::Statement,
};
use crate::{
    error::{Code, Failure},
    list::check::{Checked, Start, check},
    pg,
};

/// How long a statement of a list may run: a list that takes longer lacks an index, and holds one of the
/// process's few connections.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(1);

/// Bytes of the columns read for a page. More than the rows have once encoded: numbers are longer in a
/// column, and a column need not be shown.
const MAX_READ_BYTES: usize = 2 * MAX_PAGE_BYTES;

impl List {
    /// Reads the page that the request asks for, up to twice [`MAX_PAGE_BYTES`]; [`Page::encode`] ends it
    /// exactly. A list that takes longer than a second is `timeout`, unless it has
    /// [`Totals`](super::Totals) and is shorter once its old rows are counted.
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
        let Some(count) = self.count_of(&statement) else {
            return self.fetch_page(conn, &statement, Counting::ALL).await;
        };
        let known = count.known();
        match self.fetch_page(conn, &statement, known.into()).await {
            Ok(page) => {
                count.go_on_after(conn, known, page.total).await;
                Ok(page)
            }
            Err(failure) if failure.code == Code::Timeout => {
                if !count.wait_for_newer(conn, known).await {
                    return Err(failure);
                }
                let known = count.known().into();
                self.fetch_page(conn, &statement, known).await
            }
            Err(failure) => Err(failure),
        }
    }

    async fn fetch_page<T>(
        &self,
        conn: &mut PgConnection,
        statement: &Statement<'_>,
        counting: Counting,
    ) -> Result<Page<T>, Failure>
    where
        T: for<'r> FromRow<'r, PgRow>,
    {
        let checked = statement.checked;
        // Dropped, not committed: the rollback is sent with the next statement of the connection.
        let mut tx = pg::read_only_within(STATEMENT_TIMEOUT, conn).await?;
        let read = self.read(&mut tx, statement, counting).await?;
        let total = match read.total {
            Some(total) => total,
            None if checked.start == Start::Number(1) => 0,
            None => {
                let mut count = statement.count(counting);
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
            include: checked.include.clone(),
            cursors: read.cursors,
        })
    }

    async fn read<T>(
        &self,
        conn: &mut PgConnection,
        statement: &Statement<'_>,
        counting: Counting,
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
        let size = statement.checked.page_size as usize;
        let mut bytes = 0_usize;
        let mut sql = statement.page(&keys, counting)?;
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
        statement.page(&statement.keys(), Counting::ALL)
    }

    pub(super) fn statement<'a>(
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
