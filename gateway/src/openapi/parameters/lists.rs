//! The parameters of lists, from their tables.

use proto::lists::{Class, ListTable};
use serde_json::{Value, json};
use utoipa::openapi::{
    Object, ObjectBuilder, Required,
    path::{Parameter, ParameterBuilder, ParameterIn, ParameterStyle},
    schema::{ArrayBuilder, SchemaType, Type},
};

use super::{enumeration, query, text};

/// Returns the parameters of a list.
pub(super) fn of(list: &ListTable) -> Vec<Parameter> {
    let filterable = list.fields.iter().filter(|field| field.filterable);
    let mut parameters: Vec<_> = filterable
        .map(|field| filter(field.name, field.class))
        .collect();
    parameters.extend(sort(list));
    parameters.extend(include(list));
    if list.paged {
        parameters.extend(pages());
    }
    parameters
}

/// Describes the relations that can be embedded.
pub(super) fn include(list: &ListTable) -> Option<Parameter> {
    let names = list.includes.iter().map(|include| include.name.to_owned());
    let names: Vec<_> = names.collect();
    let description = format!(
        "Relations to embed, separated by commas: {}.",
        names.join(", ")
    );
    (!names.is_empty()).then(|| values("include", &description, &names))
}

fn filter(name: &str, class: Class) -> Parameter {
    let parameter = format!("filter[{name}]");
    let (description, example) = operators(class);
    let schema = match class {
        Class::Bool | Class::Flag => flag().into(),
        _ => text(),
    };
    query(&parameter, &description, schema, Some(example))
}

fn flag() -> Object {
    ObjectBuilder::new()
        .schema_type(SchemaType::Type(Type::Boolean))
        .build()
}

fn sort(list: &ListTable) -> Option<Parameter> {
    let sortable = list.fields.iter().filter(|field| field.sortable);
    let names: Vec<_> = sortable.map(|field| field.name).collect();
    let default: Vec<_> = list
        .default_sort
        .iter()
        .map(|key| format!("{}{}", if key.descending { "-" } else { "" }, key.field))
        .collect();
    let description = format!(
        "Fields separated by commas, `-` for descending, of: {}. Default: `{}`.",
        names.join(", "),
        default.join(","),
    );
    let keys = names
        .iter()
        .flat_map(|name| [(*name).to_owned(), format!("-{name}")]);
    let keys: Vec<_> = keys.collect();
    (!keys.is_empty()).then(|| values("sort", &description, &keys))
}

/// Describes some of these values, separated by commas.
fn values(name: &str, description: &str, values: &[String]) -> Parameter {
    let list = ArrayBuilder::new()
        .items(enumeration(values))
        .max_items(Some(16));
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Query)
        .required(Required::False)
        .style(Some(ParameterStyle::Form))
        .explode(Some(false))
        .description(Some(description))
        .schema(Some(list))
        .example(Some(json!([values[0]])))
        .build()
}

fn pages() -> [Parameter; 3] {
    let number = |most: Option<u32>| {
        let number = ObjectBuilder::new().schema_type(SchemaType::Type(Type::Integer));
        number.minimum(Some(1)).maximum(most).build()
    };
    let cursor = "The `nextCursor` of a page, for the page after it; not with `page[number]`.";
    let deep = "Number of the page, from 1; up to 100 000 rows deep, from where on `page[after]` \
                leads.";
    [
        query(
            "page[size]",
            "Rows of a page; 30 by default.",
            number(Some(1_000)),
            Some(json!(100)),
        ),
        query("page[number]", deep, number(None), Some(json!(2))),
        query(
            "page[after]",
            cursor,
            text(),
            Some(json!("eyJzIjpbIi1jcmVhdGVkQXQiXX0")),
        ),
    ]
}

/// Describes the operators of a class, with an example.
fn operators(class: Class) -> (String, Value) {
    let id = "01927b3a-5f10-7c3e-9a41-2f6d8e0b1c57";
    match class {
        Class::Id => ("An id, `in:a,b` or `nin:a,b`.".into(), json!(id)),
        Class::Code => ("A value, `in:a,b` or `nin:a,b`.".into(), json!("in:a,b")),
        Class::CaselessCode => (
            "A value in any case, `in:a,b` or `nin:a,b`.".into(),
            json!("in:a,b"),
        ),
        Class::Enum(values) => (
            format!("A value, `in:a,b` or `nin:a,b`, of: {}.", values.join(", ")),
            json!(values[0]),
        ),
        Class::Like => (
            "A part of the text, a pattern with `%`, `like:` or `ilike:`.".into(),
            json!("like:%off%"),
        ),
        Class::ILike => (
            "A part of the text, ignoring case, a pattern with `%`, `like:` or `ilike:`.".into(),
            json!("coffee"),
        ),
        Class::Bool => ("`true` or `false`.".into(), json!(true)),
        Class::Search => (
            "Words that must all occur, the last one as the start of a word, ignoring case and \
             accents. Without a sort, the best matches come first."
                .into(),
            json!("red shoe"),
        ),
        Class::Flag => (
            "`true` or `false`; see the description of the list.".into(),
            json!(true),
        ),
        Class::Number | Class::Money => (
            "A number, or `gt:`, `gte:`, `lt:`, `lte:` and a number; twice for a range.".into(),
            json!("gte:10"),
        ),
        Class::Time => (
            "A time, or `gt:`, `gte:`, `lt:`, `lte:` and a time (RFC 3339); twice for a range."
                .into(),
            json!("gte:2026-01-31T10:00:00.000Z"),
        ),
    }
}
