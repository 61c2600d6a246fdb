//! `/webhooks/{id}/deliveries`

use platform::error::Code;
use proto::identity::v1::{self as wire, ListWebhookDeliveriesRequest, RedeliverWebhookRequest};
use serde::Serialize;

use super::id;
use crate::{
    extract::{Action, Call, ListParams, NoFields, PathParams},
    resources::{
        dto::{self, Time},
        result::{self, DataResult, ListResult},
    },
};

/// An event for a webhook.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WebhookDelivery {
    id: String,
    webhook_id: String,
    /// The `webhook-id` of its requests: the same at each attempt.
    event_id: String,
    event_type: String,
    /// `pending`, `delivered` or `failed`.
    status: String,
    attempts: u32,
    /// `null` unless it is pending.
    next_attempt_at: Option<Time>,
    last_attempted_at: Option<Time>,
    /// The status of the last response; `null` without one.
    last_status_code: Option<u32>,
    /// Why the last attempt failed.
    last_error: Option<String>,
    last_duration_ms: Option<u32>,
    delivered_at: Option<Time>,
    created_at: Option<Time>,
    updated_at: Option<Time>,
}

/// List the deliveries of a webhook. They are kept for two weeks.
pub(crate) async fn list(
    call: Call,
    path: PathParams,
    ListParams(list): ListParams,
) -> ListResult<WebhookDelivery> {
    let request = call.request(ListWebhookDeliveriesRequest {
        webhook_id: id(&path)?,
        list: Some(list),
    });
    let mut webhooks = call.clients.webhooks();
    result::list(webhooks.list_webhook_deliveries(request), |response| {
        (response.deliveries, response.page)
    })
    .await
}

/// Send an event to a webhook again.
///
/// It is sent soon after the response, with the same `webhook-id`, whatever became of it before.
pub(crate) async fn redeliver(
    call: Call,
    path: PathParams,
    _: Action<NoFields>,
) -> DataResult<WebhookDelivery> {
    let request = call.request(RedeliverWebhookRequest {
        webhook_id: id(&path)?,
        delivery_id: path.id("deliveryId", Code::WebhookDeliveryNotFound)?,
    });
    let mut webhooks = call.clients.webhooks();
    result::data(webhooks.redeliver_webhook(request), |response| {
        response.delivery
    })
    .await
}

impl From<wire::WebhookDelivery> for WebhookDelivery {
    fn from(delivery: wire::WebhookDelivery) -> Self {
        Self {
            status: dto::text(delivery.status().as_str_name(), "WEBHOOK_DELIVERY_STATUS_"),
            id: delivery.id,
            webhook_id: delivery.webhook_id,
            event_id: delivery.event_id,
            event_type: delivery.event_type,
            attempts: delivery.attempts,
            next_attempt_at: Time::of(delivery.next_attempt_at),
            last_attempted_at: Time::of(delivery.last_attempted_at),
            last_status_code: delivery.last_status_code,
            last_error: delivery.last_error,
            last_duration_ms: delivery.last_duration_ms,
            delivered_at: Time::of(delivery.delivered_at),
            created_at: Time::of(delivery.created_at),
            updated_at: Time::of(delivery.updated_at),
        }
    }
}
