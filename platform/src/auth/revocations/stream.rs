//! The stream of identity-svc, which is opened again whenever it ends or falls silent.

use std::time::Duration;

use anyhow::Context as _;
use proto::identity::v1::{
    WatchRequest, WatchResponse, revocation_service_client::RevocationServiceClient,
};
use tokio::time::{sleep, timeout};
use tonic::Streaming;

use super::{Revocation, Revocations};
use crate::{backoff::Backoff, grpc::client::Client, telemetry};

/// The silence after which the stream is opened again: early enough for another replica of identity-svc
/// to send its messages before the set is stale.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(3);

/// The delays between failed streams, short because changes are refused meanwhile.
const RECONNECT: Backoff = Backoff::new(Duration::from_millis(50), Duration::from_secs(1));

pub(super) struct Stream {
    client: RevocationServiceClient<Client>,
}

impl Stream {
    pub(super) fn new(identity: &Client) -> Self {
        Self {
            client: identity.service(),
        }
    }

    /// Records the messages of one stream after another, without end.
    pub(super) async fn follow(&self, revocations: &Revocations) {
        let mut backoff = RECONNECT;
        loop {
            if let Err(error) = self.receive(revocations, &mut backoff).await {
                let error = telemetry::chain(error.as_ref());
                if backoff.is_initial() {
                    tracing::warn!(error, "revocations: stream ended, reconnecting");
                } else {
                    tracing::debug!(error, "revocations: no stream, reconnecting");
                }
            }
            sleep(backoff.next_delay()).await;
        }
    }

    /// Records the messages of one stream until it ends.
    async fn receive(
        &self,
        revocations: &Revocations,
        backoff: &mut Backoff,
    ) -> anyhow::Result<()> {
        let stream = self.client.clone().watch(WatchRequest {}).await?;
        let mut stream = stream.into_inner();
        while let Some(message) = next(&mut stream).await? {
            let received = message.revocations.into_iter();
            revocations.record(received.filter_map(Revocation::decode));
            if !backoff.is_initial() {
                tracing::info!("revocations: receiving");
                backoff.reset();
            }
        }
        anyhow::bail!("the stream ended")
    }
}

async fn next(stream: &mut Streaming<WatchResponse>) -> anyhow::Result<Option<WatchResponse>> {
    let message = timeout(SILENCE_TIMEOUT, stream.message()).await;
    Ok(message.context("no message")??)
}
