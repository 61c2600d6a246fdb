//! Queries on orders, lines, payments, refunds and claims. They run in the caller's transaction.

pub(crate) mod claims;
pub(crate) mod history;
pub(crate) mod lines;
pub(crate) mod orders;
pub(crate) mod payments;
pub(crate) mod refunds;
pub(crate) mod transactions;

/// Collects a value of each row: a column for `unnest`.
fn column<R: Copy, T>(rows: &[R], value: impl Fn(R) -> T) -> Vec<T> {
    rows.iter().map(|row| value(*row)).collect()
}
