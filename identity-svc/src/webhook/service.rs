//! Creating, reading and changing webhooks. The secret of one leaves the service once.

use std::sync::Arc;

use chrono::TimeDelta;
use platform::{
    audit::{self, Entry},
    clock::{self, Clock},
    grpc::precondition::{self, Versions},
    idempotency::{self, Key, Reply, Started},
    ids::Ids,
    list::Page,
    pg,
    sealing::SealingKey,
};
use proto::{
    common::v1::ListRequest,
    identity::v1::{self as wire, CreateWebhookRequest, UpdateWebhookRequest},
};
use sqlx::{PgConnection, PgPool};
use tokio::sync::Notify;

use super::{
    Sender, WebhookId, convert,
    delivery::{Delivery, DeliveryId, RETRY_FOR, repo as deliveries},
    model::{Webhook, WebhookPatch},
    ping_limit::PingLimit,
    repo, secret,
    sender::{Attempt, Message},
};
use crate::{
    SCHEMA,
    error::{Error, Result},
    public_event::{PublicEvent, event_types},
};

/// How long a replaced secret signs too.
const OVERLAP: TimeDelta = TimeDelta::hours(24);

#[derive(Debug, Clone)]
pub(crate) struct Webhooks {
    pool: PgPool,
    clock: Clock,
    ids: Ids,
    sealing: SealingKey,
    sender: Sender,
    /// Wakes the worker that delivers.
    queued: Arc<Notify>,
    pings: PingLimit,
}

/// A reply with the secret, which a recorded one lacks.
pub(super) struct WithSecret {
    pub(super) reply: Reply<wire::Webhook>,
    pub(super) secret: Option<String>,
}

impl WithSecret {
    fn replayed(reply: Reply<wire::Webhook>) -> Self {
        let secret = None;
        Self { reply, secret }
    }
}

impl Webhooks {
    pub(crate) fn new(
        pool: PgPool,
        clock: Clock,
        ids: Ids,
        sealing: SealingKey,
        sender: Sender,
        queued: Arc<Notify>,
    ) -> Self {
        Self {
            pool,
            clock,
            ids,
            sealing,
            sender,
            queued,
            pings: PingLimit::default(),
        }
    }

    /// Creates a webhook.
    pub(super) async fn create(
        &self,
        key: Option<&Key>,
        request: CreateWebhookRequest,
    ) -> Result<WithSecret> {
        let mut work = match idempotency::start(&self.pool, SCHEMA, key).await? {
            Started::Replay(reply) => return Ok(WithSecret::replayed(reply)),
            Started::Fresh(work) => work,
        };
        let new = convert::new_webhook(request, self.sender.rules())?;
        let webhook = new.create(self.ids.next(), self.clock.now());
        let (secret, sealed) = secret::create(&self.sealing, &self.ids, webhook.id);
        repo::insert_in_tx(&mut work, &webhook, &sealed).await?;
        record_in_tx(&mut work, webhook.id, "created").await?;
        let reply = work.commit(convert::webhook(webhook)).await?;
        let secret = Some(secret);
        Ok(WithSecret { reply, secret })
    }

    /// Returns a webhook.
    pub(super) async fn get(&self, id: WebhookId) -> Result<Webhook> {
        repo::find(&self.pool, id)
            .await?
            .ok_or(Error::WebhookNotFound)
    }

    /// Lists webhooks.
    pub(super) async fn list(&self, request: &ListRequest) -> Result<Page<Webhook>> {
        let mut conn = self.pool.acquire().await?;
        Ok(repo::list(&mut conn, request).await?)
    }

    /// Updates a webhook. An empty patch changes nothing.
    pub(super) async fn update(
        &self,
        id: WebhookId,
        request: UpdateWebhookRequest,
        if_version: Option<&Versions>,
    ) -> Result<Webhook> {
        let patch = convert::patch(request, self.sender.rules())?;
        let mut tx = pg::tx(&self.pool).await?;
        let mut webhook = lock_in_tx(&mut tx, id).await?;
        check_version(if_version, &webhook)?;
        if patch == WebhookPatch::default() {
            return Ok(webhook);
        }
        webhook.update(patch, self.clock.now());
        repo::update_in_tx(&mut tx, &webhook).await?;
        record_in_tx(&mut tx, id, "updated").await?;
        tx.commit().await?;
        self.queued.notify_one();
        Ok(webhook)
    }

    /// Deletes a webhook with its deliveries.
    pub(super) async fn delete(&self, id: WebhookId, if_version: Option<&Versions>) -> Result<()> {
        let mut tx = pg::tx(&self.pool).await?;
        let webhook = lock_in_tx(&mut tx, id).await?;
        check_version(if_version, &webhook)?;
        repo::delete_in_tx(&mut tx, id).await?;
        record_in_tx(&mut tx, id, "deleted").await?;
        Ok(tx.commit().await?)
    }

    /// Replaces the secret of a webhook. The old one signs too for a while.
    pub(super) async fn rotate_secret(
        &self,
        key: Option<&Key>,
        id: WebhookId,
    ) -> Result<WithSecret> {
        let mut work = match idempotency::start(&self.pool, SCHEMA, key).await? {
            Started::Replay(reply) => return Ok(WithSecret::replayed(reply)),
            Started::Fresh(work) => work,
        };
        let mut webhook = lock_in_tx(&mut work, id).await?;
        let now = self.clock.now();
        webhook.updated_at = clock::after(webhook.updated_at, now);
        let (secret, sealed) = secret::create(&self.sealing, &self.ids, id);
        let changed_at = webhook.updated_at;
        repo::rotate_secret_in_tx(&mut work, id, &sealed, changed_at, now + OVERLAP).await?;
        record_in_tx(&mut work, id, "secret_rotated").await?;
        let reply = work.commit(convert::webhook(webhook)).await?;
        let secret = Some(secret);
        Ok(WithSecret { reply, secret })
    }

    /// Sends a ping at once and returns the result. It is no delivery, and not tried again.
    pub(super) async fn ping(
        &self,
        key: Option<&Key>,
        id: WebhookId,
    ) -> Result<Reply<wire::PingWebhookResponse>> {
        if let Some(reply) = idempotency::find_replay(&self.pool, SCHEMA, key).await? {
            return Ok(reply);
        }
        let (event_id, attempt) = self.send_ping(id).await?;
        let mut work = match idempotency::start(&self.pool, SCHEMA, key).await? {
            Started::Replay(reply) => return Ok(reply),
            Started::Fresh(work) => work,
        };
        record_in_tx(&mut work, id, "pinged").await?;
        Ok(work.commit(convert::ping(event_id, attempt)).await?)
    }

    async fn send_ping(&self, id: WebhookId) -> Result<(String, Attempt)> {
        let now = self.clock.now();
        let sealed = repo::find_sealed(&self.pool, id, now).await?;
        let sealed = sealed.ok_or(Error::WebhookNotFound)?;
        self.pings.take(now)?;
        let old = sealed.old_secret.as_deref();
        let secrets = secret::open(&self.sealing, id, &sealed.secret, old)?;
        let event = PublicEvent {
            id: self.ids.uuid(),
            event_type: event_types::PING.to_owned(),
            data: serde_json::json!({"webhookId": id.to_string()}).to_string(),
            occurred_at: now,
        };
        let message = Message {
            url: &sealed.url,
            secrets: &secrets,
            event_id: event.id.to_string(),
            timestamp: now.timestamp(),
            payload: event.payload(),
        };
        let attempt = self.sender.send(&message).await;
        Ok((message.event_id, attempt))
    }

    /// Lists the deliveries of a webhook.
    pub(super) async fn deliveries(
        &self,
        id: WebhookId,
        request: &ListRequest,
    ) -> Result<Page<Delivery>> {
        self.get(id).await?;
        let mut conn = self.pool.acquire().await?;
        Ok(deliveries::list(&mut conn, request, id).await?)
    }

    /// Queues a delivery again, whatever its status.
    pub(super) async fn redeliver(
        &self,
        key: Option<&Key>,
        id: WebhookId,
        delivery: DeliveryId,
    ) -> Result<Reply<wire::WebhookDelivery>> {
        let mut work = match idempotency::start(&self.pool, SCHEMA, key).await? {
            Started::Replay(reply) => return Ok(reply),
            Started::Fresh(work) => work,
        };
        let webhook = lock_in_tx(&mut work, id).await?;
        let now = self.clock.now();
        let queued =
            deliveries::requeue_in_tx(&mut work, id, delivery, now, now + RETRY_FOR).await?;
        let queued = queued.ok_or(Error::WebhookDeliveryNotFound)?;
        if !webhook.enabled {
            return Err(Error::InvalidState("the webhook is disabled"));
        }
        let entry = Entry::new("webhook", "redelivered", id);
        let entry = entry.detail("deliveryId", delivery.to_string());
        audit::record_in_tx(&mut work, SCHEMA, entry).await?;
        let reply = work.commit(convert::delivery(queued)).await?;
        self.queued.notify_one();
        Ok(reply)
    }
}

async fn lock_in_tx(conn: &mut PgConnection, id: WebhookId) -> Result<Webhook> {
    let webhook = repo::find_for_update_in_tx(conn, id).await?;
    webhook.ok_or(Error::WebhookNotFound)
}

/// Each change has a time of its own, which is the version of the webhook.
fn check_version(if_version: Option<&Versions>, webhook: &Webhook) -> Result<()> {
    precondition::check(if_version, webhook.updated_at.timestamp_millis())?;
    Ok(())
}

/// Records a change in the audit log.
async fn record_in_tx(conn: &mut PgConnection, id: WebhookId, done: &str) -> Result<()> {
    audit::record_in_tx(conn, SCHEMA, Entry::new("webhook", done, id)).await?;
    Ok(())
}
