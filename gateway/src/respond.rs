//! The response envelopes of the public API.

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use proto::common::v1::PageInfo;
use serde::Serialize;

use crate::representation::Version;

/// A single resource: `{"data": …}` with 200, or 201 and `Location` when it was [`created`].
///
/// [`created`]: Data::created
#[derive(Debug)]
pub(crate) struct Data<T> {
    resource: T,
    location: Option<String>,
    replayed: bool,
    version: Option<Version>,
}

/// Bytes of the rows of a page, unless one row alone has more. The services end pages by the same
/// number, but JSON is longer than their rows.
const MAX_PAGE_BYTES: usize = platform::list::MAX_PAGE_BYTES;

/// A page: `{"data": […], "total": …, "nextCursor": …}`.
#[derive(Debug)]
pub(crate) struct List<T> {
    data: Vec<T>,
    total: u64,
    next_cursor: Option<String>,
    /// The cursor that follows each row, if the page may end before its last.
    row_cursors: Vec<String>,
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
            version: None,
        }
    }

    /// Builds a 201 response with a location.
    pub(crate) fn created(resource: T, location: String) -> Self {
        Self {
            resource,
            location: Some(location),
            replayed: false,
            version: None,
        }
    }

    /// Returns the resource, to be completed before it is sent.
    pub(crate) fn resource_mut(&mut self) -> &mut T {
        &mut self.resource
    }

    /// Adds the version of the resource, which its tag shows.
    #[must_use]
    pub(crate) fn with_version(mut self, version: i64) -> Self {
        self.version = Some(Version(version));
        self
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
            row_cursors: page.row_cursors,
        }
    }

    /// Builds a list that has no pages.
    pub(crate) fn whole<P: Into<T>>(rows: Vec<P>) -> Self {
        let total = rows.len() as u64;
        let page = PageInfo {
            total,
            ..PageInfo::default()
        };
        Self::page(rows, Some(page))
    }
}

impl<T: Serialize> List<T> {
    /// Writes the rows as JSON, as many as `max_bytes` hold and at least one.
    fn into_json(mut self, max_bytes: usize) -> Vec<u8> {
        let mut json = br#"{"data":["#.to_vec();
        for (n, row) in self.data.iter().enumerate() {
            let end = json.len();
            if n > 0 {
                json.push(b',');
            }
            write_json(&mut json, row);
            // A list without cursors has no pages, or its rows are small.
            if json.len() > max_bytes
                && let Some(cursor) = n.checked_sub(1).and_then(|last| self.row_cursors.get(last))
            {
                json.truncate(end);
                self.next_cursor = Some(cursor.clone());
                break;
            }
        }
        json.extend_from_slice(br#"],"total":"#);
        write_json(&mut json, &self.total);
        if let Some(cursor) = &self.next_cursor {
            json.extend_from_slice(br#","nextCursor":"#);
            write_json(&mut json, cursor);
        }
        json.push(b'}');
        json
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
        if let Some(version) = self.version {
            response.extensions_mut().insert(version);
        }
        mark_replay(response, self.replayed)
    }
}

impl<T: Serialize> IntoResponse for List<T> {
    fn into_response(self) -> Response {
        json_response(StatusCode::OK, self.into_json(MAX_PAGE_BYTES))
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
    let mut json = Vec::new();
    write_json(&mut json, body);
    json_response(status, json)
}

fn write_json(json: &mut Vec<u8>, value: &impl Serialize) {
    serde_json::to_writer(json, value).expect("DTOs hold nothing that cannot be JSON");
}

fn json_response(status: StatusCode, body: Vec<u8>) -> Response {
    let content_type = [(header::CONTENT_TYPE, "application/json")];
    (status, content_type, Body::from(body)).into_response()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Rows of 12 bytes of JSON each, with a comma 13.
    fn page(rows: usize, row_cursors: bool) -> List<String> {
        let cursors = (0..rows).map(|row| format!("after {row}"));
        let info = PageInfo {
            total: 100,
            next_cursor: "next".into(),
            row_cursors: cursors.filter(|_| row_cursors).collect(),
        };
        List::page(vec!["0123456789"; rows], Some(info))
    }

    fn shown(page: List<String>, max_bytes: usize) -> (usize, Value) {
        let json = page.into_json(max_bytes);
        let json: Value = serde_json::from_slice(&json).unwrap();
        assert_eq!(json["total"], 100);
        (
            json["data"].as_array().unwrap().len(),
            json["nextCursor"].clone(),
        )
    }

    #[test]
    fn a_page_ends_where_its_json_would_pass_the_limit() {
        let start = r#"{"data":["#.len();
        for (max_bytes, rows, cursor) in [
            (1_000, 5, json!("next")),
            (start + 64, 5, json!("next")),
            (start + 63, 4, json!("after 3")),
            (start + 25, 2, json!("after 1")),
            (start + 12, 1, json!("after 0")),
            (0, 1, json!("after 0")),
        ] {
            assert_eq!(
                shown(page(5, true), max_bytes),
                (rows, cursor),
                "{max_bytes}"
            );
        }
        // Nothing is lost of a list that cannot be continued.
        assert_eq!(shown(page(5, false), 0), (5, json!("next")));
        assert_eq!(shown(page(0, true), 0), (0, json!("next")));
    }
}
