//! The query of list and include requests, parsed from the raw text since order and repeats matter.

use axum::{
    extract::{FromRequestParts, Request, State},
    http::request::Parts,
    middleware::Next,
    response::Response,
};
use platform::{
    clock::to_proto,
    list::{check, query},
};
use prost_types::Timestamp;
use proto::{common::v1::ListRequest, lists::ListTable};

use crate::{App, error::Problem};

/// `filter[…]`, `sort`, `page[…]` and `include` as every list RPC takes them.
#[derive(Debug)]
pub(crate) struct ListParams(pub(crate) ListRequest);

/// `at`: a moment in the past.
#[derive(Debug)]
pub(crate) struct At(pub(crate) Option<Timestamp>);

impl FromRequestParts<App> for At {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        let at = query::time(parts.uri.query().unwrap_or_default(), "at")?;
        Ok(Self(at.map(to_proto)))
    }
}

/// `include` alone, for reads of one resource.
#[derive(Debug)]
pub(crate) struct Includes(pub(crate) Vec<String>);

impl FromRequestParts<App> for ListParams {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        Ok(Self(query::parse(parts.uri.query().unwrap_or_default())?))
    }
}

impl FromRequestParts<App> for Includes {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &App) -> Result<Self, Problem> {
        let ListParams(list) = ListParams::from_request_parts(parts, state).await?;
        Ok(Self(list.include))
    }
}

/// The includes of a resource without relations.
const NONE: ListTable = ListTable::new("", &[]);

/// Refuses a read of one resource that asks for relations which it does not have.
pub(crate) async fn check_includes(
    State(table): State<Option<&'static ListTable>>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    if let Some(raw) = request.uri().query() {
        check::includes(table.unwrap_or(&NONE), &query::parse(raw)?.include)?;
    }
    Ok(next.run(request).await)
}
