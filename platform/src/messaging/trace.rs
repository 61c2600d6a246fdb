//! The W3C trace context as it travels with an event.

use std::collections::HashMap;

use opentelemetry::{Context, propagation::TextMapPropagator as _};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

const TRACEPARENT: &str = "traceparent";

/// The current span as a `traceparent`, if there is a trace.
pub(super) fn current() -> Option<String> {
    let mut carrier = HashMap::new();
    TraceContextPropagator::new().inject_context(&Span::current().context(), &mut carrier);
    carrier.remove(TRACEPARENT)
}

/// Makes the span a child of the trace that published the event.
pub(super) fn continue_from(traceparent: &str, span: &Span) {
    let carrier = HashMap::from([(TRACEPARENT.to_owned(), traceparent.to_owned())]);
    let parent = TraceContextPropagator::new().extract_with_context(&Context::new(), &carrier);
    if let Err(error) = span.set_parent(parent) {
        tracing::trace!(%error, "no trace to continue");
    }
}
