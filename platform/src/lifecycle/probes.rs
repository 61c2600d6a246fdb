//! `/livez`, `/readyz` and `/metrics` over HTTP, for orchestrators and Prometheus.

use std::{net::SocketAddr, time::Duration};

use anyhow::Context as _;
use axum::{Router, extract::State, http::StatusCode, response::IntoResponse, routing::get};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::Readiness;
use crate::http::{self, Limits, Shutdown};

/// Most connections to probes and metrics: those of an orchestrator and of a few scrapers.
const MAX_CONNECTIONS: usize = 64;

/// Buckets in seconds, from a cached response to the longest deadline.
const BUCKETS: [f64; 12] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0,
];

/// The metrics of the process. Cloning is cheap.
#[derive(Clone, Default)]
pub struct Metrics(Option<PrometheusHandle>);

impl Metrics {
    /// Installs the recorder, once in a process. Without it, as in tests, nothing is recorded.
    pub(crate) fn install() -> anyhow::Result<Self> {
        let handle = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &BUCKETS)?
            .install_recorder()
            .context("metrics are installed already")?;
        Ok(Self(Some(handle)))
    }

    /// Returns the metrics in the text format of Prometheus.
    pub fn render(&self) -> String {
        self.0
            .as_ref()
            .map(PrometheusHandle::render)
            .unwrap_or_default()
    }

    /// Aggregates samples regularly, so that they do not accumulate between scrapes.
    pub(crate) async fn upkeep(self) {
        let mut ticks = tokio::time::interval(Duration::from_secs(5));
        while let Some(handle) = &self.0 {
            ticks.tick().await;
            handle.run_upkeep();
        }
    }
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

/// Serves probes and metrics until `stop`.
pub(crate) async fn serve(
    address: SocketAddr,
    readiness: Readiness,
    metrics: Metrics,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let listener = TcpListener::bind(address)
        .await
        .with_context(|| format!("cannot listen on {address}"))?;
    let shutdown = Shutdown {
        draining: readiness.draining(),
        stop,
    };
    let routes = Router::new()
        .route("/livez", get(StatusCode::OK))
        .route("/readyz", get(readyz).with_state(readiness))
        .route("/metrics", get(render).with_state(metrics));
    http::serve(listener, routes, Limits::of(MAX_CONNECTIONS), shutdown).await;
    Ok(())
}

async fn readyz(State(readiness): State<Readiness>) -> impl IntoResponse {
    let report = readiness.report();
    let status = if report.ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    let body = serde_json::to_string(&report).expect("names and flags are always JSON");
    (status, [("content-type", "application/json")], body)
}

async fn render(State(metrics): State<Metrics>) -> impl IntoResponse {
    (
        [("content-type", "text/plain; version=0.0.4")],
        metrics.render(),
    )
}
