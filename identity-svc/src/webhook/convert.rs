//! Conversion between webhooks and their messages.

use platform::{
    clock::to_proto,
    error::{Failure, InvalidValue},
    fields::{CHECKED, Fields, required},
    patch::Patch,
    text,
};
use proto::identity::v1::{self as wire, CreateWebhookRequest, UpdateWebhookRequest};

use super::{
    Rules,
    delivery::{Delivery, Status},
    model::{self, DisabledReason, NewWebhook, Webhook, WebhookPatch},
    sender::Attempt,
};
use crate::fields::MAX_TEXT;

/// Decodes a creation. The error names every invalid field.
pub(super) fn new_webhook(
    request: CreateWebhookRequest,
    rules: Rules,
) -> Result<NewWebhook, Failure> {
    let mut fields = Fields::of_create();
    let url = fields.required("url", request.url, |text| url(text, rules));
    let events = fields.optional("events", Some(request.events), model::check_events);
    let description = fields.optional("description", request.description, description);
    fields.finish()?;
    Ok(NewWebhook {
        url: url.expect(CHECKED),
        events: events.expect(CHECKED),
        description: description.unwrap_or_default(),
        enabled: request.enabled.unwrap_or(true),
    })
}

/// Decodes an update. The error names every invalid field.
pub(super) fn patch(request: UpdateWebhookRequest, rules: Rules) -> Result<WebhookPatch, Failure> {
    let mut fields = Fields::of_update(request.update_mask);
    let patch = WebhookPatch {
        url: fields.changed("url", request.url, |text| url(text, rules)),
        events: fields.changed("events", Some(request.events), model::check_events),
        description: match fields.patched("description", request.description, description) {
            Patch::Set(text) => Some(text),
            Patch::Null => Some(String::new()),
            Patch::Absent => None,
        },
        enabled: fields.changed("enabled", request.enabled, Ok),
    };
    fields.finish()?;
    Ok(patch)
}

fn url(text: String, rules: Rules) -> Result<String, InvalidValue> {
    if text.is_empty() {
        return required();
    }
    rules.parse(&text).map(|_| text)
}

fn description(text: String) -> Result<String, InvalidValue> {
    text::bounded(text, 0..=MAX_TEXT)
}

pub(super) fn webhook(webhook: Webhook) -> wire::Webhook {
    let reason = webhook.disabled_reason.map(|reason| match reason {
        DisabledReason::Admin => wire::WebhookDisabledReason::Admin,
        DisabledReason::Gone => wire::WebhookDisabledReason::Gone,
        DisabledReason::Failing => wire::WebhookDisabledReason::Failing,
    });
    wire::Webhook {
        id: webhook.id.to_string(),
        url: webhook.url,
        events: webhook.events,
        description: webhook.description,
        enabled: webhook.enabled,
        disabled_at: webhook.disabled_at.map(to_proto),
        disabled_reason: reason.map(Into::into),
        failing_since: webhook.failing_since.map(to_proto),
        created_at: Some(to_proto(webhook.created_at)),
        updated_at: Some(to_proto(webhook.updated_at)),
    }
}

pub(super) fn delivery(delivery: Delivery) -> wire::WebhookDelivery {
    let number = |number: i32| number.unsigned_abs();
    let is_pending = delivery.status == Status::Pending;
    let status = match delivery.status {
        Status::Pending => wire::WebhookDeliveryStatus::Pending,
        Status::Delivered => wire::WebhookDeliveryStatus::Delivered,
        Status::Failed => wire::WebhookDeliveryStatus::Failed,
    };
    wire::WebhookDelivery {
        id: delivery.id.to_string(),
        webhook_id: delivery.webhook_id.to_string(),
        event_id: delivery.event_id.to_string(),
        event_type: delivery.event_type,
        status: status.into(),
        attempts: number(delivery.attempts),
        next_attempt_at: is_pending.then(|| to_proto(delivery.due_at)),
        last_attempted_at: delivery.last_attempted_at.map(to_proto),
        last_status_code: delivery.last_status_code.map(number),
        last_error: delivery.last_error,
        last_duration_ms: delivery.last_duration_ms.map(number),
        delivered_at: delivery.delivered_at.map(to_proto),
        created_at: Some(to_proto(delivery.created_at)),
        updated_at: Some(to_proto(delivery.updated_at)),
    }
}

pub(super) fn ping(event_id: String, attempt: Attempt) -> wire::PingWebhookResponse {
    wire::PingWebhookResponse {
        event_id,
        delivered: attempt.error.is_none(),
        status_code: attempt.status.map(u32::from),
        duration_ms: attempt.millis(),
        error: attempt.error,
    }
}
