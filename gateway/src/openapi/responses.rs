//! The responses of operations: that of success, and a problem for each status.

use std::collections::BTreeSet;

use axum::http::{Method, StatusCode};
use platform::error::Code;
use serde_json::{Value, json};
use utoipa::openapi::{
    Content, ContentBuilder, ObjectBuilder, Ref, Response, ResponseBuilder, Responses,
    ResponsesBuilder, Schema,
    example::ExampleBuilder,
    schema::{ArrayBuilder, KnownFormat, SchemaFormat, SchemaType, Type},
};

use super::Shape;
use crate::{
    error::{PROBLEM_JSON, ProblemDocument},
    extract::NDJSON,
    router::{Form, Route},
};

/// Returns the responses of a route.
pub(super) fn of(route: &Route) -> Responses {
    let responses = ResponsesBuilder::new().response(route.success.as_str(), success(route));
    let responses = statuses(route)
        .into_iter()
        .fold(responses, |responses, status| {
            responses.response(status.as_str(), Ref::from_response_name(name(status)))
        });
    let responses = if route.reads_one() {
        responses.response(StatusCode::NOT_MODIFIED.as_str(), not_modified())
    } else {
        responses
    };
    responses
        .response(
            "default",
            problem("A problem; `/docs/errors` lists the codes."),
        )
        .build()
}

fn success(route: &Route) -> Response {
    let success = ResponseBuilder::new().description(match route.success {
        StatusCode::CREATED => "Created.",
        StatusCode::NO_CONTENT => "No content.",
        _ => "Success.",
    });
    match route.response {
        None => success,
        Some(line) if route.form == Form::Ndjson => {
            let content = ContentBuilder::new().schema(Some(line.reference())).build();
            success.content(NDJSON, content)
        }
        Some(message) if route.form == Form::EventStream => {
            let content = ContentBuilder::new().schema(Some(message.reference()));
            success.content("text/event-stream", content.build())
        }
        Some(document) if route.form == Form::Document => {
            let content = ContentBuilder::new()
                .schema(Some(document.reference()))
                .build();
            success.content("application/json", content)
        }
        Some(resource) => {
            let content = ContentBuilder::new()
                .schema(Some(envelope(route, resource)))
                .build();
            let success = success.content("application/json", content);
            if route.form == Form::Printable {
                success
                    .content("text/html", printed(None, "<!doctype html>"))
                    .content(
                        "application/pdf",
                        printed(Some(KnownFormat::Binary), "%PDF-1.7"),
                    )
            } else {
                success
            }
        }
    }
    .build()
}

/// Describes a page to print, or a file.
fn printed(format: Option<KnownFormat>, example: &str) -> Content {
    let text = ObjectBuilder::new()
        .schema_type(Type::String)
        .format(format.map(SchemaFormat::KnownFormat));
    let example = ExampleBuilder::new().value(Some(json!(example)));
    ContentBuilder::new()
        .schema(Some(text.build()))
        .examples_from_iter([("example", example.build())])
        .build()
}

fn not_modified() -> Response {
    ResponseBuilder::new()
        .description("The client has this representation already.")
        .build()
}

/// Describes `{"data": resource}`, or `{"data": [resource], "total": n}` for a list.
fn envelope(route: &Route, resource: Shape) -> Schema {
    let typed = |of: Type, description: &str| {
        let object = ObjectBuilder::new().schema_type(SchemaType::Type(of));
        Schema::Object(object.description(Some(description)).build())
    };
    let object = ObjectBuilder::new().required("data");
    let object = if route.list.is_some() {
        let rows = ArrayBuilder::new().items(resource.reference()).build();
        object
            .property("data", rows)
            .property(
                "total",
                typed(Type::Integer, "Number of matching rows in all pages."),
            )
            .property(
                "nextCursor",
                typed(
                    Type::String,
                    "For `page[after]`; on every page but the last.",
                ),
            )
            .required("total")
    } else {
        object.property("data", resource.reference())
    };
    Schema::Object(object.build())
}

/// Returns the problems that the operations refer to, one a status, by name.
pub(super) fn problems(routes: &[Route]) -> impl Iterator<Item = (String, Response)> {
    let statuses: BTreeSet<_> = routes.iter().flat_map(statuses).collect();
    statuses.into_iter().map(|status| {
        let codes: Vec<_> = Code::PUBLIC
            .iter()
            .filter(|code| code.http() == status)
            .collect();
        let lines: Vec<_> = codes
            .iter()
            .map(|code| format!("`{code}`: {}", code.about()))
            .collect();
        let content = ContentBuilder::new()
            .schema(Some(Shape::of::<ProblemDocument>().reference()))
            .example(codes.first().map(|code| example(**code)))
            .build();
        let response = ResponseBuilder::new()
            .description(lines.join("\n\n"))
            .content(PROBLEM_JSON, content)
            .build();
        (name(status), response)
    })
}

/// Returns a problem with this code.
fn example(code: Code) -> Value {
    let errors = match code.http() {
        StatusCode::UNPROCESSABLE_ENTITY => json!([{
            "field": "price",
            "code": "precision",
            "message": "has more than 8 decimals",
        }]),
        _ => json!([]),
    };
    json!({
        "type": format!("/docs/errors#{code}"),
        "title": code.title(),
        "status": code.http().as_u16(),
        "detail": code.about().replace('`', ""),
        "instance": "/products",
        "code": code.as_str(),
        "errors": errors,
        "data": {},
        "requestId": "01927b3a-7d21-7f0e-8c55-6a1b2c3d4e5f",
        "traceId": "4bf92f3577b34da6a3ce929d0e0e4736",
    })
}

/// `UnprocessableEntity`
fn name(status: StatusCode) -> String {
    let reason = status.canonical_reason().unwrap_or_default();
    reason.split(' ').collect()
}

fn problem(description: &str) -> Response {
    let problem = ContentBuilder::new()
        .schema(Some(Shape::of::<ProblemDocument>().reference()))
        .build();
    ResponseBuilder::new()
        .description(description)
        .content(PROBLEM_JSON, problem)
        .build()
}

/// Returns the statuses of problems of a route.
fn statuses(route: &Route) -> BTreeSet<StatusCode> {
    use StatusCode as S;
    let mut statuses = BTreeSet::from([
        S::UNAUTHORIZED,
        S::FORBIDDEN,
        S::TOO_MANY_REQUESTS,
        S::URI_TOO_LONG,
        S::REQUEST_HEADER_FIELDS_TOO_LARGE,
        S::INTERNAL_SERVER_ERROR,
        S::SERVICE_UNAVAILABLE,
        S::GATEWAY_TIMEOUT,
    ]);
    let takes_body = matches!(route.method, Method::POST | Method::PATCH);
    if takes_body {
        statuses.extend([
            S::PAYLOAD_TOO_LARGE,
            S::UNSUPPORTED_MEDIA_TYPE,
            S::UNPROCESSABLE_ENTITY,
        ]);
    }
    // The query of reads, the body, the idempotency key or `If-Match`.
    if takes_body || route.method == Method::GET || route.versioned {
        statuses.insert(S::BAD_REQUEST);
    }
    if route.method != Method::GET {
        statuses.insert(S::CONFLICT);
    }
    if route.path.contains('{') {
        statuses.insert(S::NOT_FOUND);
    }
    if route.response.is_some() {
        statuses.insert(S::NOT_ACCEPTABLE);
    }
    statuses.insert(S::PRECONDITION_FAILED);
    statuses
}
