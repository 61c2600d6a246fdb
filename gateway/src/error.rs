//! Converts failures and gRPC statuses to problem documents (RFC 9457).

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use platform::{
    error::{Code, Failure, FieldCode},
    telemetry::{self, LogLimit},
};
use serde::Serialize;
use tonic::Status;
use utoipa::openapi::{
    Object, ObjectBuilder,
    schema::{SchemaType, Type},
};

use crate::request_id::RequestId;

/// Media type of every error body.
pub(crate) const PROBLEM_JSON: &str = "application/problem+json";

/// The error of handlers and middleware.
#[derive(Debug)]
pub(crate) struct Problem(pub(crate) Failure);

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        if failure.code.is_public() {
            Self(failure)
        } else {
            Self(Failure::internal(failure))
        }
    }
}

impl From<Status> for Problem {
    fn from(status: Status) -> Self {
        Failure::from_status(&status).into()
    }
}

impl IntoResponse for Problem {
    /// Sets the status and keeps the failure; [`render`] knows the request and writes the body.
    fn into_response(self) -> Response {
        let mut response = self.0.code.http().into_response();
        response.extensions_mut().insert(Arc::new(self.0));
        response
    }
}

/// Marks an error response, by its extension, whose body [`render`] leaves as it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnBody;

/// The document. `code`, `errors` and `data` stand at the top level for the public clients.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProblemDocument {
    /// Link to the page about the code.
    pub(crate) r#type: String,
    /// Short name of the code.
    pub(crate) title: &'static str,
    /// The HTTP status.
    pub(crate) status: u16,
    /// Description of this occurrence.
    pub(crate) detail: String,
    /// Path of the request.
    pub(crate) instance: String,
    /// Stable code for programs.
    #[schema(schema_with = code_schema)]
    pub(crate) code: &'static str,
    /// One item for each field at fault.
    pub(crate) errors: Vec<FieldProblem>,
    /// Always an empty object.
    #[schema(value_type = Object)]
    pub(crate) data: serde_json::Map<String, serde_json::Value>,
    /// The same as in the header `X-Request-Id`.
    pub(crate) request_id: String,
    /// Id of the trace of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) trace_id: Option<String>,
}

/// An error of one field.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct FieldProblem {
    /// Path of the field, such as `lines[0].quantity`.
    pub(crate) field: String,
    /// Code of the error, for programs.
    #[schema(schema_with = field_code_schema)]
    pub(crate) code: &'static str,
    /// Message for people.
    pub(crate) message: String,
}

/// Describes the codes of a problem.
fn code_schema() -> Object {
    texts(Code::PUBLIC.iter().map(|code| code.as_str()))
}

/// Describes the codes of a field: those of its form, and those of rules and states.
fn field_code_schema() -> Object {
    let is_of_field = |code: &&Code| {
        matches!(
            code.http(),
            StatusCode::CONFLICT | StatusCode::UNPROCESSABLE_ENTITY
        )
    };
    let domain = Code::PUBLIC
        .iter()
        .filter(is_of_field)
        .map(|code| code.as_str());
    texts(
        FieldCode::FORM
            .iter()
            .map(|code| code.as_str())
            .chain(domain),
    )
}

fn texts(codes: impl Iterator<Item = &'static str>) -> Object {
    // `rate_not_found` has two statuses.
    let codes: BTreeSet<_> = codes.collect();
    ObjectBuilder::new()
        .schema_type(SchemaType::Type(Type::String))
        .enum_values(Some(codes))
        .build()
}

/// Writes the body of every error response, those of axum and its layers included.
pub(crate) async fn render(
    request: Request,
    next: impl AsyncFnOnce(Request) -> Response,
) -> Response {
    let path = request.uri().path().to_owned();
    let request_id = request
        .extensions()
        .get::<RequestId>()
        .cloned()
        .unwrap_or_default();
    let response = next(request).await;
    let status = response.status();
    let is_error = status.is_client_error() || status.is_server_error();
    if !is_error || response.extensions().get::<OwnBody>().is_some() {
        return response;
    }
    let failure = response
        .extensions()
        .get::<Arc<Failure>>()
        .cloned()
        .unwrap_or_else(|| Arc::new(failure_of_status(status)));
    log(&failure);
    let document = document(&failure, path, request_id);
    with_document(response, &failure, &document)
}

/// Converts the bare status that axum and its layers respond with.
fn failure_of_status(status: StatusCode) -> Failure {
    let code = match status {
        StatusCode::NOT_FOUND => Code::RouteNotFound,
        StatusCode::METHOD_NOT_ALLOWED => Code::MethodNotAllowed,
        StatusCode::PAYLOAD_TOO_LARGE => Code::PayloadTooLarge,
        StatusCode::REQUEST_TIMEOUT | StatusCode::GATEWAY_TIMEOUT => Code::Timeout,
        StatusCode::SERVICE_UNAVAILABLE => Code::Unavailable,
        _ => Code::Internal,
    };
    Failure::new(code, code.about())
}

fn document(failure: &Failure, instance: String, request_id: RequestId) -> ProblemDocument {
    ProblemDocument {
        r#type: format!("/docs/errors#{}", failure.code),
        title: failure.code.title(),
        status: failure.code.http().as_u16(),
        detail: failure.public_detail().to_owned(),
        instance,
        code: failure.code.as_str(),
        errors: failure
            .fields
            .iter()
            .map(|field| FieldProblem {
                field: field.field.clone(),
                code: field.code.as_str(),
                message: field.message.clone(),
            })
            .collect(),
        data: serde_json::Map::new(),
        request_id: request_id.0,
        trace_id: telemetry::current_trace_id(),
    }
}

/// Rounds a delay up: who comes back a fraction of a second early is refused again.
fn whole_seconds(delay: Duration) -> HeaderValue {
    let seconds = delay.as_secs() + u64::from(delay.subsec_nanos() > 0);
    HeaderValue::from(seconds.max(1))
}

fn with_document(response: Response, failure: &Failure, document: &ProblemDocument) -> Response {
    let (mut parts, _) = response.into_parts();
    parts.status = failure.code.http();
    parts.headers.remove(header::CONTENT_LENGTH);
    parts
        .headers
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(PROBLEM_JSON));
    if let Some(delay) = failure.retry_after {
        parts
            .headers
            .insert(header::RETRY_AFTER, whole_seconds(delay));
    }
    if failure.code == Code::Unauthenticated {
        parts
            .headers
            .insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    let body = serde_json::to_vec(document).expect("a document of strings serializes");
    Response::from_parts(parts, Body::from(body))
}

/// Logs 5xx with their cause, and 4xx at debug level, without the detail and the names of fields: they quote
/// what the client sent, such as a password in a wrong field or as its name.
fn log(failure: &Failure) {
    static UNAVAILABLE: LogLimit = LogLimit::new();
    if failure.code == Code::Unavailable {
        if let Some(left_out) = UNAVAILABLE.admit() {
            log_fault(failure, left_out);
        }
    } else if failure.code.http().is_server_error() {
        log_fault(failure, 0);
    } else {
        let errors = failure.fields.iter().map(|field| field.code.as_str());
        let errors = errors.collect::<Vec<_>>().join(" ");
        tracing::debug!(code = %failure.code, errors, "gateway: request refused");
    }
}

/// Logs a failure with its cause, which the response hides, and how many were not logged since the last one.
fn log_fault(failure: &Failure, left_out: u64) {
    let left_out = (left_out > 0).then_some(left_out);
    let cause = failure.source.as_ref().map(tracing::field::display);
    let (code, detail) = (failure.code, &failure.detail);
    tracing::error!(%code, %detail, cause, left_out, "gateway: request failed");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_rounded_up_to_whole_seconds() {
        for (millis, seconds) in [(0, "1"), (1, "1"), (1_000, "1"), (1_001, "2"), (6_999, "7")] {
            assert_eq!(whole_seconds(Duration::from_millis(millis)), seconds);
        }
    }
}
