//! Checks a [`ListRequest`] against its resource's [`ListTable`]: refuses unknown names and bad
//! values with what is allowed, and types the rest.

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
    /// The condition on its value.
    pub predicate: Predicate,
}

/// A condition on a value, in the kinds that the [`Class`] of a field leads to.
#[derive(Debug, Clone, PartialEq)]
pub enum Predicate {
    /// On an id, a code or an enum.
    Member(Membership),
    /// On a boolean, number, amount, time or text.
    Scalar(Comparison),
    /// A flag, on or off.
    Flag(bool),
}

/// Whether a value is among others.
#[derive(Debug, Clone, PartialEq)]
pub enum Membership {
    /// This value.
    Equals(Value),
    /// One of these.
    In(Vec<Value>),
    /// None of these; a null is none of them.
    NotIn(Vec<Value>),
}

/// How a value compares with another.
#[derive(Debug, Clone, PartialEq)]
pub enum Comparison {
    /// This value.
    Equals(Value),
    /// On this side of a bound: `gte` `lte` `gt` `lt`.
    Bound(Operator, Value),
    /// Like this SQL pattern.
    Matches {
        /// With `%`, `_` and the escape `\`, which is not its last character.
        pattern: String,
        /// Regardless of case.
        ignore_case: bool,
    },
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
    /// The text of a filter of [`Class::Search`], which the list's search reads.
    pub search: Option<String>,
    /// The order, the default one if the request has none, each with whether it descends.
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
    let include = includes(table, &request.include)?;
    let page_size = page_size(table, request, &include)?;
    let start = match &request.page_after {
        Some(cursor) => Start::After(cursor.clone()),
        None => Start::Number(request.page_number.unwrap_or(1).max(1)),
    };
    let mut conditions = Vec::new();
    let mut search = None;
    for filter in &request.filters {
        let name = format!("filter[{}]", filter.field);
        let field = filtered_field(table, filter, &name)?;
        let invalid = |message: String| refuse(&name, FieldCode::Format, &message);
        if field.class == Class::Search {
            let text = single(&filter.values).map_err(invalid)?;
            search.get_or_insert_with(|| text.to_owned());
        } else {
            let predicate = predicate(field.class, filter.operator(), &filter.values);
            let predicate = predicate.map_err(invalid)?;
            conditions.push(Condition { field, predicate });
        }
    }
    Ok(Checked {
        conditions,
        search,
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
pub fn includes(table: &ListTable, names: &[String]) -> Result<Vec<&'static str>, Failure> {
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
    names.iter().map(known).collect()
}

fn sort(table: &ListTable, keys: &[Sort]) -> Result<Vec<(&'static Field, bool)>, Failure> {
    if keys.is_empty() {
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
    keys.iter().map(known).collect()
}

/// Finds the field of a filter, whose operator and number of values it allows.
fn filtered_field(
    table: &ListTable,
    filter: &Filter,
    name: &str,
) -> Result<&'static Field, Failure> {
    let field = table
        .field(&filter.field)
        .filter(|field| field.filterable)
        .ok_or_else(|| {
            let allowed = table.fields.iter().filter(|field| field.filterable);
            let message = unknown(&filter.field, allowed.map(|field| field.name));
            refuse(name, FieldCode::UnknownField, &message)
        })?;
    let operators = fields::operators(field.class);
    if !operators.contains(&filter.operator()) {
        let allowed = operators.iter().map(|operator| fields::symbol(*operator));
        let message = unknown(fields::symbol(filter.operator()), allowed);
        return Err(refuse(name, FieldCode::Enum, &message));
    }
    if filter.values.len() > MAX_VALUES {
        let message = format!("has more than {MAX_VALUES} values");
        return Err(refuse(name, FieldCode::Length, &message));
    }
    if filter.values.iter().any(|value| value.contains('\0')) {
        return Err(refuse(name, FieldCode::Format, "must not hold a NUL"));
    }
    Ok(field)
}

fn single(values: &[String]) -> Result<&str, String> {
    match values {
        [text] => Ok(text),
        _ => Err("needs one value".into()),
    }
}

fn predicate(class: Class, operator: Operator, texts: &[String]) -> Result<Predicate, String> {
    let values = || -> Result<Vec<_>, String> {
        let values = texts.iter().map(|text| fields::value(class, text));
        values.collect()
    };
    match operator {
        Operator::In => return Ok(Predicate::Member(Membership::In(values()?))),
        Operator::Nin => return Ok(Predicate::Member(Membership::NotIn(values()?))),
        _ => {}
    }
    let text = single(texts)?;
    let comparison = match (operator, class, fields::value(class, text)?) {
        (Operator::Eq, Class::Flag, Value::Bool(on)) => return Ok(Predicate::Flag(on)),
        (Operator::Eq, Class::Id | Class::Enum(_) | Class::Code | Class::CaselessCode, value) => {
            return Ok(Predicate::Member(Membership::Equals(value)));
        }
        (Operator::Like, ..) => pattern(text, false)?,
        (Operator::Ilike, ..) => pattern(text, true)?,
        (Operator::Eq, Class::Like, _) if !text.is_empty() => pattern(&plain(text), false)?,
        (Operator::Eq, Class::ILike, _) if !text.is_empty() => pattern(&plain(text), true)?,
        (Operator::Eq, _, value) => Comparison::Equals(value),
        (bound, _, value) => Comparison::Bound(bound, value),
    };
    Ok(Predicate::Scalar(comparison))
}

/// A plain value on a text field: a pattern if it holds `%`, else a literal substring.
fn plain(text: &str) -> String {
    if text.contains('%') {
        return text.to_owned();
    }
    format!("%{}%", text.replace('\\', "\\\\").replace('_', "\\_"))
}

/// Most `%` in a pattern: each more of them makes a text take longer to compare.
const MAX_WILDCARDS: usize = 4;

/// Refuses a pattern that takes long to compare, or that ends in its escape character: Postgres fails
/// on it.
fn pattern(pattern: &str, ignore_case: bool) -> Result<Comparison, String> {
    if pattern.matches('%').count() > MAX_WILDCARDS {
        return Err(format!("may hold at most {MAX_WILDCARDS} `%`"));
    }
    let trailing = pattern
        .bytes()
        .rev()
        .take_while(|byte| *byte == b'\\')
        .count();
    if trailing % 2 == 1 {
        return Err("must not end in a single `\\`, which escapes the next character".into());
    }
    Ok(Comparison::Matches {
        pattern: pattern.to_owned(),
        ignore_case,
    })
}

fn unknown<S: AsRef<str>>(name: &str, allowed: impl Iterator<Item = S>) -> String {
    let allowed = quoted(allowed);
    let allowed = if allowed.is_empty() { "none" } else { &allowed };
    format!("`{name}` is not allowed; allowed: {allowed}")
}

#[cfg(test)]
mod tests;
