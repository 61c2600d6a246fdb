//! The hook for a search: how a service finds the rows that match a text.

use std::fmt;

use sqlx::{Postgres, QueryBuilder};

use super::{keys::Keys, statement::Statement};
use crate::error::Failure;

/// A statement that is being written: text with bound values.
pub type Sql = QueryBuilder<Postgres>;

/// A search for the text of one request. See [`List::search`](super::List::search).
///
/// A request with a sort gets the rows that meet the search's condition, in that order. Without one
/// the search itself finds the rows of the page, tier by tier: a row's tier is the first key of the
/// order, and its number is in `found.tier`.
///
/// ```sql
/// with …                                    -- push_tiers
/// select p.id, (select count(*) from products p where true and …) as list_total, …
/// from products p join (…) as found on …    -- push_join: id and tier of the rows found
/// order by found.tier, p.created_at desc, p.id desc
/// limit $1 offset $2
/// ```
pub trait Search: fmt::Debug + Send + Sync {
    /// Pushes the condition that a row matches.
    fn push_condition(&self, sql: &mut Sql);

    /// Pushes `with …`, which finds the rows up to the end of the page.
    fn push_tiers(&self, sql: &mut Sql, page: &SearchPage<'_>) -> Result<(), Failure>;

    /// Pushes ` join (…) as found …`, which keeps the rows found and says their tier.
    fn push_join(&self, sql: &mut Sql);
}

/// The number of a row's tier, as the statement of a page knows it.
pub(super) const TIER: &str = "found.tier";

/// The page that a search finds the rows of.
pub struct SearchPage<'a> {
    statement: &'a Statement<'a>,
}

/// The rows of one tier of the page.
pub struct TierPage<'a> {
    statement: &'a Statement<'a>,
    keys: Keys,
}

impl<'a> SearchPage<'a> {
    pub(super) const fn new(statement: &'a Statement<'a>) -> Self {
        Self { statement }
    }

    /// Returns the rows of the tier with this number.
    pub fn tier(&self, tier: &str) -> TierPage<'a> {
        let statement = self.statement;
        let keys = Keys::new(statement.list, Some(tier), &statement.checked.sort);
        TierPage { statement, keys }
    }

    /// Returns the number of rows up to the end of the page, and one more.
    pub fn limit_with_lookahead(&self) -> i64 {
        self.statement.limit_with_lookahead()
    }
}

impl TierPage<'_> {
    /// Pushes the primary key and the sort keys: `p.id as id, p.created_at as key_0, p.id as key_1`.
    pub fn push_keys(&self, sql: &mut Sql) {
        let key = self.statement.list.key.expression();
        sql.push(format_args!("{key} as id"));
        for (n, (expression, _)) in self.keys.within_tier().enumerate() {
            sql.push(format_args!(", {expression} as key_{n}"));
        }
    }

    /// Pushes ` and …`: all conditions but the search's, and that a row comes after the cursor.
    pub fn push_conditions(&self, sql: &mut Sql) -> Result<(), Failure> {
        self.statement.push_conditions(sql);
        self.statement.push_after(sql, &self.keys)
    }

    /// Pushes ` order by p.created_at desc, p.id desc`.
    pub fn push_order(&self, sql: &mut Sql) {
        self.push_order_by(sql, |_, expression| expression.to_owned());
    }

    /// Pushes ` order by key_0 desc, key_1 desc`, the same order by the names of the keys.
    pub fn push_order_by_keys(&self, sql: &mut Sql) {
        self.push_order_by(sql, |n, _| format!("key_{n}"));
    }

    fn push_order_by(&self, sql: &mut Sql, name: impl Fn(usize, &str) -> String) {
        sql.push(" order by ");
        for (n, (expression, descending)) in self.keys.within_tier().enumerate() {
            sql.push(if n > 0 { ", " } else { "" });
            sql.push(name(n, expression));
            sql.push(if descending { " desc" } else { "" });
        }
    }
}
