//! The backbone of a service: database, broker and background tasks, from start to stop.

use std::future::Future;

use anyhow::Context as _;
use async_nats::jetstream::Context as JetStream;
use futures::future::{BoxFuture, FutureExt as _, join_all};
use secrecy::{ExposeSecret as _, SecretString};
use sqlx::PgPool;
use tokio_util::sync::CancellationToken;

use super::{Application, Database, Runtime};
use crate::{
    config::Nats,
    grpc::server::Server,
    lifecycle::Supervisor,
    messaging::{
        inbox::{self, BatchHandler, Consumer, Effect},
        jetstream, relay,
    },
    pg::{self, Schema},
    saga::{self, Saga},
};

/// Starts a task when the service runs.
type Start = Box<dyn FnOnce(&Supervisor) + Send>;

/// Owns the pool, the JetStream connection and the background tasks of a service. Tasks are added in
/// `build` and start in [`Backbone::run`]. The outbox relay needs no adding: task `outbox-relay`.
pub struct Backbone {
    service: &'static str,
    schema: Schema,
    pool: PgPool,
    jetstream: JetStream,
    stream_replicas: u8,
    tasks: Vec<Start>,
    essential: Vec<Essential>,
}

impl Backbone {
    /// Connects to Postgres and NATS, adds the readiness check `postgres`, and waits until Postgres
    /// is ready. NATS may be away: events stay in the outbox until it is back.
    pub async fn connect<A: Application>(
        database_url: &SecretString,
        nats: &Nats,
        runtime: &Runtime,
    ) -> anyhow::Result<Self> {
        let Database { schema, .. } = A::DATABASE.context("a service has a database")?;
        let pool = pg::connect(database_url.expose_secret(), &pg::Options::new(A::NAME))?;
        let jetstream = jetstream::connect(nats, A::NAME).await?;
        let database = pool.clone();
        let readiness = &runtime.readiness;
        readiness.require("postgres", move || check(database.clone()));
        pg::wait_until_ready(&pool).await?;
        Ok(Self {
            service: A::NAME,
            schema,
            pool,
            jetstream,
            stream_replicas: nats.nats_stream_replicas,
            tasks: Vec::new(),
            essential: Vec::new(),
        })
    }

    /// Returns the pool of the service's role.
    pub fn pool(&self) -> PgPool {
        self.pool.clone()
    }

    /// Consumes an event of the context `source`. The task's name is the event's in kebab case.
    pub fn consume<H: BatchHandler + Clone>(
        &mut self,
        source: Schema,
        event: &'static str,
        handler: H,
    ) {
        let (pool, jetstream) = (self.pool.clone(), self.jetstream.clone());
        let consumer = Consumer::new(self.service, self.schema, source, event);
        self.worker(kebab_case(event), move |stop| {
            let (consumer, handler) = (consumer.clone(), handler.clone());
            inbox::run(consumer, jetstream.clone(), pool.clone(), handler, stop).map(Ok)
        });
    }

    /// Consumes events of the context `source`; see [`Consumer::of_events`]. `purpose` tells the consumer and its
    /// task from others of the service: `public` makes the durable name `identity-svc-public`.
    pub fn consume_all<H: BatchHandler + Clone>(
        &mut self,
        purpose: &str,
        source: Schema,
        events: &[&str],
        handler: H,
    ) {
        let (pool, jetstream) = (self.pool.clone(), self.jetstream.clone());
        let durable = format!("{}-{purpose}", self.service);
        let consumer = Consumer::of_events(durable, self.schema, source, events);
        let name = format!("{purpose}-{}", source.name());
        self.worker(name, move |stop| {
            let (consumer, handler) = (consumer.clone(), handler.clone());
            inbox::run(consumer, jetstream.clone(), pool.clone(), handler, stop).map(Ok)
        });
    }

    /// Consumes an event like [`Backbone::consume`], with an effect that has its own transaction.
    pub fn consume_effect<E: Effect + Clone>(
        &mut self,
        source: Schema,
        event: &'static str,
        effect: E,
    ) {
        let (pool, jetstream) = (self.pool.clone(), self.jetstream.clone());
        let consumer = Consumer::new(self.service, self.schema, source, event);
        self.worker(kebab_case(event), move |stop| {
            let (consumer, effect) = (consumer.clone(), effect.clone());
            inbox::run_effect(consumer, jetstream.clone(), pool.clone(), effect, stop).map(Ok)
        });
    }

    /// Resumes the items of a saga; the task's name is the saga's.
    pub fn saga<S: Saga + Clone + 'static>(&mut self, saga: S) {
        let pool = self.pool.clone();
        self.worker(S::NAME, move |stop| {
            saga::run(saga.clone(), pool.clone(), stop).map(|ended| Ok(ended?))
        });
    }

    /// Adds a background task; see [`Supervisor::spawn`].
    pub fn worker<F, Fut>(&mut self, name: impl Into<String>, task: F)
    where
        F: Fn(CancellationToken) -> Fut + Send + 'static,
        Fut: Future<Output = anyhow::Result<()>> + Send + 'static,
    {
        let name = name.into();
        self.tasks
            .push(Box::new(move |supervisor| supervisor.spawn(name, task)));
    }

    /// Adds a task that requests, consumers and workers depend on: it is stopped after they have
    /// ended. It is never restarted; if it ends earlier, the process stops with an error.
    pub fn essential<F, Fut>(&mut self, name: &'static str, task: F)
    where
        F: FnOnce(CancellationToken) -> Fut + Send + 'static,
        Fut: Future<Output = anyhow::Result<()>> + Send + 'static,
    {
        self.essential.push(Essential {
            name,
            start: Box::new(move |stop| task(stop).boxed()),
        });
    }

    /// Serves until `stop`, then ends in this order: requests, consumers and workers; essential
    /// tasks; the relay, which publishes what all of them appended; the pool.
    pub async fn run(self, server: Server, stop: CancellationToken) -> anyhow::Result<()> {
        // Cancelled early when the server or an essential task fails.
        let stop = stop.child_token();
        let stop_essential = CancellationToken::new();
        let stop_relay = CancellationToken::new();

        let relay = Supervisor::new(stop_relay.clone());
        let (pool, schema, jetstream) = (self.pool.clone(), self.schema, self.jetstream);
        let replicas = self.stream_replicas;
        relay.spawn("outbox-relay", move |stop| {
            relay::run(pool.clone(), schema, jetstream.clone(), replicas, stop).map(Ok)
        });
        let tasks = Supervisor::new(stop.clone());
        for start in self.tasks {
            start(&tasks);
        }
        let run_essential = |task: Essential| task.run(&stop_essential, &stop);
        let essential = join_all(self.essential.into_iter().map(run_essential));
        let server = server.check_keys(self.pool.clone(), self.schema);
        let serve = async {
            let result = server.serve(stop.clone()).await;
            stop.cancel();
            tasks.finish().await;
            stop_essential.cancel();
            result
        };
        let (result, essential) = tokio::join!(serve, essential);
        stop_relay.cancel();
        relay.finish().await;
        self.pool.close().await;
        result.and(essential.into_iter().collect())
    }
}

impl std::fmt::Debug for Backbone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Backbone")
            .field("service", &self.service)
            .finish_non_exhaustive()
    }
}

/// A task that is not restarted.
struct Essential {
    name: &'static str,
    start: Box<dyn FnOnce(CancellationToken) -> BoxFuture<'static, anyhow::Result<()>> + Send>,
}

impl Essential {
    /// Runs the task, and stops the process if it ends before `stop`.
    async fn run(
        self,
        stop: &CancellationToken,
        process: &CancellationToken,
    ) -> anyhow::Result<()> {
        // A task of its own, which contains panics.
        let ended = tokio::spawn((self.start)(stop.clone())).await;
        let early = !stop.is_cancelled();
        process.cancel();
        ended??;
        anyhow::ensure!(!early, "task {} ended before it was stopped", self.name);
        Ok(())
    }
}

async fn check(pool: PgPool) -> anyhow::Result<()> {
    anyhow::ensure!(pg::is_reachable(&pool).await, "no response");
    Ok(())
}

/// Turns `OrderPaid` into `order-paid`.
fn kebab_case(event: &str) -> String {
    let mut name = String::with_capacity(event.len() + 4);
    for letter in event.chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consumer_tasks_are_named_by_event_in_kebab_case() {
        assert_eq!(kebab_case("OrderPaid"), "order-paid");
        assert_eq!(kebab_case("TaskCompleted"), "task-completed");
    }
}
