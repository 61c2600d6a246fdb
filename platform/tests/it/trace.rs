//! One trace from the request that commits to the consumer.

use std::sync::{Arc, Mutex};

use opentelemetry::trace::{TraceContextExt as _, TraceId};
use platform::{
    error::Failure,
    messaging::inbox::{self, Consumer, Envelope, Handler},
    testing::eventually,
};
use prost_types::Timestamp;
use sqlx::{
    PgConnection,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use tracing::{Instrument as _, Span};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

use crate::harness::{Harness, TIMEOUT};

struct RecordTrace(Arc<Mutex<Option<TraceId>>>);

fn trace_id() -> TraceId {
    Span::current().context().span().span_context().trace_id()
}

impl Handler for RecordTrace {
    type Body = Timestamp;

    async fn apply_in_tx(
        &self,
        _: &mut PgConnection,
        _: &Envelope,
        _: Timestamp,
    ) -> Result<(), Failure> {
        *self.0.lock().unwrap() = Some(trace_id());
        Ok(())
    }
}

#[sqlx::test(migrations = false)]
async fn the_consumer_continues_the_trace_of_the_request(
    _: PgPoolOptions,
    options: PgConnectOptions,
) {
    let harness = Harness::new(options).await;
    harness.start_relay();
    let seen = Arc::new(Mutex::new(None));
    let consumer = Consumer::new("tracing-svc", harness.schema, harness.schema, "ThingDone");
    tokio::spawn(inbox::run(
        consumer,
        harness.js.clone(),
        harness.pool.clone(),
        RecordTrace(Arc::clone(&seen)),
        harness.token.clone(),
    ));

    let published = async {
        harness.commit_event().await;
        trace_id()
    }
    .instrument(tracing::info_span!("request"))
    .await;
    assert_ne!(published, TraceId::INVALID);
    eventually("it is consumed", TIMEOUT, async || {
        *seen.lock().unwrap() == Some(published)
    })
    .await;
    harness.drop_stream().await;
}
