//! Parses the raw query string of a list into a [`ListRequest`]. The service that owns the resource
//! checks later what it allows.

mod params;

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use proto::common::v1::{Filter, ListRequest, Operator, Sort};
use proto::lists::{DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE};

use self::params::{Key, Param};
use super::{fields, refuse};
use crate::error::{Failure, FieldCode};

/// Most filters of a request. A range is two.
const MAX_FILTERS: usize = 64;
/// Most fields to sort by.
const MAX_SORTS: usize = 16;
/// Most relations to embed.
const MAX_INCLUDES: usize = 16;
/// Rows that pages with a number reach: the database reads all rows before a page.
const MAX_DEPTH: u64 = 100_000;

/// Parses `filter[..]`, `sort`, `page[..]` and `include`, and ignores other parameters.
pub fn parse(raw: &str) -> Result<ListRequest, Failure> {
    let mut reader = Reader::default();
    for piece in raw.split('&').filter(|piece| !piece.is_empty()) {
        reader.read(&Param::decode(piece)?)?;
    }
    if reader.request.page_after.is_some() && reader.request.page_number.is_some() {
        return Err(refuse(
            "page[after]",
            FieldCode::Duplicate,
            "goes with `page[size]` only, not with `page[number]`",
        ));
    }
    check_depth(&reader.request)?;
    Ok(reader.request)
}

fn check_depth(request: &ListRequest) -> Result<(), Failure> {
    let size = u64::from(request.page_size.unwrap_or(DEFAULT_PAGE_SIZE));
    let pages_before = request.page_number.unwrap_or(1) - 1;
    if pages_before.saturating_mul(size) < MAX_DEPTH {
        return Ok(());
    }
    let message = format!(
        "reaches {MAX_DEPTH} rows deep; go on with the `nextCursor` of a page in `page[after]`"
    );
    Err(refuse("page[number]", FieldCode::Range, &message))
}

/// Parses the time in the parameter of this name, if there is one; refuses two of them.
pub fn time(raw: &str, name: &str) -> Result<Option<DateTime<Utc>>, Failure> {
    let Some(text) = text(raw, name)? else {
        return Ok(None);
    };
    let message = "must be a time like `2026-01-31T10:00:00Z` or a date like `2026-01-31`";
    let time = fields::time(&text);
    time.map(Some)
        .ok_or_else(|| refuse(name, FieldCode::Format, message))
}

/// Returns the parameter of this name, decoded, if there is one; refuses two of them.
pub fn text(raw: &str, name: &str) -> Result<Option<String>, Failure> {
    let mut found = None;
    for piece in raw.split('&').filter(|piece| !piece.is_empty()) {
        let param = Param::decode(piece)?;
        if param.name != name {
            continue;
        }
        if found.is_some() {
            return Err(refuse(name, FieldCode::Duplicate, "comes twice"));
        }
        found = Some(param.value);
    }
    Ok(found)
}

#[derive(Default)]
struct Reader {
    request: ListRequest,
    /// Parameters that may come once, and did.
    seen: HashSet<String>,
    /// Filters in the array form, and where they are in the request.
    arrays: HashMap<String, usize>,
    /// The field of the filter just read, to which a stray bound belongs.
    last_filter: Option<String>,
}

impl Reader {
    fn read(&mut self, param: &Param) -> Result<(), Failure> {
        if let Some(bound) = param.bound() {
            return self.stray_bound(bound);
        }
        self.last_filter = None;
        let value = param.value.as_str();
        match param.key()? {
            Key::Filter(field) => self.filter(field, value),
            Key::Element(field) => self.element(&param.name, field, value),
            Key::Sort => self.sort(value),
            Key::Page(name) => self.page(&param.name, name, value),
            Key::Includes => self.include(value),
            Key::Include(name) => self.include_flag(&param.name, name, value),
            Key::Other => Ok(()),
        }
    }

    /// `lte:B` of `filter[createdAt]=gte:A&lte:B` when the client did not encode the `&`.
    fn stray_bound(&mut self, bound: &str) -> Result<(), Failure> {
        let Some(field) = self.last_filter.clone() else {
            return Err(refuse(
                bound,
                FieldCode::UnknownField,
                "a second bound must come right after its filter",
            ));
        };
        self.bounds(&field, bound)
    }

    fn filter(&mut self, field: &str, value: &str) -> Result<(), Failure> {
        self.last_filter = Some(field.to_owned());
        let (operator, operand) = split_operator(value);
        match operator {
            operator if is_bound(operator) => self.bounds(field, value),
            Operator::In | Operator::Nin if operand.is_empty() => {
                self.push(field, operator, Vec::new()).map(|_| ())
            }
            Operator::In | Operator::Nin => {
                let values = operand.split(',').map(str::to_owned).collect();
                self.push(field, operator, values).map(|_| ())
            }
            _ => self
                .push(field, operator, vec![operand.to_owned()])
                .map(|_| ()),
        }
    }

    /// `gte:A`, or both bounds in one value: `gte:A&lte:B`.
    fn bounds(&mut self, field: &str, value: &str) -> Result<(), Failure> {
        for part in value.split('&') {
            let (operator, operand) = split_operator(part);
            if !is_bound(operator) {
                return Err(refuse(
                    &format!("filter[{field}]"),
                    FieldCode::Format,
                    "a second bound must start with `gte:` `lte:` `gt:` or `lt:`",
                ));
            }
            self.push(field, operator, vec![operand.to_owned()])?;
        }
        Ok(())
    }

    /// One value of `filter[x][0]=a&filter[x][1]=b`.
    fn element(&mut self, name: &str, field: &str, value: &str) -> Result<(), Failure> {
        if !name.ends_with("[]") {
            self.once(name)?;
        }
        let index = match self.arrays.get(field) {
            Some(index) => *index,
            None => self.push(field, Operator::In, Vec::new())?,
        };
        self.arrays.insert(field.to_owned(), index);
        self.request.filters[index].values.push(value.to_owned());
        Ok(())
    }

    fn push(
        &mut self,
        field: &str,
        operator: Operator,
        values: Vec<String>,
    ) -> Result<usize, Failure> {
        let mut earlier = self.request.filters.iter();
        if earlier.any(|filter| filter.field == field && filter.operator() == operator) {
            return Err(refuse(
                &format!("filter[{field}]"),
                FieldCode::Duplicate,
                &format!("is given twice with `{}`", fields::symbol(operator)),
            ));
        }
        if self.request.filters.len() == MAX_FILTERS {
            return Err(too_many("filter", MAX_FILTERS));
        }
        let operator = operator.into();
        self.request.filters.push(Filter {
            field: field.to_owned(),
            operator,
            values,
        });
        Ok(self.request.filters.len() - 1)
    }

    fn sort(&mut self, value: &str) -> Result<(), Failure> {
        self.once("sort")?;
        for key in value.split(',') {
            let (field, descending) = key
                .strip_prefix('-')
                .map_or((key, false), |field| (field, true));
            if self.request.sort.iter().any(|sort| sort.field == field) {
                return Err(refuse("sort", FieldCode::Duplicate, "names a field twice"));
            }
            if self.request.sort.len() == MAX_SORTS {
                return Err(too_many("sort", MAX_SORTS));
            }
            self.request.sort.push(Sort {
                field: field.to_owned(),
                descending,
            });
        }
        Ok(())
    }

    fn page(&mut self, name: &str, part: &str, value: &str) -> Result<(), Failure> {
        self.once(name)?;
        match part {
            "size" => {
                let size = number(name, value)?;
                let size = u32::try_from(size)
                    .ok()
                    .filter(|size| *size <= MAX_PAGE_SIZE);
                let message = format!("must be 1 to {MAX_PAGE_SIZE}");
                let size = size.ok_or_else(|| refuse(name, FieldCode::Range, &message))?;
                self.request.page_size = Some(size);
            }
            "number" => self.request.page_number = Some(number(name, value)?),
            "after" => self.request.page_after = Some(value.to_owned()),
            _ => {
                return Err(refuse(
                    name,
                    FieldCode::UnknownField,
                    "is unknown; allowed are `page[size]` `page[number]` `page[after]`",
                ));
            }
        }
        Ok(())
    }

    /// `include=a,b` or `include[0]=a`.
    fn include(&mut self, value: &str) -> Result<(), Failure> {
        for relation in value.split(',').filter(|relation| !relation.is_empty()) {
            let mut included = self.request.include.iter();
            if included.any(|included| included == relation) {
                continue;
            }
            if self.request.include.len() == MAX_INCLUDES {
                return Err(too_many("include", MAX_INCLUDES));
            }
            self.request.include.push(relation.to_owned());
        }
        Ok(())
    }

    /// `include[a]=true`.
    fn include_flag(&mut self, name: &str, relation: &str, value: &str) -> Result<(), Failure> {
        match value {
            "true" => self.include(relation),
            "false" => Ok(()),
            _ => Err(refuse(name, FieldCode::Enum, "must be `true` or `false`")),
        }
    }

    fn once(&mut self, name: &str) -> Result<(), Failure> {
        if self.seen.insert(name.to_owned()) {
            return Ok(());
        }
        Err(refuse(name, FieldCode::Duplicate, "is given twice"))
    }
}

fn too_many(parameter: &str, most: usize) -> Failure {
    let message = format!("may be given at most {most} times");
    refuse(parameter, FieldCode::Length, &message)
}

/// Splits a value into its operator and the rest; without one of the eight it is a plain value.
fn split_operator(value: &str) -> (Operator, &str) {
    let prefixed = value.split_once(':').and_then(|(prefix, operand)| {
        fields::prefixed_operators()
            .find(|operator| fields::symbol(*operator) == prefix)
            .map(|operator| (operator, operand))
    });
    prefixed.unwrap_or((Operator::Eq, value))
}

const fn is_bound(operator: Operator) -> bool {
    matches!(
        operator,
        Operator::Gte | Operator::Lte | Operator::Gt | Operator::Lt
    )
}

/// Parses digits, from 1.
fn number(name: &str, value: &str) -> Result<u64, Failure> {
    if value.is_empty() || !value.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(refuse(
            name,
            FieldCode::Format,
            "must be a whole number from 1",
        ));
    }
    let number = value.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| refuse(name, FieldCode::Range, "must be a whole number from 1"))
}

#[cfg(test)]
mod tests;
