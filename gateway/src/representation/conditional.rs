//! Conditional requests (RFC 9110, 13): entity tags of single resources, 304 for what a client has, and
//! changes of only that version which a client has seen.
//!
//! The gateway compares nothing before a change, as another change could come between: it passes the
//! versions on, and the service that owns the resource compares them in its transaction.

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
use platform::{
    error::{Code, Failure},
    grpc::precondition::Versions,
};

use super::tag::{Condition, EntityTag, Malformed, Version};
use crate::error::Problem;

/// What a route does with conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Conditions {
    /// A single resource, whose tag is compared.
    Compared,
    /// A change of a resource that has a version, which its service compares.
    PassedOn,
    /// Refused, as a condition that is ignored would be taken to hold.
    Refused,
}

/// Decides on the conditions of a request, and tags the resource of its response.
pub(crate) async fn decide(
    State(conditions): State<Conditions>,
    mut request: Request,
    next: Next,
) -> Result<Response, Problem> {
    match conditions {
        Conditions::Compared => {
            let if_match = if_match(request.headers())?;
            // A read that ignores it only sends what it need not.
            let if_none_match = Condition::of(request.headers(), &IF_NONE_MATCH);
            let if_none_match = if_none_match.unwrap_or_default();
            let response = tagged(next.run(request).await).await?;
            Ok(compare(response, if_match, if_none_match)?)
        }
        Conditions::PassedOn => {
            if let Some(versions) = expected(request.headers())? {
                request.extensions_mut().insert(versions);
            }
            tagged(next.run(request).await).await
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
    let version = parts.extensions.get::<Version>().copied();
    let tag = EntityTag::of(&body, version).header();
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

/// Returns the versions that `If-Match` names; `precondition_failed` where it can match none.
fn expected(headers: &HeaderMap) -> Result<Option<Versions>, Failure> {
    if headers.contains_key(IF_NONE_MATCH) {
        return Err(unsupported("If-None-Match"));
    }
    let tags = match if_match(headers)? {
        None | Some(Condition::Any) => return Ok(None),
        Some(Condition::Tags(tags)) => tags,
    };
    let strong = tags.iter().filter(|tag| !tag.is_weak);
    let versions: Vec<_> = strong.filter_map(EntityTag::version).collect();
    Versions::new(versions).map(Some).ok_or_else(changed)
}

fn if_match(headers: &HeaderMap) -> Result<Option<Condition>, Failure> {
    let detail = "If-Match must be `*` or a list of ETags";
    let malformed = |Malformed| Failure::new(Code::MalformedRequest, detail);
    Condition::of(headers, &IF_MATCH).map_err(malformed)
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
