//! Rows with a value in any of several columns, such as a wallet on either side of a transfer.
//!
//! For `a = x or b = x` Postgres reads either every match, to sort them, or the table in the order
//! of the list until a page is full, and for some x both are long. So the rows are read in parts, a
//! part for each column and value, by an index that begins with the column and goes on with the
//! order of the list, as far as the page goes; then the parts are merged.

use proto::lists::Class;
use sqlx::{Postgres, QueryBuilder};

use super::condition::{Target, push_test};
use crate::list::{check::Test, fields::Value};

/// With more values, a part has them all: it is sorted, but there are not too many parts.
const MOST_APART: usize = 8;

/// A condition that any of these columns has any of these values.
#[derive(Debug, Clone)]
pub(super) struct AnyOf {
    columns: &'static [&'static str],
    class: Class,
    values: Vec<Value>,
}

/// The rows of a column and some values that no part before has.
#[derive(Debug)]
pub(super) struct Part {
    column: &'static str,
    class: Class,
    test: Test,
    before: &'static [&'static str],
    not: Test,
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

    /// How many values there are.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// The condition as a whole.
    pub(super) fn push(&self, sql: &mut QueryBuilder<Postgres>) {
        Target::push_any_of(
            sql,
            self.columns,
            self.class,
            &Test::In(self.values.clone()),
        );
    }

    pub(super) fn into_parts(self) -> Vec<Part> {
        // Two values that differ by case only would have the same rows.
        let apart = self.class != Class::CaselessCode && (1..=MOST_APART).contains(&self.len());
        let tests: Vec<_> = if apart {
            self.values.iter().cloned().map(Test::Equals).collect()
        } else {
            vec![Test::In(self.values.clone())]
        };
        let columns = self.columns.iter().enumerate();
        let part = |at: usize, column: &'static str, test: Test| Part {
            column,
            class: self.class,
            test,
            before: &self.columns[..at],
            not: Test::NotIn(self.values.clone()),
        };
        columns
            .flat_map(|(at, column)| tests.iter().map(move |test| part(at, column, test.clone())))
            .collect()
    }
}

impl Part {
    pub(super) fn push(&self, sql: &mut QueryBuilder<Postgres>) {
        push_test(sql, self.column, self.class, &self.test);
        for column in self.before {
            sql.push(" and ");
            push_test(sql, column, self.class, &self.not);
        }
    }
}
