//! The parameters of operations: path, list, single query parameters and the idempotency key.

mod lists;

use axum::http::Method;
use serde_json::{Value, json};
use utoipa::{
    PartialSchema as _,
    openapi::{
        ObjectBuilder, RefOr, Required, Schema,
        path::{Parameter, ParameterBuilder, ParameterIn},
        schema::{SchemaType, Type},
    },
};

use crate::{access::Access, extract::Id, router::Route};

/// Descriptions and examples of path parameters that are no ids.
const CODES: [(&str, &str, &str); 6] = [
    (
        "address",
        "The address.",
        "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
    ),
    (
        "baseAssetCode",
        "Code of the asset that is priced, in any case.",
        "points",
    ),
    ("code", "The code, in any case.", "usd"),
    (
        "quoteAssetCode",
        "Code of the asset that the price is in, in any case.",
        "usd",
    ),
    ("slug", "Identifier of the payment method.", "card"),
    (
        "deliveryId",
        "The id of the delivery.",
        "01927b3a-5f10-7c3e-9a41-2f6d8e0b1c57",
    ),
];

/// Returns the parameters of a route.
pub(super) fn of(route: &Route) -> Vec<Parameter> {
    let mut parameters: Vec<_> = path_names(route.path).map(path_parameter).collect();
    if let Some(list) = route.list {
        parameters.extend(lists::of(list));
    }
    parameters.extend(route.includes.and_then(lists::include));
    for (name, description, example) in &route.query_params {
        parameters.push(query(name, description, text(), Some(json!(example))));
    }
    if route.method == Method::POST && route.access != Access::Anonymous {
        parameters.push(idempotency_key());
    }
    if route.reads_one() {
        parameters.push(if_none_match());
    }
    if route.reads_one() || route.versioned {
        parameters.push(if_match());
    }
    if route.bulk {
        let description = "`partial` creates the valid items; without it one invalid item refuses \
                           all of them.";
        let modes = enumeration(&["partial".to_owned()]);
        parameters.push(query("mode", description, modes, Some(json!("partial"))));
    }
    parameters
}

fn path_names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

fn path_parameter(name: &str) -> Parameter {
    let code = CODES.iter().find(|(code, ..)| *code == name);
    let (description, schema, example) = match code {
        Some((_, description, example)) => (*description, text(), Some(json!(example))),
        None if name == "id" => ("The id of the resource.", Id::schema(), None),
        None => (
            "The id of the resource that this one belongs to.",
            Id::schema(),
            None,
        ),
    };
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Path)
        .required(Required::True)
        .description(Some(description))
        .schema(Some(schema))
        .example(example)
        .build()
}

fn idempotency_key() -> Parameter {
    let key = ObjectBuilder::new()
        .schema_type(SchemaType::Type(Type::String))
        .min_length(Some(1))
        .max_length(Some(255))
        .pattern(Some("^[ -~]{1,255}$"));
    ParameterBuilder::new()
        .name("Idempotency-Key")
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(
            "Makes the request safe to repeat for 24 hours: a repeated one returns the recorded \
             response. 1 to 255 printable characters.",
        ))
        .schema(Some(key))
        .example(Some(json!("order-2026-0042")))
        .build()
}

fn if_none_match() -> Parameter {
    ParameterBuilder::new()
        .name("If-None-Match")
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(
            "ETags that the client has; if one is current, the response is 304.",
        ))
        .schema(Some(text()))
        .example(Some(json!("\"3q2f8Zc1u0m7yX5w\"")))
        .build()
}

fn if_match() -> Parameter {
    ParameterBuilder::new()
        .name("If-Match")
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(
            "ETags of which one must be current, or `*`; else the response is 412.",
        ))
        .schema(Some(text()))
        .example(Some(json!("*")))
        .build()
}

fn query(
    name: &str,
    description: &str,
    schema: impl Into<RefOr<Schema>>,
    example: Option<Value>,
) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Query)
        .required(Required::False)
        .description(Some(description))
        .schema(Some(schema))
        .example(example)
        .build()
}

fn text() -> RefOr<Schema> {
    let text = ObjectBuilder::new().schema_type(SchemaType::Type(Type::String));
    text.build().into()
}

fn enumeration(values: &[String]) -> RefOr<Schema> {
    let text = ObjectBuilder::new().schema_type(SchemaType::Type(Type::String));
    let values = values.iter().map(String::as_str);
    text.enum_values(Some(values)).build().into()
}
