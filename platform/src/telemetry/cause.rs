//! Errors with their causes as one line of log.

use std::error::Error;

use tonic::Status;

/// Returns the error and its causes, outermost first, joined by `: `.
pub fn chain(error: &(dyn Error + 'static)) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut link = Some(error);
    while let Some(error) = link {
        // Wrappers often repeat the text of their cause.
        parts.extend(text(error).filter(|text| !parts.iter().any(|part| part.contains(text))));
        link = error.source();
    }
    parts.join(": ")
}

/// Returns the text of one error. For a status this is its message: its `Display` prints encoded
/// details and the source too. With a source it has no text of its own.
fn text(error: &(dyn Error + 'static)) -> Option<String> {
    match error.downcast_ref::<Status>() {
        Some(status) if status.source().is_some() => None,
        Some(status) => Some(status.message().to_owned()),
        None => Some(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Failure;

    #[test]
    fn each_cause_appears_once() {
        let refused = std::io::Error::other("connection refused");
        let failure = Failure::unavailable("wallet").with_source(refused);
        assert_eq!(
            chain(&failure),
            "unavailable: wallet is unavailable: connection refused"
        );
        let status = Status::from(failure);
        assert_eq!(
            chain(&status),
            "unavailable: wallet is unavailable: connection refused"
        );
        assert_eq!(
            chain(&Status::not_found("order not found")),
            "order not found"
        );
    }
}
