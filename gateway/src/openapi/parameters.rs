//! The parameters of operations: path, list, single query parameters and the idempotency key.

use axum::http::Method;
use proto::lists::{Class, ListTable};
use utoipa::openapi::{
    ObjectBuilder, Required, Schema,
    path::{Parameter, ParameterBuilder, ParameterIn},
    schema::{SchemaType, Type},
};

use crate::{access::Access, router::Route};

/// Returns the parameters of a route.
pub(super) fn of(route: &Route) -> Vec<Parameter> {
    let mut parameters: Vec<_> = path_names(route.path)
        .map(|name| parameter(name, ParameterIn::Path, "", Required::True))
        .collect();
    if let Some(list) = route.list {
        parameters.extend(list_parameters(list));
    }
    parameters.extend(route.includes.and_then(include));
    for (name, description) in &route.query_params {
        parameters.push(query(name, description));
    }
    if route.method == Method::POST && route.access != Access::Anonymous {
        let description = "Makes the request safe to repeat for 24 hours.";
        parameters.push(parameter(
            "Idempotency-Key",
            ParameterIn::Header,
            description,
            Required::False,
        ));
    }
    if route.reads_one() {
        let description = "ETags that the client has; if one is current, the response is 304.";
        parameters.push(parameter(
            "If-None-Match",
            ParameterIn::Header,
            description,
            Required::False,
        ));
    }
    if route.bulk {
        let description = "`partial` creates the valid items; without it one invalid item refuses \
                           all of them.";
        parameters.push(query("mode", description));
    }
    parameters
}

fn path_names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

fn query(name: &str, description: &str) -> Parameter {
    parameter(name, ParameterIn::Query, description, Required::False)
}

fn parameter(name: &str, place: ParameterIn, description: &str, required: Required) -> Parameter {
    let text = ObjectBuilder::new()
        .schema_type(SchemaType::Type(Type::String))
        .build();
    ParameterBuilder::new()
        .name(name)
        .parameter_in(place)
        .required(required)
        .description(Some(description).filter(|text| !text.is_empty()))
        .schema(Some(Schema::Object(text)))
        .build()
}

fn list_parameters(list: &ListTable) -> Vec<Parameter> {
    let filterable = list.fields.iter().filter(|field| field.filterable);
    let mut parameters: Vec<_> = filterable
        .map(|field| query(&format!("filter[{}]", field.name), &operators(field.class)))
        .collect();
    let sortable = list.fields.iter().filter(|field| field.sortable);
    let sortable: Vec<_> = sortable.map(|field| field.name).collect();
    if !sortable.is_empty() {
        let names = sortable.join(", ");
        let description = format!("A comma-separated list, `-` for descending, of: {names}.");
        parameters.push(query("sort", &description));
    }
    parameters.extend(include(list));
    if !list.paged {
        return parameters;
    }
    parameters.push(query("page[size]", "1 to 1000, default 30."));
    parameters.push(query("page[number]", "From 1."));
    parameters.push(query(
        "page[after]",
        "A `nextCursor`, instead of `page[number]`.",
    ));
    parameters
}

fn include(list: &ListTable) -> Option<Parameter> {
    let names: Vec<_> = list.includes.iter().map(|include| include.name).collect();
    let description = format!("A comma-separated list of: {}.", names.join(", "));
    (!names.is_empty()).then(|| query("include", &description))
}

fn operators(class: Class) -> String {
    match class {
        Class::Id | Class::Code | Class::CaselessCode => "A value, `in:a,b` or `nin:a,b`.".into(),
        Class::Enum(values) => {
            format!("A value, `in:a,b` or `nin:a,b`, of: {}.", values.join(", "))
        }
        Class::Like => "A part of the text, a pattern with `%`, `like:` or `ilike:`.".into(),
        Class::ILike => {
            "A part of the text, ignoring case, a pattern with `%`, `like:` or `ilike:`.".into()
        }
        Class::Bool => "`true` or `false`.".into(),
        Class::Search => {
            "Words that must all occur, the last one as the start of a word, ignoring \
                          case and accents. Without a sort, the best matches come first."
                .into()
        }
        Class::Flag => "`true` or `false`; see the description of the list.".into(),
        Class::Number | Class::Money => {
            "A number, or `gt:`, `gte:`, `lt:`, `lte:` and a number.".into()
        }
        Class::Time => "A time, or `gt:`, `gte:`, `lt:`, `lte:` and a time (RFC 3339).".into(),
    }
}
