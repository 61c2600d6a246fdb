//! Rows with a value in any of several columns, such as a wallet on either side of a transfer.
//!
//! For `a = x or b = x` Postgres reads either every match, to sort them, or the table in the order
//! of the list until a page is full, and for some x both are long. So the rows are read in branches,
//! one for each column and value, by an index that begins with the column and goes on with the order
//! of the list, up to the end of the page; then the branches are merged.

use proto::lists::Class;
use sqlx::{Postgres, QueryBuilder};

use super::condition::{push_any_of, push_membership};
use crate::list::{check::Membership, fields::Value};

/// With more values than these, a branch has them all: it is sorted, but there are fewer branches.
const MAX_SEPARATE_VALUES: usize = 8;

/// A condition that any of these columns has any of these values.
#[derive(Debug, Clone)]
pub(super) struct AnyOf {
    columns: &'static [&'static str],
    class: Class,
    values: Vec<Value>,
}

/// The rows with some values in a column that no branch before has.
#[derive(Debug)]
pub(super) struct Branch {
    column: &'static str,
    class: Class,
    matches: Membership,
    columns_before: &'static [&'static str],
    excludes: Membership,
}

impl AnyOf {
    pub(super) fn new(
        columns: &'static [&'static str],
        class: Class,
        given: impl IntoIterator<Item = Value>,
    ) -> Self {
        let mut values = Vec::new();
        for value in given {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        Self {
            columns,
            class,
            values,
        }
    }

    /// Returns the values.
    pub(super) fn values(&self) -> &[Value] {
        &self.values
    }

    /// Returns the number of values.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// Pushes the condition as a whole.
    pub(super) fn push(&self, sql: &mut QueryBuilder<Postgres>) {
        let values = Membership::In(self.values.clone());
        push_any_of(sql, self.columns, self.class, &values);
    }

    pub(super) fn into_branches(self) -> Vec<Branch> {
        // Two values that differ by case only would have the same rows.
        let separate =
            self.class != Class::CaselessCode && (1..=MAX_SEPARATE_VALUES).contains(&self.len());
        let matches: Vec<_> = if separate {
            self.values
                .iter()
                .cloned()
                .map(Membership::Equals)
                .collect()
        } else {
            vec![Membership::In(self.values.clone())]
        };
        let columns = self.columns.iter().enumerate();
        let branch = |at: usize, column: &'static str, matches: Membership| Branch {
            column,
            class: self.class,
            matches,
            columns_before: &self.columns[..at],
            excludes: Membership::NotIn(self.values.clone()),
        };
        columns
            .flat_map(|(at, column)| {
                matches
                    .iter()
                    .map(move |one| branch(at, column, one.clone()))
            })
            .collect()
    }
}

impl Branch {
    /// Pushes the condition of the branch, here of the second of two columns.
    ///
    /// ```sql
    /// t.target_id = $1 and (t.origin_id = any($2)) is not true
    /// ```
    pub(super) fn push(&self, sql: &mut QueryBuilder<Postgres>) {
        push_membership(sql, self.column, self.class, &self.matches);
        for column in self.columns_before {
            sql.push(" and ");
            push_membership(sql, column, self.class, &self.excludes);
        }
    }
}
