//! Conditional requests (RFC 9110, 13): entity tags of single resources, and 304 for what a client has.
//!
//! The gateway compares nothing before a change, as another change could come between.

use axum::{
    body::{self, Body},
    extract::{Request, State},
    http::{
        HeaderMap, Method, StatusCode,
        header::{CONTENT_LENGTH, CONTENT_TYPE, ETAG, IF_MATCH, IF_NONE_MATCH},
    },
    middleware::Next,
    response::Response,
};
use platform::error::{Code, Failure};

use super::tag::{Condition, EntityTag};
use crate::error::Problem;

/// What a route does with conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Conditions {
    /// A single resource, whose tag is compared.
    Compared,
    /// Refused, as a condition that is ignored would be taken to hold.
    Refused,
}

/// Decides on the conditions of a request, and tags the resource of its response.
pub(crate) async fn decide(
    State(conditions): State<Conditions>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    match conditions {
        Conditions::Compared => {
            let if_match = Condition::of(request.headers(), &IF_MATCH);
            let if_none_match = Condition::of(request.headers(), &IF_NONE_MATCH);
            let response = tagged(next.run(request).await).await?;
            Ok(compare(response, if_match, if_none_match)?)
        }
        Conditions::Refused => {
            refuse(request.method(), request.headers())?;
            Ok(next.run(request).await)
        }
    }
}

/// Sets the tag of a resource.
async fn tagged(response: Response) -> Result<Response, Problem> {
    if response.status() != StatusCode::OK {
        return Ok(response);
    }
    let (mut parts, body) = response.into_parts();
    // It is in memory already.
    let body = body::to_bytes(body, usize::MAX).await;
    let body = body.map_err(Failure::internal)?;
    let tag = EntityTag::of(&body).header();
    parts.headers.insert(ETAG, tag);
    Ok(Response::from_parts(parts, Body::from(body)))
}

/// Compares the tag of a resource with the conditions, in the order of RFC 9110, 13.2.2.
fn compare(
    mut response: Response,
    if_match: Option<Condition>,
    if_none_match: Option<Condition>,
) -> Result<Response, Failure> {
    let Some(current) = response.headers().get(ETAG).and_then(EntityTag::read) else {
        return Ok(response);
    };
    if let Some(Condition::Tags(tags)) = if_match {
        let mut strong = tags.iter().filter(|tag| !tag.is_weak);
        if !strong.any(|tag| tag.is_same(&current)) {
            return Err(changed());
        }
    }
    let known = match if_none_match {
        None => return Ok(response),
        Some(Condition::Any) => current,
        // The tag that the client sent says whether its copy is compressed.
        Some(Condition::Tags(tags)) => match tags.into_iter().find(|tag| tag.is_same(&current)) {
            None => return Ok(response),
            Some(tag) => tag,
        },
    };
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    *response.body_mut() = Body::empty();
    let headers = response.headers_mut();
    headers.remove(CONTENT_TYPE);
    headers.remove(CONTENT_LENGTH);
    headers.insert(ETAG, known.header());
    Ok(response)
}

/// Refuses conditions. A read that ignores `If-None-Match` only sends what it need not.
fn refuse(method: &Method, headers: &HeaderMap) -> Result<(), Failure> {
    if headers.contains_key(IF_MATCH) {
        return Err(unsupported("If-Match"));
    }
    if !method.is_safe() && headers.contains_key(IF_NONE_MATCH) {
        return Err(unsupported("If-None-Match"));
    }
    Ok(())
}

fn changed() -> Failure {
    let detail = "If-Match names no current ETag of the resource; read it again";
    Failure::new(Code::PreconditionFailed, detail)
}

fn unsupported(header: &str) -> Failure {
    let detail = format!("{header} cannot be compared here; send the request without it");
    Failure::new(Code::PreconditionFailed, detail)
}
