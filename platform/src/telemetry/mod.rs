//! Logs and traces of a process.
//!
//! The log layer and the OTLP layer have separate filters: a shared one would drop the spans of a
//! process that logs only warnings. Personal data and secrets are never fields.

mod cause;
mod event_format;
mod log_limit;
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
pub(crate) use self::event_format::OneLine;
pub use cause::chain;
pub use log_limit::LogLimit;
pub use trace_context::{current_trace_id, current_traceparent, set_link, set_parent};

/// Limit of the export of the last spans at exit.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(3);

/// Exports buffered spans when dropped. Drop it outside async code while the runtime is alive, which
/// the exporter needs.
#[derive(Debug)]
#[must_use = "dropping it ends the export of traces"]
pub struct Guard {
    provider: SdkTracerProvider,
}

impl Drop for Guard {
    fn drop(&mut self) {
        // An unavailable collector must neither delay nor fail the exit.
        if let Err(error) = self.provider.shutdown_with_timeout(FLUSH_TIMEOUT) {
            tracing::debug!(%error, "telemetry: last spans not exported");
        }
    }
}

/// Installs the process-wide logger and tracer. Needs a tokio runtime (the exporter's channel). Fails
/// on a malformed `LOG` filter or endpoint, or if the process has a subscriber.
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

/// Creates a subscriber that traces as in a service, exports nothing, and logs almost nothing.
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
            .with_timeout(FLUSH_TIMEOUT)
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

/// Creates the layer of traces. Spans have trace ids also when nothing is exported, for logs and
/// events.
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
        // Busy and idle times of spans cost a lock and a clock read for every poll of every request.
        .with_tracked_inactivity(false)
        // A dynamic filter is evaluated for each span: `tracing::enabled!` leaves the results of the
        // filters in the thread, and a static one would reuse a result that is not its own.
        .with_filter(
            dynamic_filter_fn(|metadata, _| is_traced(metadata))
                .with_max_level_hint(LevelFilter::INFO),
        )
}

/// Selects our own spans; those of the transport would trace the export of traces.
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

/// Logs panics with their location, in the configured format.
fn log_panics() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        std::panic::set_hook(Box::new(|panic| {
            let location = panic.location().map(ToString::to_string);
            let message = panic.payload_as_str().unwrap_or("no message");
            tracing::error!(location, message, "process: task panicked");
        }));
    });
}
