//! A [`ListRequest`] held against its resource's [`ListTable`]: unknown names and bad values are
//! refused, with what is allowed; what is left is typed.

use proto::{
    common::v1::{Filter, ListRequest, Operator, Sort},
    lists::{Class, DEFAULT_PAGE_SIZE, Field, ListTable, MAX_PAGE_SIZE, MAX_VALUES},
};

use super::{
    fields::{self, Value, quoted},
    refuse,
};
use crate::error::{Failure, FieldCode};

/// A condition on one field.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// The field.
    pub field: &'static Field,
    /// What it must be.
    pub test: Test,
}

/// What a field must be.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// This value.
    Equals(Value),
    /// One of these.
    In(Vec<Value>),
    /// None of these; a null is none of them.
    NotIn(Vec<Value>),
    /// On this side of a bound: `gte` `lte` `gt` `lt`.
    Compares(Operator, Value),
    /// Like this SQL pattern.
    Matches {
        /// With `%`, `_` and the escape `\`, which is not its last character.
        pattern: String,
        /// Regardless of case.
        caseless: bool,
    },
    /// A flag, on or off.
    Switched(bool),
    /// Holding all these words, the last one as the start of a word.
    Holds(Vec<String>),
}

/// Where a page starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// At this page, from 1.
    Number(u64),
    /// After the row of this cursor.
    After(String),
}

/// A request that its table allows.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// All of them hold.
    pub conditions: Vec<Condition>,
    /// The order, the default one if none was asked for, each with whether it descends.
    pub sort: Vec<(&'static Field, bool)>,
    /// Rows a page.
    pub page_size: u32,
    /// The page.
    pub start: Start,
    /// Relations to embed.
    pub include: Vec<&'static str>,
}

/// Checks a whole request.
pub fn check(table: &ListTable, request: &ListRequest) -> Result<Checked, Failure> {
    let conditions = request
        .filters
        .iter()
        .map(|filter| condition(table, filter));
    let include = includes(table, &request.include)?;
    let page_size = page_size(table, request, &include)?;
    let start = match &request.page_after {
        Some(cursor) => Start::After(cursor.clone()),
        None => Start::Number(request.page_number.unwrap_or(1).max(1)),
    };
    let conditions = conditions.collect::<Result<_, _>>()?;
    Ok(Checked {
        conditions,
        sort: sort(table, &request.sort)?,
        page_size,
        start,
        include,
    })
}

fn page_size(
    table: &ListTable,
    request: &ListRequest,
    include: &[&'static str],
) -> Result<u32, Failure> {
    let size = request.page_size.unwrap_or(DEFAULT_PAGE_SIZE);
    if !(1..=MAX_PAGE_SIZE).contains(&size) {
        let message = format!("must be 1 to {MAX_PAGE_SIZE}");
        return Err(refuse("page[size]", FieldCode::Range, &message));
    }
    let mut included = table
        .includes
        .iter()
        .filter(|known| include.contains(&known.name));
    if let Some(heavy) = included.find(|included| size > included.max_page_size) {
        let message = format!(
            "must be at most {} with `{}`",
            heavy.max_page_size, heavy.name
        );
        return Err(refuse("page[size]", FieldCode::Range, &message));
    }
    Ok(size)
}

/// Checks which relations to embed; for single reads, too.
pub fn includes(table: &ListTable, asked: &[String]) -> Result<Vec<&'static str>, Failure> {
    let known = |name: &String| {
        let mut includes = table.includes.iter();
        includes
            .find(|include| include.name == name)
            .map(|include| include.name)
            .ok_or_else(|| {
                let allowed = table.includes.iter().map(|include| include.name);
                refuse("include", FieldCode::Enum, &unknown(name, allowed))
            })
    };
    asked.iter().map(known).collect()
}

fn sort(table: &ListTable, asked: &[Sort]) -> Result<Vec<(&'static Field, bool)>, Failure> {
    if asked.is_empty() {
        let keys = table.default_sort.iter().map(|key| {
            let field = table
                .field(key.field)
                .expect("the default sort names fields of the table");
            (field, key.descending)
        });
        return Ok(keys.collect());
    }
    let known = |key: &Sort| {
        let field = table
            .field(&key.field)
            .filter(|field| field.sortable)
            .ok_or_else(|| {
                let allowed = table.fields.iter().filter(|field| field.sortable);
                refuse(
                    "sort",
                    FieldCode::Enum,
                    &unknown(&key.field, allowed.map(|field| field.name)),
                )
            })?;
        Ok((field, key.descending))
    };
    asked.iter().map(known).collect()
}

fn condition(table: &ListTable, filter: &Filter) -> Result<Condition, Failure> {
    let name = format!("filter[{}]", filter.field);
    let field = table
        .field(&filter.field)
        .filter(|field| field.filterable)
        .ok_or_else(|| {
            let allowed = table.fields.iter().filter(|field| field.filterable);
            let message = unknown(&filter.field, allowed.map(|field| field.name));
            refuse(&name, FieldCode::UnknownField, &message)
        })?;
    let operators = fields::operators(field.class);
    if !operators.contains(&filter.operator()) {
        let allowed = operators.iter().map(|operator| fields::symbol(*operator));
        let message = unknown(fields::symbol(filter.operator()), allowed);
        return Err(refuse(&name, FieldCode::Enum, &message));
    }
    if filter.values.len() > MAX_VALUES {
        let message = format!("has more than {MAX_VALUES} values");
        return Err(refuse(&name, FieldCode::Length, &message));
    }
    let test = test(field.class, filter.operator(), &filter.values)
        .map_err(|message| refuse(&name, FieldCode::Format, &message))?;
    Ok(Condition { field, test })
}

fn test(class: Class, operator: Operator, values: &[String]) -> Result<Test, String> {
    let all = || -> Result<Vec<_>, String> {
        values
            .iter()
            .map(|value| fields::value(class, value))
            .collect()
    };
    if values.iter().any(|value| value.contains('\0')) {
        return Err("must not hold a NUL".into());
    }
    match operator {
        Operator::In => return Ok(Test::In(all()?)),
        Operator::Nin => return Ok(Test::NotIn(all()?)),
        _ => {}
    }
    let [text] = values else {
        return Err("needs one value".into());
    };
    match (operator, class, fields::value(class, text)?) {
        (Operator::Like, ..) => pattern(text, false),
        (Operator::Ilike, ..) => pattern(text, true),
        (Operator::Eq, Class::Like | Class::ILike, value) if text.is_empty() => {
            Ok(Test::Equals(value))
        }
        (Operator::Eq, Class::Like, _) => pattern(&plain(text), false),
        (Operator::Eq, Class::ILike, _) => pattern(&plain(text), true),
        (Operator::Eq, Class::Search, _) => fields::words(text).map(Test::Holds),
        (Operator::Eq, Class::Flag, Value::Bool(on)) => Ok(Test::Switched(on)),
        (Operator::Eq, _, value) => Ok(Test::Equals(value)),
        (bound, _, value) => Ok(Test::Compares(bound, value)),
    }
}

/// A plain value on a text field: a pattern if it holds `%`, else a literal substring.
fn plain(text: &str) -> String {
    if text.contains('%') {
        return text.to_owned();
    }
    format!("%{}%", text.replace('\\', "\\\\").replace('_', "\\_"))
}

/// Postgres fails on a pattern that ends in its escape character, so it does not get there.
fn pattern(pattern: &str, caseless: bool) -> Result<Test, String> {
    let trailing = pattern
        .bytes()
        .rev()
        .take_while(|byte| *byte == b'\\')
        .count();
    if trailing % 2 == 1 {
        return Err("must not end in a single `\\`, which escapes the next character".into());
    }
    Ok(Test::Matches {
        pattern: pattern.to_owned(),
        caseless,
    })
}

fn unknown<S: AsRef<str>>(name: &str, allowed: impl Iterator<Item = S>) -> String {
    let allowed = quoted(allowed);
    let allowed = if allowed.is_empty() { "none" } else { &allowed };
    format!("`{name}` is not allowed; allowed: {allowed}")
}

#[cfg(test)]
mod tests;
