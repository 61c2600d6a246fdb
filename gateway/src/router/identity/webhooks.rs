//! Webhooks and their deliveries, and the live feed of the same events.

use proto::lists::identity as lists;

use crate::{
    access::Access::Admin,
    resources::{
        events::{self, EventMessage},
        webhooks::{
            self, NewWebhook, Webhook, WebhookPatch, WebhookPing,
            deliveries::{self, WebhookDelivery},
        },
    },
    router::route::{Route, delete, get, patch, post},
};

/// Admins decide where events are sent to, and watch them.
pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/events", Admin, events::stream)
            .event_stream::<EventMessage>()
            .query_param(
                "types",
                "A comma-separated list of types, `store.order.*` or `*`; default all.",
                "store.order.*",
            )
            .query_param(
                "lastEventId",
                "The event to continue after, where the header `Last-Event-ID` cannot be set.",
                "0198c2a4-7d31-5f0e-8c44-1b7a9e2d6f03",
            ),
        get("/webhooks", Admin, webhooks::list).page::<Webhook>(&lists::WEBHOOKS),
        get("/webhooks/{id}", Admin, webhooks::get).response::<Webhook>(),
        post("/webhooks", Admin, webhooks::create)
            .body::<NewWebhook>()
            .created::<Webhook>()
            .secret(),
        patch("/webhooks/{id}", Admin, webhooks::update)
            .body::<WebhookPatch>()
            .response::<Webhook>()
            .versioned(),
        delete("/webhooks/{id}", Admin, webhooks::delete).versioned(),
        post(
            "/webhooks/{id}/rotate-secret",
            Admin,
            webhooks::rotate_secret,
        )
        .response::<Webhook>()
        .secret(),
        post("/webhooks/{id}/ping", Admin, webhooks::ping).response::<WebhookPing>(),
        get("/webhooks/{id}/deliveries", Admin, deliveries::list)
            .page::<WebhookDelivery>(&lists::WEBHOOK_DELIVERIES),
        post(
            "/webhooks/{id}/deliveries/{deliveryId}/redeliver",
            Admin,
            deliveries::redeliver,
        )
        .response::<WebhookDelivery>(),
    ]
}
