//! W3C trace context as text, for HTTP, gRPC, the outbox and `JetStream`.

use opentelemetry::{
    Context,
    propagation::{Extractor, TextMapPropagator as _},
    trace::{SpanContext, TraceContextExt as _},
};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

/// The name of the header, metadata entry and message header that carries the context.
const TRACEPARENT: &str = "traceparent";

/// Returns the current span as a `traceparent` value (`00-<trace>-<span>-<flags>`); `None` outside a
/// traced span.
pub fn current_traceparent() -> Option<String> {
    current().map(|context| {
        let flags = context.trace_flags().to_u8();
        format!(
            "00-{}-{}-{flags:02x}",
            context.trace_id(),
            context.span_id()
        )
    })
}

/// Returns the id of the current trace in hexadecimal; `None` outside a traced span.
pub fn current_trace_id() -> Option<String> {
    current().map(|context| context.trace_id().to_string())
}

/// Makes `span` a child of the span in `traceparent`. Call it before the span is entered. A malformed
/// value, which anyone can send, is ignored: the span starts a new trace.
pub fn set_parent(span: &Span, traceparent: &str) {
    let parent = parse(traceparent);
    if parent.span().span_context().is_valid()
        && let Err(error) = span.set_parent(parent)
    {
        tracing::trace!(%error, "telemetry: parent of the span not set");
    }
}

/// Links `span` to the span in `traceparent`, which stays in a trace of its own: for callers that are
/// not trusted to decide what is traced. A malformed value is ignored.
pub fn set_link(span: &Span, traceparent: &str) {
    let linked = parse(traceparent).span().span_context().clone();
    if linked.is_valid() {
        span.add_link(linked);
    }
}

fn parse(traceparent: &str) -> Context {
    TraceContextPropagator::new().extract(&Single(traceparent))
}

fn current() -> Option<SpanContext> {
    let context = Span::current().context();
    let span = context.span().span_context().clone();
    span.is_valid().then_some(span)
}

/// A carrier of the `traceparent` only.
struct Single<'a>(&'a str);

impl Extractor for Single<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        (key == TRACEPARENT).then_some(self.0)
    }

    fn keys(&self) -> Vec<&str> {
        vec![TRACEPARENT]
    }
}

#[cfg(test)]
mod tests {
    use tracing::info_span;

    use super::*;

    const REMOTE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn traced<T>(run: impl FnOnce() -> T) -> T {
        crate::testing::trace_process();
        run()
    }

    #[test]
    fn there_is_no_context_outside_a_trace() {
        assert_eq!(current_traceparent(), None);
        assert_eq!(current_trace_id(), None);
    }

    #[test]
    fn a_child_has_the_trace_of_its_parent_and_a_new_span_id() {
        let (traceparent, trace) = traced(|| {
            let span = info_span!("child");
            set_parent(&span, REMOTE);
            span.in_scope(|| (current_traceparent(), current_trace_id()))
        });
        let traceparent = traceparent.expect("inside a span");
        assert_eq!(trace.as_deref(), Some("0af7651916cd43dd8448eb211c80319c"));
        assert!(traceparent.starts_with("00-0af7651916cd43dd8448eb211c80319c-"));
        assert!(traceparent.ends_with("-01") && traceparent != REMOTE);
    }

    #[test]
    fn a_linked_span_has_a_trace_of_its_own() {
        let trace = traced(|| {
            let span = info_span!("linked");
            set_link(&span, REMOTE);
            set_link(&span, "nonsense");
            span.in_scope(current_trace_id)
        });
        assert!(trace.is_some());
        assert_ne!(trace.as_deref(), Some("0af7651916cd43dd8448eb211c80319c"));
    }

    #[test]
    fn a_malformed_parent_is_ignored() {
        for bad in [
            "",
            "00-zz-b7ad6b7169203331-01",
            "nonsense",
            &"0".repeat(4096),
        ] {
            let trace = traced(|| {
                let span = info_span!("root");
                set_parent(&span, bad);
                span.in_scope(current_trace_id)
            });
            assert_eq!(trace.map(|id| id.len()), Some(32), "{bad}");
        }
    }

    #[test]
    fn a_check_of_an_enabled_level_leaves_spans_traced() {
        let trace = || info_span!("asked").in_scope(current_trace_id);
        traced(|| {
            assert!(trace().is_some());
            // Logged, but not traced.
            assert!(tracing::enabled!(target: "h2", tracing::Level::INFO));
            assert!(trace().is_some());
        });
    }
}
