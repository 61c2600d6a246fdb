//! The response envelopes of the public API.

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use proto::common::v1::PageInfo;
use serde::Serialize;

/// A single resource: `{"data": …}` with 200, or 201 and `Location` when it was [`created`].
///
/// [`created`]: Data::created
#[derive(Debug)]
pub(crate) struct Data<T> {
    resource: T,
    location: Option<String>,
    replayed: bool,
}

/// A page: `{"data": […], "total": …, "nextCursor": …}`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct List<T> {
    data: Vec<T>,
    total: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// 204 without a body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NoContent {
    /// Whether it is the recorded response to an earlier request.
    pub(crate) replayed: bool,
}

impl<T> Data<T> {
    /// Builds a 200 response.
    pub(crate) fn new(resource: T) -> Self {
        Self {
            resource,
            location: None,
            replayed: false,
        }
    }

    /// Builds a 201 response with a location.
    pub(crate) fn created(resource: T, location: String) -> Self {
        Self {
            resource,
            location: Some(location),
            replayed: false,
        }
    }

    /// Returns the resource, to be completed before it is sent.
    pub(crate) fn resource_mut(&mut self) -> &mut T {
        &mut self.resource
    }

    /// Marks the response as the recorded one of an earlier request.
    #[must_use]
    pub(crate) fn replayed(mut self, replayed: bool) -> Self {
        self.replayed = replayed;
        self
    }
}

impl<T> List<T> {
    /// Returns the rows, to be completed before they are sent.
    pub(crate) fn rows_mut(&mut self) -> &mut [T] {
        &mut self.data
    }

    /// Converts the rows and page information of a list RPC.
    pub(crate) fn page<P: Into<T>>(rows: Vec<P>, page: Option<PageInfo>) -> Self {
        let page = page.unwrap_or_default();
        Self {
            data: rows.into_iter().map(Into::into).collect(),
            total: page.total,
            next_cursor: Some(page.next_cursor).filter(|cursor| !cursor.is_empty()),
        }
    }

    /// Builds a list that has no pages.
    pub(crate) fn whole<P: Into<T>>(rows: Vec<P>) -> Self {
        let total = rows.len() as u64;
        Self::page(
            rows,
            Some(PageInfo {
                total,
                next_cursor: String::new(),
            }),
        )
    }
}

impl<T: Serialize> IntoResponse for Data<T> {
    fn into_response(self) -> Response {
        #[derive(Serialize)]
        struct Envelope<T> {
            data: T,
        }
        let status = if self.location.is_some() {
            StatusCode::CREATED
        } else {
            StatusCode::OK
        };
        let mut response = json(
            status,
            &Envelope {
                data: self.resource,
            },
        );
        if let Some(location) = self
            .location
            .and_then(|path| HeaderValue::try_from(path).ok())
        {
            response.headers_mut().insert(header::LOCATION, location);
        }
        mark_replay(response, self.replayed)
    }
}

impl<T: Serialize> IntoResponse for List<T> {
    fn into_response(self) -> Response {
        json(StatusCode::OK, &self)
    }
}

impl IntoResponse for NoContent {
    fn into_response(self) -> Response {
        mark_replay(StatusCode::NO_CONTENT.into_response(), self.replayed)
    }
}

fn mark_replay(mut response: Response, replayed: bool) -> Response {
    if replayed {
        response
            .headers_mut()
            .insert("idempotency-replayed", HeaderValue::from_static("true"));
    }
    response
}

fn json(status: StatusCode, body: &impl Serialize) -> Response {
    let body = serde_json::to_vec(body).expect("DTOs hold nothing that cannot be JSON");
    let content_type = [(header::CONTENT_TYPE, "application/json")];
    (status, content_type, Body::from(body)).into_response()
}
