//! `/webhooks`

use std::time::Duration;

use platform::{error::Code, patch::Patch};
use proto::identity::v1::{
    self as wire, CreateWebhookRequest, CreateWebhookResponse, DeleteWebhookRequest,
    GetWebhookRequest, ListWebhooksRequest, PingWebhookRequest, RotateWebhookSecretRequest,
    RotateWebhookSecretResponse, UpdateWebhookRequest,
};
use serde::{Deserialize, Serialize};

use super::{
    dto::{self, Mask, Time},
    result::{self, DataResult, EmptyResult, ListResult, Located, Versioned},
};
use crate::{
    error::Problem,
    extract::{Action, Call, Change, Json, ListParams, NoFields, PathParams},
};

pub(crate) mod deliveries;

/// How long a ping may take: longer than the request that it makes.
const PING_TIMEOUT: Duration = Duration::from_secs(15);

/// An address of a back end that events are sent to.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Webhook {
    id: String,
    url: String,
    /// Types of events (`store.order.paid`), all that begin alike (`store.order.*`), or `*`.
    events: Vec<String>,
    description: String,
    enabled: bool,
    disabled_at: Option<Time>,
    /// `admin`, `gone` (it responded 410) or `failing` (nothing reached it for three days).
    disabled_reason: Option<String>,
    /// The first failure since the last success.
    failing_since: Option<Time>,
    created_at: Option<Time>,
    updated_at: Option<Time>,
    /// `whsec_…`, in the responses to the creation and to a rotation only; a repeated response lacks it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    secret: Option<String>,
}

/// A webhook to create.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewWebhook {
    /// With https, at most 2 048 characters, and not of a private or local address.
    url: String,
    /// 1 to 100 of: a type of events, `store.order.*`, `*`.
    events: Vec<String>,
    description: Option<String>,
    /// Default: `true`.
    enabled: Option<bool>,
}

/// Changes of a webhook; fields left out stay.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct WebhookPatch {
    #[serde(default)]
    #[schema(value_type = String)]
    url: Change<String>,
    #[serde(default)]
    #[schema(value_type = Vec<String>)]
    events: Change<Vec<String>>,
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    description: Patch<String>,
    /// One that is enabled again continues with the events of the last three days that it lacks.
    #[serde(default)]
    #[schema(value_type = bool)]
    enabled: Change<bool>,
}

/// The result of a ping.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WebhookPing {
    /// The `webhook-id` that was sent.
    event_id: String,
    /// Whether the response was 2xx.
    delivered: bool,
    /// The status of the response; `null` without one.
    status_code: Option<u32>,
    /// Why it counts as failed.
    error: Option<String>,
    duration_ms: u32,
}

/// Create a webhook.
///
/// The response holds the secret that signatures are verified with. It cannot be shown again.
pub(crate) async fn create(call: Call, Json(body): Json<NewWebhook>) -> DataResult<Webhook> {
    let request = call.request(CreateWebhookRequest {
        url: body.url,
        events: body.events,
        description: body.description,
        enabled: body.enabled,
    });
    let take = |CreateWebhookResponse { webhook, secret }| with_secret(webhook, secret);
    result::created(call.clients.webhooks().create_webhook(request), take).await
}

/// List webhooks.
pub(crate) async fn list(call: Call, ListParams(list): ListParams) -> ListResult<Webhook> {
    let request = call.request(ListWebhooksRequest { list: Some(list) });
    result::list(call.clients.webhooks().list_webhooks(request), |response| {
        (response.webhooks, response.page)
    })
    .await
}

/// Get a webhook.
pub(crate) async fn get(call: Call, path: PathParams) -> DataResult<Webhook> {
    let request = call.request(GetWebhookRequest { id: id(&path)? });
    result::versioned(call.clients.webhooks().get_webhook(request), |response| {
        response.webhook
    })
    .await
}

/// Update a webhook.
pub(crate) async fn update(
    call: Call,
    path: PathParams,
    Json(body): Json<WebhookPatch>,
) -> DataResult<Webhook> {
    let request = call.request(body.into_request(id(&path)?));
    result::versioned(
        call.clients.webhooks().update_webhook(request),
        |response| response.webhook,
    )
    .await
}

/// Delete a webhook with its deliveries.
pub(crate) async fn delete(call: Call, path: PathParams) -> EmptyResult {
    let request = call.request(DeleteWebhookRequest { id: id(&path)? });
    result::empty(call.clients.webhooks().delete_webhook(request)).await
}

/// Replace the secret of a webhook.
///
/// The response holds the new one. For 24 hours requests have a signature by the old one, too.
pub(crate) async fn rotate_secret(
    call: Call,
    path: PathParams,
    _: Action<NoFields>,
) -> DataResult<Webhook> {
    let request = call.request(RotateWebhookSecretRequest { id: id(&path)? });
    let take = |RotateWebhookSecretResponse { webhook, secret }| with_secret(webhook, secret);
    let mut webhooks = call.clients.webhooks();
    result::data(webhooks.rotate_webhook_secret(request), take).await
}

/// Send the event `webhook.ping` to a webhook.
///
/// It is sent at once, also while the webhook is disabled, and not repeated. The response tells how the
/// webhook responded.
pub(crate) async fn ping(
    call: Call,
    path: PathParams,
    _: Action<NoFields>,
) -> DataResult<WebhookPing> {
    let mut request = call.request(PingWebhookRequest { id: id(&path)? });
    request.set_timeout(PING_TIMEOUT);
    result::data(call.clients.webhooks().ping_webhook(request), Some).await
}

fn id(path: &PathParams) -> Result<String, Problem> {
    path.id("id", Code::WebhookNotFound)
}

/// Adds the secret, if the response holds it.
fn with_secret(webhook: Option<wire::Webhook>, secret: String) -> Option<Webhook> {
    let mut webhook = Webhook::from(webhook?);
    webhook.secret = dto::not_empty(secret);
    Some(webhook)
}

impl Located for Webhook {
    fn location(&self) -> String {
        format!("/webhooks/{}", self.id)
    }
}

impl Versioned for wire::Webhook {
    fn version(&self) -> i64 {
        dto::millis(self.updated_at)
    }
}

impl From<wire::Webhook> for Webhook {
    fn from(webhook: wire::Webhook) -> Self {
        let reason = webhook.disabled_reason.is_some().then(|| {
            dto::text(
                webhook.disabled_reason().as_str_name(),
                "WEBHOOK_DISABLED_REASON_",
            )
        });
        Self {
            id: webhook.id,
            url: webhook.url,
            events: webhook.events,
            description: webhook.description,
            enabled: webhook.enabled,
            disabled_at: Time::of(webhook.disabled_at),
            disabled_reason: reason,
            failing_since: Time::of(webhook.failing_since),
            created_at: Time::of(webhook.created_at),
            updated_at: Time::of(webhook.updated_at),
            secret: None,
        }
    }
}

impl From<wire::PingWebhookResponse> for WebhookPing {
    fn from(ping: wire::PingWebhookResponse) -> Self {
        Self {
            event_id: ping.event_id,
            delivered: ping.delivered,
            status_code: ping.status_code,
            error: ping.error,
            duration_ms: ping.duration_ms,
        }
    }
}

impl WebhookPatch {
    fn into_request(self, id: String) -> UpdateWebhookRequest {
        let mut mask = Mask::default();
        UpdateWebhookRequest {
            id,
            url: mask.required("url", self.url),
            events: mask.required("events", self.events).unwrap_or_default(),
            description: mask.nullable("description", self.description),
            enabled: mask.required("enabled", self.enabled),
            update_mask: Some(mask.finish()),
        }
    }
}
