//! Conversion of [`Failure`] to a gRPC status and back: `ErrorInfo` has the code, `BadRequest` the
//! fields, `RetryInfo` the delay. The cause of a 5xx is not sent.

use std::{collections::HashMap, sync::Arc};

use prost::Message as _;
use tonic::Status;
use tonic_types::{ErrorDetails, FieldViolation, StatusExt};

use super::{Code, Failure, FieldCode, FieldError};

/// `ErrorInfo.domain` of our statuses, which tells them from those of others.
const DOMAIN: &str = "guerdon";

/// Details are sent in trailers, which are limited to 16 KiB, base64 included.
const MAX_DETAIL: usize = 1024;
const MAX_FIELDS: usize = 6 * 1024;

impl From<Failure> for Status {
    fn from(failure: Failure) -> Self {
        let code = failure.code;
        let reason = code.as_str().to_ascii_uppercase();
        let mut details = ErrorDetails::with_error_info(reason, DOMAIN, HashMap::new());
        if !failure.fields.is_empty() {
            details.set_bad_request(violations(&failure.fields));
        }
        if failure.retry_after.is_some() {
            details.set_retry_info(failure.retry_after);
        }
        let message = truncate(failure.public_detail(), MAX_DETAIL);
        let mut status = Self::with_error_details(code.grpc(), message, details);
        if code.http().is_server_error() {
            status.set_source(Arc::new(failure));
        }
        status
    }
}

impl Failure {
    /// Returns the failure of one item of a response: what the status of a call would be, with the same details.
    pub fn into_item_status(self) -> tonic_types::Status {
        let status = Status::from(self);
        let decoded = tonic_types::Status::decode(status.details());
        decoded.unwrap_or_else(|_malformed| tonic_types::Status {
            code: status.code().into(),
            message: status.message().to_owned(),
            details: Vec::new(),
        })
    }

    /// Decodes the status of one item of a peer's response, as [`Failure::from_status`] does that of a call.
    pub fn from_item_status(status: &tonic_types::Status) -> Self {
        let code = tonic::Code::from_i32(status.code);
        let details = status.encode_to_vec().into();
        Self::from_status(&Status::with_details(code, &status.message, details))
    }

    /// Decodes a peer's status. One that is not ours (of the transport, a proxy, tonic) becomes
    /// `unavailable`, `timeout` or `internal`, never a rejection.
    pub fn from_status(status: &Status) -> Self {
        let details = status.get_error_details();
        let ours = details
            .error_info()
            .filter(|info| info.domain == DOMAIN)
            .and_then(|info| Code::find(&info.reason.to_ascii_lowercase(), status.code()));
        let Some(code) = ours else {
            return Self::foreign(status);
        };
        let violations = details
            .bad_request()
            .map(|bad| bad.field_violations.as_slice());
        let mut failure = Self::new(code, status.message());
        failure.fields = violations
            .unwrap_or_default()
            .iter()
            .map(field_error)
            .collect();
        failure.retry_after = details.retry_info().and_then(|info| info.retry_delay);
        failure
    }

    fn foreign(status: &Status) -> Self {
        let code = match status.code() {
            tonic::Code::Unavailable | tonic::Code::ResourceExhausted => Code::Unavailable,
            tonic::Code::DeadlineExceeded | tonic::Code::Cancelled => Code::Timeout,
            _ => Code::Internal,
        };
        Self::new(code, code.about()).with_source(status.clone())
    }
}

/// Encodes as many fields as fit in the trailers.
fn violations(fields: &[FieldError]) -> Vec<FieldViolation> {
    let mut room = MAX_FIELDS;
    let fits = |field: &&FieldError| {
        let size = field.field.len() + field.message.len() + field.code.as_str().len() + 8;
        room.checked_sub(size)
            .inspect(|rest| room = *rest)
            .is_some()
    };
    let violation = |field: &FieldError| FieldViolation {
        reason: field.code.as_str().to_ascii_uppercase(),
        ..FieldViolation::new(&field.field, &field.message)
    };
    fields.iter().take_while(fits).map(violation).collect()
}

fn field_error(violation: &FieldViolation) -> FieldError {
    let code = FieldCode::find(&violation.reason.to_ascii_lowercase());
    FieldError {
        field: violation.field.clone(),
        code: code.unwrap_or(FieldCode::Format),
        message: violation.description.clone(),
    }
}

/// Truncates a text to at most `max` bytes, between two characters.
fn truncate(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

#[cfg(test)]
mod tests {
    use std::{error::Error as _, time::Duration};

    use super::*;

    #[test]
    fn rejections_survive_the_wire() {
        for code in Code::all().filter(|code| !code.http().is_server_error()) {
            let sent = Failure::new(code, "why – not")
                .field("amount", FieldCode::Precision, "at most 2 decimals")
                .field("lines[0].productId", code, "refused")
                .retry_after(Duration::from_millis(1500));
            let status = Status::from(sent);
            let read = Failure::from_status(&status);
            assert_eq!(read.code, code);
            assert_eq!(read.detail, "why – not");
            assert_eq!(read.retry_after, Some(Duration::from_millis(1500)));
            assert_eq!(read.fields[0].code, FieldCode::Precision);
            assert_eq!(read.fields[1].code.as_str(), code.as_str());
            assert_eq!(read.fields[1].field, "lines[0].productId");
        }
    }

    #[test]
    fn an_item_has_the_details_of_a_call() {
        let sent = || {
            Failure::new(Code::InsufficientFunds, "too little")
                .field("postings[0].amount", FieldCode::Precision, "2 decimals")
                .retry_after(Duration::from_secs(1))
        };
        let of_a_call = Status::from(sent());
        let item = sent().into_item_status();
        assert_eq!(item.code, i32::from(of_a_call.code()));
        assert_eq!(item.message, of_a_call.message());
        assert_eq!(item.encode_to_vec(), of_a_call.details());
        let read = Failure::from_item_status(&item);
        assert_eq!(read.code, Code::InsufficientFunds);
        assert_eq!(read.fields[0].field, "postings[0].amount");
        assert_eq!(read.retry_after, Some(Duration::from_secs(1)));
    }

    #[test]
    fn faults_are_sent_without_their_cause() {
        let status = Status::from(Failure::internal("password authentication failed"));
        assert_eq!(status.code(), tonic::Code::Internal);
        assert!(!format!("{} {:?}", status.message(), status.details()).contains("password"));
        let logged = status.source().unwrap().source().unwrap().to_string();
        assert_eq!(logged, "password authentication failed");

        let status = Status::from(Failure::unavailable("wallet-7f9 at 10.0.0.3"));
        assert!(!status.message().contains("10.0.0.3"));
        let read = Failure::from_status(&status);
        assert_eq!(
            (read.code, read.retry_after),
            (Code::Unavailable, Some(Duration::from_secs(1)))
        );
    }

    #[test]
    fn foreign_statuses_are_never_rejections() {
        for (status, code) in [
            (Status::unavailable("connection refused"), Code::Unavailable),
            (
                Status::resource_exhausted("enhance your calm"),
                Code::Unavailable,
            ),
            (Status::deadline_exceeded("slow"), Code::Timeout),
            (Status::cancelled("Timeout expired"), Code::Timeout),
            (Status::invalid_argument("bad frame"), Code::Internal),
            (Status::unimplemented("no such method"), Code::Internal),
            (Status::unauthenticated("?"), Code::Internal),
            (Status::unknown("?"), Code::Internal),
        ] {
            assert_eq!(Failure::from_status(&status).code, code, "{status}");
        }
    }

    #[test]
    fn details_are_truncated_to_fit_in_trailers() {
        let mut sent = Failure::new(Code::ValidationFailed, "é".repeat(4000));
        for n in 0..1000 {
            sent = sent.field(format!("lines[{n}]"), FieldCode::Required, "is required");
        }
        let status = Status::from(sent);
        assert!(status.message().len() <= MAX_DETAIL && status.details().len() < 10 * 1024);
        assert!(Failure::from_status(&status).fields.len() > 50);
    }
}
