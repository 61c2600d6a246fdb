//! Compiles a checked request into one statement. Names come from the code, values are bound.

mod any_of;
mod condition;
mod cursor;
mod keys;
mod search;
mod statement;

use std::borrow::Cow;

use proto::{
    common::v1::{ListRequest, PageInfo},
    lists::{Class, Field, ListTable},
};
use sqlx::{FromRow, PgConnection, Row, postgres::PgRow};

use self::{
    any_of::AnyOf,
    condition::{Restriction, Target},
    search::Search,
    statement::Statement,
};
use super::{
    check::{Start, check},
    fields::Value,
};
use crate::error::Failure;

pub use self::search::Words;

/// The primary key, which ends every sort.
#[derive(Debug, Clone, Copy)]
pub enum Key {
    /// A column of UUIDs.
    Id(&'static str),
    /// A column of text, or an expression that is unique.
    Text(&'static str),
}

impl Key {
    const fn expression(self) -> &'static str {
        match self {
            Self::Id(expression) | Self::Text(expression) => expression,
        }
    }

    const fn class(self) -> Class {
        match self {
            Self::Id(_) => Class::Id,
            Self::Text(_) => Class::Code,
        }
    }
}

/// How a resource's list lies in its tables.
#[derive(Debug, Clone)]
pub struct List {
    table: &'static ListTable,
    from: &'static str,
    key: Key,
    select: &'static str,
    targets: Vec<(&'static str, Target)>,
    restrictions: Vec<Restriction>,
}

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
    /// Whether to embed this relation.
    pub fn includes(&self, relation: &str) -> bool {
        self.include.contains(&relation)
    }

    /// The part of the answer that is not rows.
    pub fn info(&self) -> PageInfo {
        let next_cursor = self.next_cursor.clone().unwrap_or_default();
        PageInfo {
            total: self.total,
            next_cursor,
        }
    }
}

impl List {
    /// `from` may hold joins that keep one row a resource. Columns are taken from the table of
    /// `key`: `p.id` makes `createdAt` the column `p.created_at`.
    pub fn new(table: &'static ListTable, from: &'static str, key: Key) -> Self {
        let (targets, restrictions) = (Vec::new(), Vec::new());
        Self {
            table,
            from,
            key,
            select: "*",
            targets,
            restrictions,
        }
    }

    /// The columns of a row; `*` unless said.
    #[must_use]
    pub fn select(mut self, columns: &'static str) -> Self {
        self.select = columns;
        self
    }

    /// A condition on every list.
    #[must_use]
    pub fn only(mut self, condition: &'static str) -> Self {
        self.restrictions.push(Restriction::Holds {
            condition,
            value: None,
        });
        self
    }

    /// A condition on every list where there is a value, which stands at each `?`.
    #[must_use]
    pub fn only_with(mut self, condition: &'static str, value: Option<impl Into<Value>>) -> Self {
        if let Some(value) = value {
            self.restrictions.push(Restriction::Holds {
                condition,
                value: Some(value.into()),
            });
        }
        self
    }

    /// Where there are ids, only what has one of them in any of these columns: see
    /// [`List::any_of`].
    #[must_use]
    pub fn only_any_of(
        mut self,
        columns: &'static [&'static str],
        ids: Option<impl IntoIterator<Item = impl Into<Value>>>,
    ) -> Self {
        if let Some(ids) = ids {
            let any_of = AnyOf::new(columns, Class::Id, ids.into_iter().map(Into::into));
            self.restrictions.push(Restriction::AnyOf(any_of));
        }
        self
    }

    /// The field is this column or expression.
    #[must_use]
    pub fn column(self, field: &'static str, expression: &'static str) -> Self {
        self.target(field, Target::Expression(expression.into()))
    }

    /// The field is in any of these columns, and `nin` means in none. It cannot be sorted by.
    ///
    /// `from` must be one table. Where each column has an index that goes on with the order of the
    /// list, the first page is as near for a value with few rows as for one with many.
    #[must_use]
    pub fn any_of(self, field: &'static str, columns: &'static [&'static str]) -> Self {
        self.target(field, Target::AnyOf(columns))
    }

    /// The field is any element of this column of `text[]`. It cannot be sorted by.
    #[must_use]
    pub fn array(self, field: &'static str, column: &'static str) -> Self {
        self.target(field, Target::Array(column))
    }

    /// A search for words. Without a sort, what matches best comes first.
    #[must_use]
    pub fn words(self, field: &'static str, words: Words) -> Self {
        self.target(field, Target::Words(words))
    }

    /// A flag that adds this condition when it is `true`.
    #[must_use]
    pub fn flag(self, field: &'static str, on: &'static str) -> Self {
        self.target(field, Target::Flag { on, off: None })
    }

    /// A flag that adds one condition when it is `true`, another when it is `false`.
    #[must_use]
    pub fn flag_or(self, field: &'static str, on: &'static str, off: &'static str) -> Self {
        self.target(field, Target::Flag { on, off: Some(off) })
    }

    /// Answers the request. Page, total and cursor come from one statement, so from one snapshot.
    pub async fn fetch<T>(
        &self,
        conn: &mut PgConnection,
        request: &ListRequest,
    ) -> Result<Page<T>, Failure>
    where
        T: for<'r> FromRow<'r, PgRow>,
    {
        let checked = check(self.table, request)?;
        let search = Search::prepare(self, conn, &checked).await?;
        let statement = Statement::new(self, &checked, search, !request.sort.is_empty());
        let keys = statement.keys();
        let mut rows = statement
            .page(&keys)?
            .build()
            // Planned for its values each time: what is best for a wallet with ten rows is not for
            // one with half of the table, and no plan serves both.
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

    fn target(mut self, field: &'static str, target: Target) -> Self {
        self.targets.push((field, target));
        self
    }

    fn target_of(&self, field: &Field) -> Target {
        let bound = self.targets.iter().find(|(name, _)| *name == field.name);
        bound.map_or_else(
            || Target::Expression(self.default_column(field.name).into()),
            |(_, target)| target.clone(),
        )
    }

    /// The expression a field sorts by.
    fn expression(&self, field: &Field) -> Cow<'static, str> {
        match self.target_of(field) {
            Target::Expression(expression) => expression,
            _ => self.default_column(field.name).into(),
        }
    }

    /// The name that columns are taken from; empty where there is none.
    fn alias(&self) -> &'static str {
        let key = self.key.expression().rsplit_once('.');
        key.map_or("", |(table, _)| table)
    }

    fn default_column(&self, field: &str) -> String {
        let mut column = match self.alias() {
            "" => String::new(),
            table => format!("{table}."),
        };
        for letter in field.chars() {
            if letter.is_ascii_uppercase() {
                column.push('_');
            }
            column.push(letter.to_ascii_lowercase());
        }
        column
    }
}

#[cfg(test)]
mod tests;
