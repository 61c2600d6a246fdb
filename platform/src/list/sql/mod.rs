//! Compiles a checked request into one statement. Names come from the code, values are bound.

mod any_of;
mod condition;
mod counting;
mod cursor;
mod fetch;
mod keys;
mod page;
mod search;
mod statement;
mod totals;

use std::borrow::Cow;

use proto::lists::{Class, Field, ListTable};

use self::{
    any_of::AnyOf,
    condition::{BaseFilter, FieldMapping, push_comparison, push_id_bounds, push_membership},
    totals::AppendOnly,
};
use super::{
    check::{Condition, Membership, Predicate},
    fields::Value,
};

pub use self::{
    page::{MAX_PAGE_BYTES, Page},
    search::{Search, SearchPage, Sql, TierPage},
    totals::Totals,
};

/// The primary key, which ends every sort.
#[derive(Debug, Clone, Copy)]
pub enum Key {
    /// A column of UUIDs.
    Id(&'static str),
    /// A column of UUIDs of version 7 (RFC 9562) with the time of `createdAt`: a list by `createdAt` is read in
    /// the order of ids, and needs no index on the time.
    TimeOrderedId(&'static str),
    /// A column of text, or an expression that is unique.
    Text(&'static str),
}

impl Key {
    const fn expression(self) -> &'static str {
        match self {
            Self::Id(expression) | Self::TimeOrderedId(expression) | Self::Text(expression) => {
                expression
            }
        }
    }

    const fn class(self) -> Class {
        match self {
            Self::Id(_) | Self::TimeOrderedId(_) => Class::Id,
            Self::Text(_) => Class::Code,
        }
    }

    /// Returns whether rows have the same order by this field as by the key.
    fn orders_like(self, field: &Field) -> bool {
        matches!(self, Self::TimeOrderedId(_)) && field.name == "createdAt"
    }
}

/// Maps a resource's list to its tables.
#[derive(Debug)]
pub struct List {
    table: &'static ListTable,
    from: &'static str,
    key: Key,
    select: &'static str,
    base_filters: Vec<BaseFilter>,
    columns: Vec<(&'static str, &'static str)>,
    mappings: Vec<(&'static str, FieldMapping)>,
    flags: Vec<(&'static str, &'static str)>,
    search: Option<Box<dyn Search>>,
    append_only: Option<AppendOnly>,
}

impl List {
    /// Maps `table` to the rows of `from`, which may hold joins that keep one row a resource.
    /// Columns are taken from the table of `key`: `p.id` makes `createdAt` the column `p.created_at`.
    ///
    /// ```sql
    /// select * from catalog.products p where true order by p.rank, p.id limit $1 offset $2
    /// ```
    pub fn new(table: &'static ListTable, from: &'static str, key: Key) -> Self {
        Self {
            table,
            from,
            key,
            select: "*",
            base_filters: Vec::new(),
            columns: Vec::new(),
            mappings: Vec::new(),
            flags: Vec::new(),
            search: None,
            append_only: None,
        }
    }

    /// Sets the columns of a row, `*` by default: `.select("p.id, p.name")`.
    ///
    /// ```sql
    /// select p.id, p.name, … from catalog.products p where true …
    /// ```
    #[must_use]
    pub fn select(mut self, columns: &'static str) -> Self {
        self.select = columns;
        self
    }

    /// Adds a condition to every list: `.only("p.deleted_at is null")`.
    ///
    /// ```sql
    /// … where true and (p.deleted_at is null) …
    /// ```
    #[must_use]
    pub fn only(mut self, condition: &'static str) -> Self {
        self.base_filters.push(BaseFilter::Condition {
            sql: condition,
            value: None,
        });
        self
    }

    /// Adds a condition with the value at each `?`, if there is a value:
    /// `.only_with("o.user_id = ?", owner)`.
    ///
    /// ```sql
    /// … where true and (o.user_id = $1) …
    /// ```
    #[must_use]
    pub fn only_with(mut self, condition: &'static str, value: Option<impl Into<Value>>) -> Self {
        if let Some(value) = value {
            self.base_filters.push(BaseFilter::Condition {
                sql: condition,
                value: Some(value.into()),
            });
        }
        self
    }

    /// Keeps the rows with one of these ids in any of these columns, if there are ids. The SQL is
    /// that of [`List::any_of`].
    #[must_use]
    pub fn only_any_of(
        mut self,
        columns: &'static [&'static str],
        ids: Option<impl IntoIterator<Item = impl Into<Value>>>,
    ) -> Self {
        if let Some(ids) = ids {
            let any_of = AnyOf::new(columns, Class::Id, ids.into_iter().map(Into::into));
            self.base_filters.push(BaseFilter::AnyOf(any_of));
        }
        self
    }

    /// Maps a field to a column or expression:
    /// `.column("unpaidAmount", "o.amount - o.paid_amount")`.
    ///
    /// ```sql
    /// … where true and o.amount - o.paid_amount >= $1 … order by o.amount - o.paid_amount, o.id …
    /// ```
    #[must_use]
    pub fn column(mut self, field: &'static str, expression: &'static str) -> Self {
        self.columns.push((field, expression));
        self
    }

    /// Maps a field of ids, codes or enums to several columns, of which any has its value; `nin`
    /// means none has. `.any_of("walletId", &["t.origin_id", "t.target_id"])`. It cannot be sorted by.
    ///
    /// `from` must be one table. Where each column has an index that goes on with the order of the
    /// list, the first page costs the same for a value with few rows as for one with many.
    ///
    /// ```sql
    /// … from ((select * from wallet.transactions t where true and t.origin_id = $1
    ///          order by t.created_at desc, t.id desc limit $2)
    ///         union all
    ///         (select * from wallet.transactions t
    ///          where true and t.target_id = $3 and (t.origin_id = any($4)) is not true
    ///          order by t.created_at desc, t.id desc limit $5)) t
    /// order by t.created_at desc, t.id desc …
    /// ```
    #[must_use]
    pub fn any_of(mut self, field: &'static str, columns: &'static [&'static str]) -> Self {
        self.mappings.push((field, FieldMapping::AnyOf(columns)));
        self
    }

    /// Maps a field of codes or enums to a column of `text[]`, of which any element has its value:
    /// `.array("role", "u.roles")`. It cannot be sorted by.
    ///
    /// ```sql
    /// … where true and (u.roles && $1) …
    /// ```
    #[must_use]
    pub fn array(mut self, field: &'static str, column: &'static str) -> Self {
        self.mappings.push((field, FieldMapping::Array(column)));
        self
    }

    /// Maps a field of codes or enums to an expression with the value at each `?`, never null:
    /// `.column_with("status", "case when t.expired_at <= ? then 'expired' else t.state end", now)`.
    /// It cannot be sorted by.
    ///
    /// ```sql
    /// … where true and (case when t.expired_at <= $1 then 'expired' else t.state end) = any($2) …
    /// ```
    #[must_use]
    pub fn column_with(
        mut self,
        field: &'static str,
        expression: &'static str,
        value: impl Into<Value>,
    ) -> Self {
        let mapping = FieldMapping::With(expression, value.into());
        self.mappings.push((field, mapping));
        self
    }

    /// Maps a flag to the condition that it adds when it is `true`:
    /// `.flag("hideDrafts", "o.order_status <> 'draft'")`.
    ///
    /// ```sql
    /// … where true and (o.order_status <> 'draft') …
    /// ```
    #[must_use]
    pub fn flag(mut self, field: &'static str, condition: &'static str) -> Self {
        self.flags.push((field, condition));
        self
    }

    /// Sets the search for the text in [`Checked::search`](super::check::Checked::search), which the
    /// service prepared; `None` if the request has no such text. [`Search`] shows its SQL.
    #[must_use]
    pub fn search(mut self, search: Option<impl Search + 'static>) -> Self {
        self.search = search.map(|search| Box::new(search) as Box<dyn Search>);
        self
    }

    /// Pushes a condition of the request. A flag without a mapping is a column of booleans.
    fn push_condition(&self, sql: &mut Sql, Condition { field, predicate }: &Condition) {
        let column = self.expression(field);
        match predicate {
            Predicate::Member(membership) => match mapped(&self.mappings, field) {
                Some(mapping) => mapping.push(sql, field.class, membership),
                None => push_membership(sql, &column, field.class, membership),
            },
            Predicate::Scalar(comparison) => {
                push_comparison(sql, &column, comparison);
                if self.key.orders_like(field) {
                    push_id_bounds(sql, self.key.expression(), comparison);
                }
            }
            Predicate::Flag(on) => match mapped(&self.flags, field) {
                Some(condition) => {
                    let condition = if *on { *condition } else { "true" };
                    sql.push(format_args!("({condition})"));
                }
                None => {
                    sql.push(format_args!("({column}) = ")).push_bind(*on);
                }
            },
        }
    }

    /// Returns the condition as one that branches can be made of: on several columns, and not that
    /// none of them has the values.
    fn any_of_condition(&self, condition: &Condition) -> Option<AnyOf> {
        let Some(FieldMapping::AnyOf(columns)) = mapped(&self.mappings, condition.field) else {
            return None;
        };
        let values = match &condition.predicate {
            Predicate::Member(Membership::Equals(value)) => vec![value.clone()],
            Predicate::Member(Membership::In(values)) => values.clone(),
            _ => return None,
        };
        Some(AnyOf::new(columns, condition.field.class, values))
    }

    /// Returns the column or expression of a field.
    fn expression(&self, field: &Field) -> Cow<'static, str> {
        mapped(&self.columns, field).map_or_else(
            || self.default_column(field.name).into(),
            |column| Cow::Borrowed(*column),
        )
    }

    /// Returns the name that columns are taken from; empty where there is none.
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

fn mapped<'m, T>(mappings: &'m [(&'static str, T)], field: &Field) -> Option<&'m T> {
    let mut mappings = mappings.iter();
    mappings
        .find(|(name, _)| *name == field.name)
        .map(|(_, mapping)| mapping)
}

#[cfg(test)]
mod tests;
