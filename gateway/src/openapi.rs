//! The OpenAPI document, built from the route table and the list tables, so that it cannot drift.

use axum::http::StatusCode;
use platform::error::Code;
use proto::lists::{Class, ListTable};
use utoipa::{
    ToSchema,
    openapi::{
        ComponentsBuilder, ContentBuilder, HttpMethod, InfoBuilder, License, ObjectBuilder,
        OpenApi, OpenApiBuilder, PathsBuilder, Ref, RefOr, Required, ResponseBuilder,
        ResponsesBuilder, Schema,
        path::{Operation, OperationBuilder, Parameter, ParameterBuilder, ParameterIn},
        request_body::{RequestBody, RequestBodyBuilder},
        schema::{ArrayBuilder, SchemaType, Type},
        security::{
            ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityRequirement, SecurityScheme,
        },
    },
};

use crate::{
    access::Access,
    error::{PROBLEM_JSON, ProblemDocument},
    extract::NDJSON,
    router::{Route, routes},
};

/// A DTO's schema, with those it refers to.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    name: fn() -> String,
    collect: fn(&mut Vec<(String, RefOr<Schema>)>),
}

impl Shape {
    /// The shape of a DTO.
    pub fn of<T: ToSchema>() -> Self {
        Self {
            name: || T::name().into_owned(),
            collect: |schemas| {
                schemas.push((T::name().into_owned(), T::schema()));
                T::schemas(schemas);
            },
        }
    }

    fn reference(self) -> Ref {
        Ref::from_schema_name((self.name)())
    }
}

/// The document that `GET /openapi.json` answers.
pub fn document() -> OpenApi {
    let routes = routes();
    let mut schemas = Vec::new();
    (Shape::of::<ProblemDocument>().collect)(&mut schemas);
    for shape in routes
        .iter()
        .flat_map(|route| [route.body, route.answer])
        .flatten()
    {
        (shape.collect)(&mut schemas);
    }
    let mut components = ComponentsBuilder::new()
        .security_scheme(
            "apikey",
            SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::new("apikey"))),
        )
        .security_scheme(
            "bearer",
            SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)),
        );
    for (name, schema) in schemas {
        components = components.schema(name, schema);
    }
    let mut paths = PathsBuilder::new().build();
    for route in &routes {
        paths.add_path_operation(
            route.path,
            vec![http_method(route.method)],
            operation(route),
        );
    }
    let info = InfoBuilder::new()
        .title("Guerdon")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(include_str!("openapi.md")))
        .license(Some(License::new("Apache-2.0")));
    let mut document = OpenApiBuilder::new()
        .paths(paths)
        .components(Some(components.build()));
    document = document.info(info.build());
    document.build()
}

fn http_method(method: &str) -> HttpMethod {
    match method {
        "GET" => HttpMethod::Get,
        "POST" => HttpMethod::Post,
        "PATCH" => HttpMethod::Patch,
        _ => HttpMethod::Delete,
    }
}

fn operation(route: &Route) -> Operation {
    let tag = route.path.split('/').nth(1).unwrap_or_default();
    let id = format!("{} {}", route.method, route.path);
    let mut operation = OperationBuilder::new()
        .tag(tag)
        .operation_id(Some(operation_id(&id)))
        .summary(Some(route.summary))
        .description(Some(access_note(route.access)))
        .securities(Some(["apikey", "bearer"].map(|scheme| {
            SecurityRequirement::new::<_, [&str; 0], _>(scheme, [])
        })))
        .responses(responses(route));
    for name in path_parameters(route.path) {
        operation = operation.parameter(parameter(name, ParameterIn::Path, "", Required::True));
    }
    if let Some(list) = route.list {
        for parameter in list_parameters(list) {
            operation = operation.parameter(parameter);
        }
    }
    if let Some((name, what)) = route.query {
        operation = operation.parameter(parameter(name, ParameterIn::Query, what, Required::False));
    }
    if route.method == "POST" {
        let note = "Makes the request safe to repeat for 24 hours.";
        operation = operation.parameter(parameter(
            "Idempotency-Key",
            ParameterIn::Header,
            note,
            Required::False,
        ));
    }
    if let Some(body) = route.body {
        operation = operation.request_body(Some(request_body(body, route.many)));
    }
    if route.many {
        let about = "`partial` makes what can be made; without it nothing is made where a line is \
                     refused.";
        operation = operation.parameter(parameter(
            "mode",
            ParameterIn::Query,
            about,
            Required::False,
        ));
    }
    operation.build()
}

/// A resource, or many of them: a line each or in one array.
fn request_body(shape: Shape, many: bool) -> RequestBody {
    let one = ContentBuilder::new()
        .schema(Some(shape.reference()))
        .build();
    let body = RequestBodyBuilder::new();
    if !many {
        return body.content("application/json", one).build();
    }
    let array = ArrayBuilder::new().items(shape.reference()).build();
    let array = ContentBuilder::new().schema(Some(array)).build();
    body.content(NDJSON, one)
        .content("application/json", array)
        .build()
}

/// `POST /orders/{id}/pay` is `postOrdersByIdPay`.
fn operation_id(route: &str) -> String {
    let mut id = String::new();
    for word in route
        .split(|c: char| !c.is_alphanumeric() && c != '{')
        .filter(|w| !w.is_empty())
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

fn access_note(access: Access) -> &'static str {
    match access {
        Access::User => "Any authenticated caller; users see and change only what is theirs.",
        Access::Admin => "Needs the role `admin`.",
    }
}

fn path_parameters(path: &str) -> impl Iterator<Item = &str> {
    path.split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

fn parameter(name: &str, place: ParameterIn, about: &str, required: Required) -> Parameter {
    let text = ObjectBuilder::new()
        .schema_type(SchemaType::Type(Type::String))
        .build();
    ParameterBuilder::new()
        .name(name)
        .parameter_in(place)
        .required(required)
        .description(Some(about).filter(|about| !about.is_empty()))
        .schema(Some(Schema::Object(text)))
        .build()
}

fn list_parameters(list: &ListTable) -> Vec<Parameter> {
    let query =
        |name: &str, about: &str| parameter(name, ParameterIn::Query, about, Required::False);
    let mut parameters: Vec<Parameter> = list
        .fields
        .iter()
        .filter(|field| field.filterable)
        .map(|field| query(&format!("filter[{}]", field.name), &operators(field.class)))
        .collect();
    if !list.paged {
        return parameters;
    }
    let sortable: Vec<_> = list
        .fields
        .iter()
        .filter(|f| f.sortable)
        .map(|f| f.name)
        .collect();
    if !sortable.is_empty() {
        let about = format!(
            "A comma list, `-` for descending, of: {}.",
            sortable.join(", ")
        );
        parameters.push(query("sort", &about));
    }
    if !list.includes.is_empty() {
        let names: Vec<_> = list.includes.iter().map(|include| include.name).collect();
        parameters.push(query(
            "include",
            &format!("A comma list of: {}.", names.join(", ")),
        ));
    }
    parameters.push(query("page[size]", "1 to 1000, default 30."));
    parameters.push(query("page[number]", "From 1."));
    parameters.push(query(
        "page[after]",
        "A `nextCursor`, instead of `page[number]`.",
    ));
    parameters
}

fn operators(class: Class) -> String {
    match class {
        Class::Id | Class::Code | Class::CaselessCode => {
            "A value, `in:a,b` or `nin:a,b`.".to_owned()
        }
        Class::Enum(values) => {
            format!("A value, `in:a,b` or `nin:a,b`, of: {}.", values.join(", "))
        }
        Class::Like => "A part of the text, a pattern with `%`, `like:` or `ilike:`.".to_owned(),
        Class::ILike => {
            "A part of the text in any case, a pattern with `%`, `like:` or `ilike:`.".to_owned()
        }
        Class::Bool => "`true` or `false`.".to_owned(),
        Class::Search => {
            "Words that all occur, the last one as the start of a word, without regard \
                          to case and accents. Without a sort, what matches best comes first."
                .to_owned()
        }
        Class::Flag => "`true` or `false`; see the description of the list.".to_owned(),
        Class::Number | Class::Money => {
            "A number, or `gt:`, `gte:`, `lt:`, `lte:` and a number.".to_owned()
        }
        Class::Time => "A time, or `gt:`, `gte:`, `lt:`, `lte:` and a time (RFC 3339).".to_owned(),
    }
}

fn responses(route: &Route) -> ResponsesBuilder {
    let problem = ContentBuilder::new()
        .schema(Some(Shape::of::<ProblemDocument>().reference()))
        .build();
    let problem = ResponseBuilder::new()
        .description("A problem; `/docs/errors` lists the codes.")
        .content(PROBLEM_JSON, problem);
    let success = ResponseBuilder::new().description(match route.success {
        StatusCode::CREATED => "Created.",
        StatusCode::NO_CONTENT => "Done.",
        _ => "Success.",
    });
    let success = match route.answer {
        None => success,
        Some(line) if route.lines => {
            let content = ContentBuilder::new().schema(Some(line.reference())).build();
            success.content(NDJSON, content)
        }
        Some(answer) => {
            let content = ContentBuilder::new()
                .schema(Some(envelope(route, answer)))
                .build();
            success.content("application/json", content)
        }
    };
    ResponsesBuilder::new()
        .response(route.success.as_str(), success.build())
        .response("default", problem.build())
}

/// `{"data": resource}`, or `{"data": [resource], "total": n}`.
fn envelope(route: &Route, answer: Shape) -> Schema {
    let object = ObjectBuilder::new().required("data");
    let object = if route.list.is_some() {
        let integer = ObjectBuilder::new()
            .schema_type(SchemaType::Type(Type::Integer))
            .build();
        let text = ObjectBuilder::new()
            .schema_type(SchemaType::Type(Type::String))
            .build();
        object
            .property(
                "data",
                ArrayBuilder::new().items(answer.reference()).build(),
            )
            .property("total", Schema::Object(integer))
            .property("nextCursor", Schema::Object(text))
            .required("total")
    } else {
        object.property("data", answer.reference())
    };
    Schema::Object(object.build())
}

/// The page that `type` of a problem leads to, as HTML.
pub fn errors_page() -> String {
    let row = |code: &Code| {
        let (status, about) = (code.http().as_u16(), code.about().replace('`', ""));
        format!(
            "<tr id=\"{code}\"><td><code>{code}</code></td><td>{status}</td><td>{about}</td></tr>\n"
        )
    };
    let rows: String = Code::ALL.iter().map(row).collect();
    include_str!("errors.html").replace("<!-- rows -->", &rows)
}
