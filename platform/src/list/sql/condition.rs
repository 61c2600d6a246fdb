//! Where a field lies, and what a condition on it is in SQL.

use std::borrow::Cow;

use proto::{common::v1::Operator, lists::Class};
use sqlx::{Postgres, QueryBuilder};

use super::{any_of::AnyOf, search::Words};
use crate::list::{
    check::{Condition, Test},
    fields::Value,
};

type Sql = QueryBuilder<Postgres>;

/// A condition that does not come from the request.
#[derive(Debug, Clone)]
pub(super) enum Restriction {
    Holds {
        condition: &'static str,
        value: Option<Value>,
    },
    AnyOf(AnyOf),
}

impl Restriction {
    pub(super) fn any_of(&self) -> Option<&AnyOf> {
        match self {
            Self::AnyOf(any_of) => Some(any_of),
            Self::Holds { .. } => None,
        }
    }

    pub(super) fn push(sql: &mut Sql, condition: &str, value: Option<&Value>) {
        sql.push("(");
        match value {
            None => {
                sql.push(condition);
            }
            Some(value) => push_bound(sql, condition, value),
        }
        sql.push(")");
    }
}

/// SQL with the value at each `?`.
pub(super) fn push_bound(sql: &mut Sql, text: &str, value: &Value) {
    for (n, part) in text.split('?').enumerate() {
        if n > 0 {
            push_value(sql, value);
        }
        sql.push(part);
    }
}

/// Where a field lies in the tables.
#[derive(Debug, Clone)]
pub(super) enum Target {
    Expression(Cow<'static, str>),
    AnyOf(&'static [&'static str]),
    Array(&'static str),
    Words(Words),
    Flag {
        on: &'static str,
        off: Option<&'static str>,
    },
}

impl Target {
    pub(super) fn push(&self, sql: &mut Sql, Condition { field, test }: &Condition) {
        match (self, test) {
            (Self::Flag { on, .. }, Test::Switched(true)) => {
                sql.push(format_args!("({on})"));
            }
            (Self::Flag { off, .. }, _) => {
                sql.push(format_args!("({})", off.unwrap_or("true")));
            }
            (Self::Expression(expression), test) => push_test(sql, expression, field.class, test),
            (Self::Words(_), _) => unreachable!("a search writes its own condition"),
            (Self::Array(column), test) => push_overlap(sql, column, test),
            (Self::AnyOf(columns), test) => {
                Self::push_any_of(sql, columns, field.class, test);
            }
        }
    }

    /// `nin` means in none of the columns.
    pub(super) fn push_any_of(sql: &mut Sql, columns: &[&str], class: Class, test: &Test) {
        let none = matches!(test, Test::NotIn(_));
        let (start, word) = if none {
            ("(true", " and ")
        } else {
            ("(false", " or ")
        };
        sql.push(start);
        for column in columns {
            sql.push(word);
            push_test(sql, column, class, test);
        }
        sql.push(")");
    }
}

pub(super) fn push_test(sql: &mut Sql, expression: &str, class: Class, test: &Test) {
    let caseless = class == Class::CaselessCode;
    match test {
        Test::Equals(value) if caseless => {
            sql.push(format_args!("lower({expression}) = lower("));
            push_value(sql, value);
            sql.push(")");
        }
        Test::Equals(value) => {
            sql.push(format_args!("{expression} = "));
            push_value(sql, value);
        }
        Test::In(values) => push_in(sql, expression, caseless, values),
        Test::NotIn(values) => {
            sql.push("(");
            push_in(sql, expression, caseless, values);
            sql.push(") is not true");
        }
        Test::Compares(operator, value) => {
            sql.push(format_args!("{expression} {} ", comparison(*operator)));
            push_value(sql, value);
        }
        Test::Matches { pattern, caseless } => {
            let operator = if *caseless { "ilike" } else { "like" };
            sql.push(format_args!("{expression} {operator} "))
                .push_bind(pattern.clone());
        }
        Test::Switched(on) => {
            sql.push(format_args!("({expression}) = ")).push_bind(*on);
        }
        Test::Holds(_) => unreachable!("searches have a target of their own"),
    }
}

fn push_in(sql: &mut Sql, expression: &str, caseless: bool, values: &[Value]) {
    if caseless {
        sql.push(format_args!(
            "lower({expression}) = any(select lower(v) from unnest("
        ));
        push_values(sql, values);
        sql.push("::text[]) as v)");
    } else {
        sql.push(format_args!("{expression} = any("));
        push_values(sql, values);
        sql.push(")");
    }
}

/// A condition on a column of `text[]`, which has its value if one of its elements has.
fn push_overlap(sql: &mut Sql, column: &str, test: &Test) {
    let one;
    let (not, values) = match test {
        Test::In(values) => ("", values.as_slice()),
        Test::NotIn(values) => ("not ", values.as_slice()),
        Test::Equals(value) => {
            one = [value.clone()];
            ("", one.as_slice())
        }
        _ => unreachable!("only codes and enums lie in arrays"),
    };
    sql.push(format_args!("{not}({column} && "));
    push_values(sql, values);
    sql.push(")");
}

const fn comparison(operator: Operator) -> &'static str {
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

/// The values of an `in`, all of one class: ids or text.
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
