//! A row of the route table, and the words it is written in.

use axum::{handler::Handler, http::StatusCode, routing::MethodRouter};
use proto::lists::ListTable;

use crate::{App, access::Access, openapi::Shape};

/// A row of the table.
pub struct Route {
    /// `GET`, `POST`, `PATCH` or `DELETE`.
    pub method: &'static str,
    /// As in the contract, with parameters in braces.
    pub path: &'static str,
    /// Who may call it.
    pub access: Access,
    /// One line for the API reference.
    pub summary: &'static str,
    /// The body it takes.
    pub body: Option<Shape>,
    /// Whether the body holds many of them, as lines or as an array.
    pub many: bool,
    /// The status of success.
    pub success: StatusCode,
    /// The resource it answers.
    pub answer: Option<Shape>,
    /// What its list can be asked; then the answer is a page of the resource.
    pub list: Option<&'static ListTable>,
    /// Whether it answers many resources, a line each.
    pub lines: bool,
    /// A query parameter besides the list's: its name, and what it does.
    pub query: Option<(&'static str, &'static str)>,
    pub(super) handler: MethodRouter<App>,
}

type Path = &'static str;
type Text = &'static str;

pub(super) fn get<T: 'static>(
    path: Path,
    access: Access,
    summary: Text,
    handler: impl Handler<T, App>,
) -> Route {
    Route::new("GET", path, access, summary, axum::routing::get(handler))
}

pub(super) fn post<T: 'static>(
    path: Path,
    access: Access,
    summary: Text,
    handler: impl Handler<T, App>,
) -> Route {
    Route::new("POST", path, access, summary, axum::routing::post(handler))
}

pub(super) fn patch<T: 'static>(
    path: Path,
    access: Access,
    summary: Text,
    handler: impl Handler<T, App>,
) -> Route {
    Route::new(
        "PATCH",
        path,
        access,
        summary,
        axum::routing::patch(handler),
    )
}

pub(super) fn delete<T: 'static>(
    path: Path,
    access: Access,
    summary: Text,
    handler: impl Handler<T, App>,
) -> Route {
    Route::new(
        "DELETE",
        path,
        access,
        summary,
        axum::routing::delete(handler),
    )
    .nothing()
}

impl Route {
    fn new(
        method: &'static str,
        path: Path,
        access: Access,
        summary: Text,
        handler: MethodRouter<App>,
    ) -> Self {
        let success = StatusCode::OK;
        Self {
            method,
            path,
            access,
            summary,
            body: None,
            many: false,
            success,
            answer: None,
            list: None,
            lines: false,
            query: None,
            handler,
        }
    }

    pub(super) fn takes<T: utoipa::ToSchema>(self) -> Self {
        Self {
            body: Some(Shape::of::<T>()),
            ..self
        }
    }

    pub(super) fn takes_many<T: utoipa::ToSchema>(self) -> Self {
        Self {
            many: true,
            ..self.takes::<T>()
        }
    }

    pub(super) fn lines<T: utoipa::ToSchema>(self) -> Self {
        Self {
            lines: true,
            ..self.one::<T>()
        }
    }

    pub(super) fn one<T: utoipa::ToSchema>(self) -> Self {
        Self {
            answer: Some(Shape::of::<T>()),
            ..self
        }
    }

    pub(super) fn creates<T: utoipa::ToSchema>(self) -> Self {
        Self {
            success: StatusCode::CREATED,
            ..self.one::<T>()
        }
    }

    pub(super) fn page<T: utoipa::ToSchema>(self, list: &'static ListTable) -> Self {
        Self {
            list: Some(list),
            ..self.one::<T>()
        }
    }

    pub(super) fn asks(self, name: Text, what: Text) -> Self {
        Self {
            query: Some((name, what)),
            ..self
        }
    }

    pub(super) fn nothing(self) -> Self {
        Self {
            success: StatusCode::NO_CONTENT,
            answer: None,
            ..self
        }
    }
}
