//! Logs and traces of a process: one `init`, one guard that flushes on every exit.
//!
//! The log layer and the OTLP layer have a filter each: a shared one would drop the spans of a
//! process that logs only warnings. No personal data and no secret is ever a field.

mod cause;
mod event_format;
mod trace_context;

use std::{io::IsTerminal as _, sync::Once, time::Duration};

use anyhow::Context as _;
use opentelemetry::{KeyValue, trace::TracerProvider as _};
use opentelemetry_otlp::WithExportConfig as _;
use opentelemetry_sdk::{
    Resource,
    trace::{Sampler, SdkTracerProvider},
};
use tracing::{Level, Metadata, Subscriber};
use tracing_subscriber::{
    EnvFilter, Layer,
    filter::{LevelFilter, dynamic_filter_fn},
    fmt,
    layer::SubscriberExt as _,
    registry::LookupSpan,
    util::SubscriberInitExt as _,
};

use crate::config::{LogFormat, Telemetry as Settings};

use self::event_format::NoFields;
pub use cause::chain;
pub use trace_context::{current_trace_id, current_traceparent, set_parent};

/// How long a stopping process waits for its last spans to leave.
const FLUSH: Duration = Duration::from_secs(3);

/// Flushes what is still buffered when dropped. Drop it outside async code while the runtime is
/// alive: the exporter needs the runtime to send.
#[derive(Debug)]
#[must_use = "dropping it ends the export of traces"]
pub struct Guard {
    provider: SdkTracerProvider,
}

impl Drop for Guard {
    fn drop(&mut self) {
        // The collector may be away; that must not keep a process from ending, nor fail it.
        if let Err(error) = self.provider.shutdown_with_timeout(FLUSH) {
            tracing::debug!(%error, "the last spans were not exported");
        }
    }
}

/// Installs the process-wide logger and tracer. Needs a tokio runtime (the exporter's channel).
/// Fails on a bad `LOG` filter or endpoint, or when the process has a subscriber already.
pub fn init(service: &'static str, settings: &Settings) -> anyhow::Result<Guard> {
    let provider = tracer_provider(service, settings)?;
    let filter = EnvFilter::try_new(&settings.log)
        .with_context(|| format!("LOG is not a filter: {}", settings.log))?;
    subscriber(filter, settings.log_format, &provider, service)
        .try_init()
        .context("a logger is installed already")?;
    log_panics();
    Ok(Guard { provider })
}

fn subscriber(
    filter: EnvFilter,
    format: LogFormat,
    provider: &SdkTracerProvider,
    service: &'static str,
) -> impl Subscriber + Send + Sync + use<> {
    tracing_subscriber::registry()
        .with(log_layer(format).with_filter(filter))
        .with(trace_layer(provider, service))
}

/// Traces like [`init`]'s, exports nothing, and logs only what a test asks about.
pub(crate) fn quiet_subscriber() -> impl Subscriber + Send + Sync {
    let provider = SdkTracerProvider::builder().build();
    let filter = EnvFilter::new("off,h2=info");
    subscriber(filter, LogFormat::Json, &provider, "test")
}

fn tracer_provider(
    service: &'static str,
    settings: &Settings,
) -> anyhow::Result<SdkTracerProvider> {
    let sampler = Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(
        settings.trace_sample_ratio,
    )));
    let resource = Resource::builder()
        .with_service_name(service)
        .with_attribute(KeyValue::new("service.namespace", "guerdon"))
        .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .build();
    let mut builder = SdkTracerProvider::builder()
        .with_sampler(sampler)
        .with_resource(resource);
    if let Some(endpoint) = &settings.otel_exporter_otlp_endpoint {
        let exporter = opentelemetry_otlp::SpanExporter::builder()
            .with_tonic()
            .with_endpoint(endpoint)
            .with_timeout(FLUSH)
            .build()
            .with_context(|| format!("OTEL_EXPORTER_OTLP_ENDPOINT {endpoint}"))?;
        builder = builder.with_batch_exporter(exporter);
    }
    Ok(builder.build())
}

fn log_layer<S>(format: LogFormat) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let layer = fmt::layer().fmt_fields(NoFields);
    match format {
        LogFormat::Pretty => layer
            .with_ansi(std::io::stdout().is_terminal())
            .event_format(event_format::Pretty)
            .boxed(),
        LogFormat::Json => layer.event_format(event_format::Json).boxed(),
    }
}

/// Spans carry trace ids also when nothing is exported, so that logs and events can be joined.
fn trace_layer<S>(
    provider: &SdkTracerProvider,
    service: &'static str,
) -> impl Layer<S> + Send + Sync + use<S>
where
    S: Subscriber + for<'a> LookupSpan<'a> + Send + Sync,
{
    tracing_opentelemetry::layer()
        .with_tracer(provider.tracer(service))
        .with_location(false)
        .with_threads(false)
        // How long a span was polled and how long it waited: a lock and a look at the clock for
        // every poll of every request.
        .with_tracked_inactivity(false)
        // Asked anew for each span: a bare `tracing::enabled!` leaves each layer's answer behind in
        // the thread, and a filter that is not asked again would take it for its own.
        .with_filter(
            dynamic_filter_fn(|metadata, _| is_traced(metadata))
                .with_max_level_hint(LevelFilter::INFO),
        )
}

/// Our own spans; the transport's would trace the export of traces.
fn is_traced(metadata: &Metadata<'_>) -> bool {
    const TRANSPORT: [&str; 6] = [
        "h2",
        "hyper",
        "hyper_util",
        "tonic",
        "tower",
        "opentelemetry",
    ];
    let root = metadata.target().split("::").next().unwrap_or_default();
    *metadata.level() <= Level::INFO && !TRANSPORT.contains(&root)
}

/// Panics are logged like every other fault: once, with the place, in the chosen format.
fn log_panics() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        std::panic::set_hook(Box::new(|panic| {
            let place = panic.location().map(ToString::to_string);
            let message = panic.payload_as_str().unwrap_or("no message");
            tracing::error!(place, "panicked: {message}");
        }));
    });
}
