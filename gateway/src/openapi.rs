//! The OpenAPI document, generated from the route table, the list tables and the DTOs.
//!
//! The generated document is committed as `gateway/openapi.json`, which a test compares and the
//! gateway serves.

mod complete;
mod docs;
mod parameters;
mod responses;
mod tags;

use axum::http::Method;
use platform::error::Code;
use serde_json::Value;
use utoipa::{
    ToSchema,
    openapi::{
        ComponentsBuilder, ContactBuilder, ContentBuilder, Deprecated, HttpMethod, InfoBuilder,
        LicenseBuilder, OpenApiBuilder, PathsBuilder, Ref, RefOr, Required, Schema, ServerBuilder,
        path::{Operation, OperationBuilder},
        request_body::{RequestBody, RequestBodyBuilder},
        schema::ArrayBuilder,
        security::{
            ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityRequirement, SecurityScheme,
        },
    },
};

use crate::{
    access::Access,
    error::ProblemDocument,
    extract::NDJSON,
    router::{Route, routes},
};

/// The committed document.
pub(crate) const DOCUMENT: &str = include_str!("../openapi.json");

/// The schema of a DTO, with the schemas it refers to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    name: fn() -> String,
    collect: fn(&mut Vec<(String, RefOr<Schema>)>),
}

impl Shape {
    /// Returns the shape of a DTO.
    pub(crate) fn of<T: ToSchema>() -> Self {
        Self {
            name: || T::name().into_owned(),
            collect: |schemas| {
                schemas.push((T::name().into_owned(), T::schema()));
                T::schemas(schemas);
            },
        }
    }

    /// Returns the schema and those it refers to, by name.
    fn schemas(self) -> Vec<(String, RefOr<Schema>)> {
        let mut schemas = Vec::new();
        (self.collect)(&mut schemas);
        schemas
    }

    /// Returns the name of the schema.
    fn schema_name(self) -> String {
        (self.name)()
    }

    /// Returns whether some field of the object must be given.
    pub(crate) fn has_required_fields(self) -> bool {
        match self.schemas().first() {
            Some((_, RefOr::T(Schema::Object(object)))) => !object.required.is_empty(),
            _ => false,
        }
    }

    fn reference(self) -> Ref {
        Ref::from_schema_name(self.schema_name())
    }
}

/// Generates the document. Needs the sources of the gateway.
pub fn document() -> Value {
    let routes = routes();
    let mut paths = PathsBuilder::new().build();
    for route in &routes {
        let method = vec![http_method(&route.method)];
        paths.add_path_operation(route.path, method, operation(route));
    }
    let info = InfoBuilder::new()
        .title("Guerdon")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(include_str!("openapi.md")))
        .contact(Some(ContactBuilder::new().name(Some("Guerdon")).build()))
        .license(Some(
            LicenseBuilder::new()
                .name("Apache-2.0")
                .identifier(Some("Apache-2.0"))
                .build(),
        ));
    let server = ServerBuilder::new()
        .url("/")
        .description(Some("The gateway that serves this document."));
    let has_tag = |name: &str| routes.iter().any(|route| tag(route) == name);
    let document = OpenApiBuilder::new()
        .paths(paths)
        .components(Some(components(&routes).build()))
        .info(info.build())
        .servers(Some([server.build()]))
        .tags(Some(tags::of(has_tag)))
        .build();
    let mut document = serde_json::to_value(document).expect("the document is JSON");
    complete::complete(&mut document, &routes);
    document
}

fn components(routes: &[Route]) -> ComponentsBuilder {
    let shapes = routes
        .iter()
        .flat_map(|route| [route.body, route.response])
        .flatten();
    let mut schemas = Shape::of::<ProblemDocument>().schemas();
    schemas.extend(shapes.flat_map(Shape::schemas));
    let api_key = ApiKey::Header(ApiKeyValue::new("apikey"));
    let bearer = Http::new(HttpAuthScheme::Bearer);
    let components = ComponentsBuilder::new()
        .security_scheme("apikey", SecurityScheme::ApiKey(api_key))
        .security_scheme("bearer", SecurityScheme::Http(bearer));
    let components = responses::problems(routes).fold(components, |components, (name, problem)| {
        components.response(name, problem)
    });
    schemas
        .into_iter()
        .fold(components, |components, (name, schema)| {
            components.schema(name, schema)
        })
}

fn http_method(method: &Method) -> HttpMethod {
    match *method {
        Method::GET => HttpMethod::Get,
        Method::POST => HttpMethod::Post,
        Method::PATCH => HttpMethod::Patch,
        _ => HttpMethod::Delete,
    }
}

fn operation(route: &Route) -> Operation {
    let id = format!("{} {}", route.method, route.path);
    let mut operation = OperationBuilder::new()
        .tag(tag(route))
        .operation_id(Some(operation_id(&id)))
        .summary(Some(docs::summary(route)))
        .description(Some(docs::description(route)))
        .securities(Some(securities(route.access)))
        .responses(responses::of(route));
    for parameter in parameters::of(route) {
        operation = operation.parameter(parameter);
    }
    if route.deprecation.is_some() {
        operation = operation.deprecated(Some(Deprecated::True));
    }
    if let Some(body) = route.body {
        operation = operation.request_body(Some(request_body(route, body)));
    }
    operation.build()
}

/// Returns the group of a route in the API reference.
fn tag(route: &Route) -> &'static str {
    match route.path.split('/').nth(1) {
        Some(".well-known") | None => "auth",
        Some(first) => first,
    }
}

/// Lists the alternatives of credentials; an empty one where none are needed.
fn securities(access: Access) -> Vec<SecurityRequirement> {
    let scheme = |name: &str| SecurityRequirement::new::<_, [&str; 0], _>(name, []);
    let none = SecurityRequirement::default();
    match access {
        Access::Anonymous => vec![none],
        Access::Public => vec![none, scheme("apikey"), scheme("bearer")],
        Access::User | Access::Admin | Access::SignUp => vec![scheme("apikey"), scheme("bearer")],
    }
}

/// Describes a resource, or many as NDJSON or as an array.
fn request_body(route: &Route, shape: Shape) -> RequestBody {
    let one = ContentBuilder::new()
        .schema(Some(shape.reference()))
        .build();
    let required = if route.needs_body {
        Required::True
    } else {
        Required::False
    };
    let body = RequestBodyBuilder::new().required(Some(required));
    if !route.bulk {
        return body.content("application/json", one).build();
    }
    let array = ArrayBuilder::new().items(shape.reference()).build();
    let array = ContentBuilder::new().schema(Some(array)).build();
    body.content(NDJSON, one)
        .content("application/json", array)
        .build()
}

/// Turns `POST /orders/{id}/pay` into `postOrdersByIdPay`.
fn operation_id(route: &str) -> String {
    let mut id = String::new();
    for word in route
        .split(|c: char| !c.is_alphanumeric() && c != '{')
        .filter(|word| !word.is_empty())
    {
        let (by, word) = word
            .strip_prefix('{')
            .map_or(("", word), |word| ("By", word));
        if id.is_empty() {
            id = word.to_ascii_lowercase();
            continue;
        }
        let (first, rest) = word.split_at(1);
        id.extend([by, &first.to_ascii_uppercase(), rest]);
    }
    id
}

/// Renders the page that the `type` of a problem links to.
pub(crate) fn errors_page() -> String {
    let row = |code: &Code| {
        let (status, about) = (code.http().as_u16(), code.about().replace('`', ""));
        format!(
            "<tr id=\"{code}\"><td><code>{code}</code></td><td>{status}</td><td>{about}</td></tr>\n"
        )
    };
    let rows: String = Code::PUBLIC.iter().map(row).collect();
    include_str!("errors.html").replace("<!-- rows -->", &rows)
}

#[cfg(test)]
mod tests {
    use chrono::NaiveDate;

    use super::*;
    use crate::{deprecation::Deprecation, router::deprecated_route};

    #[test]
    fn a_route_that_is_to_go_is_marked() {
        let deprecation = Deprecation {
            since: NaiveDate::from_ymd_opt(2026, 12, 1).unwrap(),
            sunset: None,
            about: "/docs/",
        };
        let marked = operation(&deprecated_route(deprecation)).deprecated;
        assert!(matches!(marked, Some(Deprecated::True)));
        let others = routes()
            .into_iter()
            .filter(|route| route.deprecation.is_none());
        for route in others {
            assert!(operation(&route).deprecated.is_none(), "{}", route.path);
        }
    }
}
