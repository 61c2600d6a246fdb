//! The streams of a cluster, as the operator sees them.

use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use async_nats::jetstream::{
    self,
    consumer::pull::OrderedConfig,
    stream::{ClusterInfo, Stream},
};
use futures::StreamExt as _;
use platform::{
    config::Nats,
    messaging::jetstream::{connect, stream_name},
    pg::Schema,
};
use tokio::time::interval;

use crate::environment::Environment;

/// The contexts, each with a stream.
pub const CONTEXTS: [Schema; 4] = [
    Schema::new("catalog"),
    Schema::new("orders"),
    Schema::new("wallet"),
    Schema::new("identity"),
];
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How long the cluster may take to elect leaders, or to bring a node up to date.
const TIMEOUT: Duration = Duration::from_mins(1);

/// A connection of the operator.
pub struct Broker(jetstream::Context);

impl Broker {
    pub async fn connect(environment: &Environment) -> anyhow::Result<Self> {
        let url = environment.stack.wiring().operator_nats_url();
        Ok(Self(connect(&Nats::at(&url), "load").await?))
    }

    /// Waits until so many nodes have all messages of each stream.
    pub async fn wait_until_complete(&self, nodes: usize) -> anyhow::Result<()> {
        for context in CONTEXTS {
            self.wait_for(context, |cluster| {
                let current = cluster
                    .replicas
                    .iter()
                    .filter(|it| it.current && !it.offline);
                (cluster.leader.is_some() && current.count() + 1 == nodes).then_some(())
            })
            .await?;
        }
        Ok(())
    }

    /// Waits until a context's stream has a leader other than this one, and returns its name.
    pub async fn leader_of(&self, context: Schema, old: Option<&str>) -> anyhow::Result<String> {
        let new_leader = |cluster: &ClusterInfo| {
            let leader = cluster.leader.clone();
            leader.filter(|leader| old != Some(leader.as_str()))
        };
        self.wait_for(context, new_leader).await
    }

    /// Asks about a stream until it is as it should be. While it has no leader, there is no answer.
    async fn wait_for<T>(
        &self,
        context: Schema,
        check: impl Fn(&ClusterInfo) -> Option<T>,
    ) -> anyhow::Result<T> {
        let stream = stream_name(context);
        let deadline = Instant::now() + TIMEOUT;
        let mut polls = interval(POLL_INTERVAL);
        loop {
            polls.tick().await;
            let found = match self.0.get_stream(&stream).await {
                Ok(stream) => stream.cached_info().cluster.clone(),
                Err(_) => None,
            };
            if let Some(result) = found.as_ref().and_then(&check) {
                return Ok(result);
            }
            if Instant::now() > deadline {
                bail!("{stream} after {TIMEOUT:?}: {found:?}");
            }
        }
    }

    /// Returns the id of the event in each message of a context's stream.
    pub async fn event_ids(&self, context: Schema) -> anyhow::Result<Vec<String>> {
        let stream = self.0.get_stream(stream_name(context)).await?;
        if stream.cached_info().state.messages == 0 {
            return Ok(Vec::new());
        }
        read_ids(&stream).await
    }
}

async fn read_ids(stream: &Stream) -> anyhow::Result<Vec<String>> {
    let config = OrderedConfig {
        headers_only: true,
        ..OrderedConfig::default()
    };
    let mut messages = stream.create_consumer(config).await?.messages().await?;
    let mut ids = Vec::new();
    loop {
        let message = messages.next().await.context("a message")??;
        let headers = message.headers.as_ref().context("an event has headers")?;
        let id = headers.get("ce-id").context("an event has an id")?;
        ids.push(id.as_str().to_owned());
        let info = message.info().map_err(anyhow::Error::from_boxed)?;
        if info.pending == 0 {
            return Ok(ids);
        }
    }
}
