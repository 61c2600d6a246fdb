//! Conditions in SQL.

use chrono::TimeDelta;
use proto::{common::v1::Operator, lists::Class};
use sqlx::{Postgres, QueryBuilder};

use super::any_of::AnyOf;
use crate::{
    ids::first_id_of,
    list::{
        check::{Comparison, Membership},
        fields::Value,
    },
};

type Sql = QueryBuilder<Postgres>;

/// A condition on every list, which does not come from the request.
#[derive(Debug, Clone)]
pub(super) enum BaseFilter {
    Condition {
        sql: &'static str,
        value: Option<Value>,
    },
    AnyOf(AnyOf),
}

/// Where a field of ids, codes or enums lies, if not in one column.
#[derive(Debug, Clone)]
pub(super) enum FieldMapping {
    AnyOf(&'static [&'static str]),
    Array(&'static str),
    /// An expression with the value at each `?`.
    With(&'static str, Value),
}

impl FieldMapping {
    pub(super) fn push(&self, sql: &mut Sql, class: Class, membership: &Membership) {
        match self {
            Self::AnyOf(columns) => push_any_of(sql, columns, class, membership),
            Self::Array(column) => push_overlap(sql, column, membership),
            Self::With(expression, value) => push_with(sql, expression, value, membership),
        }
    }
}

/// Pushes SQL with the value at each `?`.
///
/// ```sql
/// (t.owner_id = $1 or t.creator_id = $2)
/// ```
pub(super) fn push_base_filter(sql: &mut Sql, condition: &str, value: Option<&Value>) {
    sql.push("(");
    match value {
        None => {
            sql.push(condition);
        }
        Some(value) => {
            for (n, part) in condition.split('?').enumerate() {
                if n > 0 {
                    push_value(sql, value);
                }
                sql.push(part);
            }
        }
    }
    sql.push(")");
}

/// Pushes a condition on a column of one value. Codes regardless of case compare in lower case.
///
/// ```sql
/// t.id = $1
/// t.id = any($1)
/// (t.id = any($1)) is not true
/// lower(t.code) = any(select lower(v) from unnest($1::text[]) as v)
/// ```
pub(super) fn push_membership(sql: &mut Sql, column: &str, class: Class, membership: &Membership) {
    let ignore_case = class == Class::CaselessCode;
    match membership {
        Membership::Equals(value) if ignore_case => {
            sql.push(format_args!("lower({column}) = lower("));
            push_value(sql, value);
            sql.push(")");
        }
        Membership::Equals(value) => {
            sql.push(format_args!("{column} = "));
            push_value(sql, value);
        }
        Membership::In(values) => push_in(sql, column, ignore_case, values),
        Membership::NotIn(values) => {
            sql.push("(");
            push_in(sql, column, ignore_case, values);
            sql.push(") is not true");
        }
    }
}

fn push_in(sql: &mut Sql, column: &str, ignore_case: bool, values: &[Value]) {
    if ignore_case {
        sql.push(format_args!(
            "lower({column}) = any(select lower(v) from unnest("
        ));
        push_values(sql, values);
        sql.push("::text[]) as v)");
    } else {
        sql.push(format_args!("{column} = any("));
        push_values(sql, values);
        sql.push(")");
    }
}

/// Pushes a condition that any of these columns meets; for `nin`, all of them.
///
/// ```sql
/// (false or t.origin_id = $1 or t.target_id = $2)
/// (true and (t.origin_id = any($1)) is not true and (t.target_id = any($2)) is not true)
/// ```
pub(super) fn push_any_of(sql: &mut Sql, columns: &[&str], class: Class, membership: &Membership) {
    let (start, word) = match membership {
        Membership::NotIn(_) => ("(true", " and "),
        Membership::Equals(_) | Membership::In(_) => ("(false", " or "),
    };
    sql.push(start);
    for column in columns {
        sql.push(word);
        push_membership(sql, column, class, membership);
    }
    sql.push(")");
}

/// Pushes a condition on a column of `text[]`, which any of its elements meets.
///
/// ```sql
/// (u.roles && $1)
/// not (u.roles && $1)
/// ```
fn push_overlap(sql: &mut Sql, column: &str, membership: &Membership) {
    let (not, values) = polarity(membership);
    sql.push(format_args!("{not}({column} && "));
    push_values(sql, values);
    sql.push(")");
}

/// Pushes a condition on an expression with a value in it, which is never null.
///
/// ```sql
/// (case when t.expired_at <= $1 then 'expired' else t.state end) = any($2)
/// not (case when t.expired_at <= $1 then 'expired' else t.state end) = any($2)
/// ```
fn push_with(sql: &mut Sql, expression: &str, value: &Value, membership: &Membership) {
    let (not, values) = polarity(membership);
    sql.push(not);
    push_base_filter(sql, expression, Some(value));
    sql.push(" = any(");
    push_values(sql, values);
    sql.push(")");
}

/// Returns `not ` and the values that are excluded, or nothing and the values that are wanted.
fn polarity(membership: &Membership) -> (&'static str, &[Value]) {
    match membership {
        Membership::Equals(value) => ("", std::slice::from_ref(value)),
        Membership::In(values) => ("", values.as_slice()),
        Membership::NotIn(values) => ("not ", values.as_slice()),
    }
}

/// Pushes a comparison of a column or expression.
///
/// ```sql
/// t.amount >= $1
/// t.name ilike $1
/// ```
pub(super) fn push_comparison(sql: &mut Sql, expression: &str, comparison: &Comparison) {
    match comparison {
        Comparison::Equals(value) => {
            sql.push(format_args!("{expression} = "));
            push_value(sql, value);
        }
        Comparison::Bound(operator, value) => {
            sql.push(format_args!("{expression} {} ", symbol(*operator)));
            push_value(sql, value);
        }
        Comparison::Matches {
            pattern,
            ignore_case,
        } => {
            let operator = if *ignore_case { "ilike" } else { "like" };
            sql.push(format_args!("{expression} {operator} "))
                .push_bind(pattern.clone());
        }
    }
}

/// Pushes the bounds that a comparison of a time sets to ids of that time, for which there is an index.
///
/// ```sql
///  and t.id >= $1
///  and t.id >= $1 and t.id < $2
/// ```
pub(super) fn push_id_bounds(sql: &mut Sql, id: &str, comparison: &Comparison) {
    let (time, is_lower, is_upper) = match comparison {
        Comparison::Equals(Value::Time(time)) => (time, true, true),
        Comparison::Bound(operator, Value::Time(time)) => {
            let is_lower = matches!(operator, Operator::Gte | Operator::Gt);
            (time, is_lower, !is_lower)
        }
        _ => return,
    };
    if is_lower {
        sql.push(format_args!(" and {id} >= "))
            .push_bind(first_id_of(*time));
    }
    if is_upper {
        let next = time.checked_add_signed(TimeDelta::milliseconds(1));
        sql.push(format_args!(" and {id} < "))
            .push_bind(first_id_of(next.unwrap_or(*time)));
    }
}

const fn symbol(operator: Operator) -> &'static str {
    match operator {
        Operator::Gte => ">=",
        Operator::Lte => "<=",
        Operator::Gt => ">",
        Operator::Lt => "<",
        _ => "=",
    }
}

pub(super) fn push_value(sql: &mut Sql, value: &Value) {
    match value {
        Value::Text(text) => sql.push_bind(text.clone()),
        Value::Id(id) => sql.push_bind(*id),
        Value::Bool(on) => sql.push_bind(*on),
        Value::Number(number) => sql.push_bind(number.clone()).push("::numeric"),
        Value::Money(amount) => sql.push_bind(*amount),
        Value::Time(time) => sql.push_bind(*time),
    };
}

/// Pushes the values of an `in`, all of one class: ids or text.
fn push_values(sql: &mut Sql, values: &[Value]) {
    let ids = values.iter().map(|value| match value {
        Value::Id(id) => Some(*id),
        _ => None,
    });
    if let Some(ids) = ids
        .collect::<Option<Vec<_>>>()
        .filter(|ids| !ids.is_empty())
    {
        sql.push_bind(ids);
        return;
    }
    let texts = values.iter().filter_map(|value| match value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    });
    let texts: Vec<_> = texts.collect();
    // An empty list has no class, and `'{}'` takes that of the other side.
    if texts.is_empty() {
        sql.push("'{}'");
    } else {
        sql.push_bind(texts);
    }
}
