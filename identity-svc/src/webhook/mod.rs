//! Webhooks: addresses of back ends that public events are sent to, signed by Standard Webhooks.
//!
//! They live in identity-svc because it keeps sealed secrets and sends mails to the outside already, and
//! is on no path of an order or a payment: a burst of deliveries delays neither.

mod address;
mod convert;
pub(crate) mod delivery;
mod disabling;
pub(crate) mod grpc;
mod model;
mod ping_limit;
mod repo;
mod secret;
mod sender;
mod service;
mod signature;
mod target;

use std::sync::Arc;

use platform::{clock::Clock, ids::Ids, sealing::SealingKey, service::Backbone};
use tokio::sync::Notify;

pub(crate) use model::WebhookId;
pub(crate) use sender::Sender;
pub(crate) use service::Webhooks;
pub(crate) use target::Rules;

use self::delivery::Worker;
use crate::public_event::{self, Recorder};

/// Adds the consumers and workers that record, queue and deliver events. Returns the webhooks as admins manage them.
pub(crate) fn start(
    backbone: &mut Backbone,
    rules: Rules,
    sealing: SealingKey,
    clock: &Clock,
    ids: &Ids,
) -> anyhow::Result<Webhooks> {
    let (pool, queued) = (backbone.pool(), Arc::new(Notify::new()));
    let recorder = Recorder::new(clock.clone(), ids.clone(), Arc::clone(&queued));
    public_event::consume(backbone, &recorder);
    let purged = pool.clone();
    backbone.worker("public-events", move |stop| {
        public_event::purge_until(purged.clone(), stop)
    });
    let sender = Sender::new(rules)?;
    let worker = Worker {
        pool: pool.clone(),
        clock: clock.clone(),
        sender: sender.clone(),
        sealing: sealing.clone(),
        queued: Arc::clone(&queued),
    };
    backbone.worker("webhooks", move |stop| worker.clone().run(stop));
    let (clock, ids) = (clock.clone(), ids.clone());
    Ok(Webhooks::new(pool, clock, ids, sealing, sender, queued))
}
