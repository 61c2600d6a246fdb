//! A row of the route table, and the builder methods that rows are written with.

use std::any::type_name_of_val;

use axum::{
    handler::Handler,
    http::{Method, StatusCode},
    routing::{self, MethodFilter, MethodRouter},
};
use proto::lists::ListTable;
use utoipa::ToSchema;

use crate::{
    App, access::Access, deprecation::Deprecation, extract::NDJSON, openapi::Shape,
    representation::conditional::Conditions, resources::orders,
};

/// A row of the route table. Its summary in the API reference is the first line of the handler's
/// doc comment.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a property of a route, and none depends on another"
)]
pub(crate) struct Route {
    pub(crate) method: Method,
    /// The path as in the contract, with parameters in braces.
    pub(crate) path: &'static str,
    pub(crate) access: Access,
    /// Full name of the handler function: `gateway::resources::orders::list`.
    pub(crate) handler_name: &'static str,
    /// The route that this one is another path of.
    pub(crate) alias_of: Option<&'static str>,
    pub(crate) body: Option<Shape>,
    /// Whether the body cannot be left out.
    pub(crate) needs_body: bool,
    /// Whether the body holds many resources, as NDJSON or as an array.
    pub(crate) bulk: bool,
    pub(crate) success: StatusCode,
    pub(crate) response: Option<Shape>,
    /// Filters and sorts of a list; the response is then a page of resources.
    pub(crate) list: Option<&'static ListTable>,
    /// The list whose relations the response can embed, where it is one resource.
    pub(crate) includes: Option<&'static ListTable>,
    pub(crate) form: Form,
    /// Whether the response shows a secret. It is not compressed: its length would tell about it.
    pub(crate) secret: bool,
    /// Whether users, who could try emails with it, have a stricter limit.
    pub(crate) limits_users: bool,
    pub(crate) deprecation: Option<Deprecation>,
    /// Names, descriptions and examples of the query parameters besides those of the list.
    pub(crate) query_params: Vec<(&'static str, &'static str, &'static str)>,
    /// Whether the service compares the version of the resource before it changes it.
    pub(crate) versioned: bool,
    pub(super) handler: MethodRouter<App>,
}

/// The form of a response with a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// A resource or a page in `data`.
    Envelope,
    /// Many resources as NDJSON.
    Ndjson,
    /// Server-sent events.
    EventStream,
    /// A resource in `data`, as a page to print, or as a PDF.
    Printable,
    /// The resource itself, as another standard has it.
    Document,
}

impl Form {
    /// Returns the media types that a response can have.
    pub(crate) const fn media_types(self) -> &'static [&'static str] {
        match self {
            Self::Envelope | Self::Document => &["application/json"],
            Self::Printable => orders::receipt::FORMS,
            Self::Ndjson => &[NDJSON],
            Self::EventStream => &["text/event-stream"],
        }
    }
}

type Path = &'static str;

pub(super) fn get<T: 'static>(path: Path, access: Access, handler: impl Handler<T, App>) -> Route {
    Route::new(Method::GET, path, access, handler)
}

pub(super) fn post<T: 'static>(path: Path, access: Access, handler: impl Handler<T, App>) -> Route {
    Route::new(Method::POST, path, access, handler)
}

pub(super) fn patch<T: 'static>(
    path: Path,
    access: Access,
    handler: impl Handler<T, App>,
) -> Route {
    Route::new(Method::PATCH, path, access, handler)
}

/// Responds 204, as every `DELETE` does.
pub(super) fn delete<T: 'static>(
    path: Path,
    access: Access,
    handler: impl Handler<T, App>,
) -> Route {
    Route::new(Method::DELETE, path, access, handler).no_content()
}

impl Route {
    fn new<T: 'static>(
        method: Method,
        path: Path,
        access: Access,
        handler: impl Handler<T, App>,
    ) -> Self {
        let filter = MethodFilter::try_from(method.clone()).expect("a standard method");
        Self {
            method,
            path,
            access,
            handler_name: type_name_of_val(&handler),
            alias_of: None,
            body: None,
            needs_body: false,
            bulk: false,
            success: StatusCode::OK,
            response: None,
            list: None,
            includes: None,
            form: Form::Envelope,
            secret: false,
            limits_users: false,
            deprecation: None,
            query_params: Vec::new(),
            versioned: false,
            handler: routing::on(filter, handler),
        }
    }

    /// Takes a JSON body. It may be left out where all fields are optional, but for changes: there
    /// the body is what is asked for.
    pub(super) fn body<T: ToSchema>(mut self) -> Self {
        let shape = Shape::of::<T>();
        self.needs_body = self.method == Method::PATCH || shape.has_required_fields();
        self.body = Some(shape);
        self
    }

    /// Does not do without a body, though all its fields are optional.
    pub(super) fn needs_body(mut self) -> Self {
        self.needs_body = true;
        self
    }

    /// Takes many resources, as NDJSON or as an array.
    pub(super) fn bulk<T: ToSchema>(mut self) -> Self {
        self.bulk = true;
        self.body::<T>()
    }

    /// Responds 200 with a resource.
    pub(super) fn response<T: ToSchema>(mut self) -> Self {
        self.response = Some(Shape::of::<T>());
        self
    }

    /// Responds 201 with a resource.
    pub(super) fn created<T: ToSchema>(mut self) -> Self {
        self.success = StatusCode::CREATED;
        self.response::<T>()
    }

    /// Responds 204.
    pub(super) fn no_content(mut self) -> Self {
        self.success = StatusCode::NO_CONTENT;
        self
    }

    /// Responds with a page of resources.
    pub(super) fn page<T: ToSchema>(mut self, list: &'static ListTable) -> Self {
        self.list = Some(list);
        self.response::<T>()
    }

    /// Takes `include` with the relations of this list.
    pub(super) fn includes(mut self, list: &'static ListTable) -> Self {
        self.includes = Some(list);
        self
    }

    /// Responds with many resources as NDJSON.
    pub(super) fn ndjson<T: ToSchema>(mut self) -> Self {
        self.form = Form::Ndjson;
        self.response::<T>()
    }

    /// Responds with a stream of server-sent events whose data is this.
    pub(super) fn event_stream<T: ToSchema>(mut self) -> Self {
        self.form = Form::EventStream;
        self.response::<T>()
    }

    /// Responds 200 with a resource, as a page to print, or as a PDF.
    pub(super) fn printable<T: ToSchema>(mut self) -> Self {
        self.form = Form::Printable;
        self.response::<T>()
    }

    /// Responds with a document in the form of another standard, without `data` around it.
    pub(super) fn document<T: ToSchema>(mut self) -> Self {
        self.form = Form::Document;
        self.response::<T>()
    }

    /// Takes a query parameter besides those of the list.
    pub(super) fn query_param(
        mut self,
        name: &'static str,
        description: &'static str,
        example: &'static str,
    ) -> Self {
        self.query_params.push((name, description, example));
        self
    }

    /// Responds with a secret, such as a key or a token.
    pub(super) fn secret(mut self) -> Self {
        self.secret = true;
        self
    }

    /// Has a stricter limit for users.
    pub(super) fn limits_users(mut self) -> Self {
        self.limits_users = true;
        self
    }

    /// Changes a resource whose version its service compares with `If-Match`.
    pub(super) fn versioned(mut self) -> Self {
        self.versioned = true;
        self
    }

    /// Announces that the route will go.
    #[cfg_attr(
        not(test),
        expect(
            dead_code,
            reason = "no route is to go; the next one that is has its row"
        )
    )]
    pub(super) fn deprecated(mut self, deprecation: Deprecation) -> Self {
        self.deprecation = Some(deprecation);
        self
    }

    /// Returns whether it reads one resource.
    pub(crate) fn reads_one(&self) -> bool {
        let is_one = matches!(self.form, Form::Envelope | Form::Printable | Form::Document);
        self.method == Method::GET && self.list.is_none() && is_one
    }

    /// Returns the media types of its response, unless that has no body.
    pub(crate) fn produces(&self) -> Option<&'static [&'static str]> {
        self.response.map(|_| self.form.media_types())
    }

    /// Returns what the route does with conditions.
    pub(crate) fn conditions(&self) -> Conditions {
        if self.reads_one() {
            Conditions::Compared
        } else if self.versioned {
            Conditions::PassedOn
        } else {
            Conditions::Refused
        }
    }

    /// Marks another path of the route with this path.
    pub(super) fn alias_of(mut self, path: &'static str) -> Self {
        self.alias_of = Some(path);
        self
    }
}
