//! What is counted, and what tells one count from another.

use chrono::{DateTime, Utc};
use tokio::time::Instant;

use super::{
    condition::{BaseFilter, FieldMapping},
    statement::Statement,
};
use crate::list::{
    check::{Comparison, Membership, Predicate},
    fields::Value,
};

/// How many rows of a list were added before a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) rows: i64,
    pub(super) before: DateTime<Utc>,
    /// When the first of them were counted.
    pub(super) began: Instant,
    /// When the last of them were counted.
    pub(super) ended: Instant,
}

/// What a statement counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counting {
    /// The rows that are counted already.
    pub(super) known: Option<Counted>,
    /// Leaves out the rows that were added at this time or later.
    pub(super) before: Option<DateTime<Utc>>,
}

impl Counting {
    /// Counts all rows.
    pub(super) const ALL: Self = Self {
        known: None,
        before: None,
    };
}

impl From<Option<Counted>> for Counting {
    fn from(known: Option<Counted>) -> Self {
        Self { known, ..Self::ALL }
    }
}

/// Names the count of all rows of a list with some filters: its statement and the values in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct CountKey {
    sql: String,
    /// The values of each condition: two lists of values are not one.
    values: Vec<Vec<Value>>,
}

impl Statement<'_> {
    /// Returns the key of the count of all rows.
    pub(super) fn count_key(&self) -> CountKey {
        let filters = self.list.base_filters.iter().map(of_base_filter);
        let mappings = self.list.mappings.iter();
        let mappings = mappings.map(|(_, mapping)| of_mapping(mapping));
        let conditions = self.checked.conditions.iter();
        let conditions = conditions.map(|condition| of_predicate(&condition.predicate));
        CountKey {
            sql: self.count(Counting::ALL).into_string(),
            values: filters.chain(mappings).chain(conditions).collect(),
        }
    }
}

fn of_base_filter(filter: &BaseFilter) -> Vec<Value> {
    match filter {
        BaseFilter::Condition { value, .. } => value.iter().cloned().collect(),
        BaseFilter::AnyOf(any_of) => any_of.values().to_vec(),
    }
}

fn of_mapping(mapping: &FieldMapping) -> Vec<Value> {
    match mapping {
        FieldMapping::With(_, value) => vec![value.clone()],
        FieldMapping::AnyOf(_) | FieldMapping::Array(_) => Vec::new(),
    }
}

fn of_predicate(predicate: &Predicate) -> Vec<Value> {
    match predicate {
        Predicate::Member(Membership::In(values) | Membership::NotIn(values)) => values.clone(),
        Predicate::Member(Membership::Equals(value))
        | Predicate::Scalar(Comparison::Equals(value) | Comparison::Bound(_, value)) => {
            vec![value.clone()]
        }
        Predicate::Scalar(Comparison::Matches { pattern, .. }) => {
            vec![Value::Text(pattern.clone())]
        }
        Predicate::Flag(on) => vec![Value::Bool(*on)],
    }
}
