//! What arrives at a webhook.

use std::time::Duration;

use chrono::TimeDelta;
use identity_svc::public_event::EventRow;
use platform::{clock::Clock, error::Code, testing};
use prost_types::FieldMask;
use proto::identity::v1::{
    PingWebhookRequest, RedeliverWebhookRequest, RotateWebhookSecretRequest, UpdateWebhookRequest,
    WebhookDeliveryStatus,
};
use serde_json::json;
use sqlx::PgPool;
use uuid::Uuid;

use super::{LOCAL, deliveries, delivery, id, publish, received, start, subscribe};
use crate::{
    fake_receiver::Behaviour,
    harness::{TIMEOUT, TestApp, code, error, keyed, noon},
};

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn an_event_arrives_signed(pool: PgPool) {
    let app = start(pool).await;
    let (receiver, created) = subscribe(&app).await;
    let event = publish(&app, 7).await;
    let [request] = &received(&receiver, 1).await[..] else {
        panic!("one request expected")
    };
    assert_eq!(request.line, "POST /hook?a=1 HTTP/1.1");
    assert_eq!(request.headers["content-type"], "application/json");
    assert_eq!(request.event_id(), event);
    assert_eq!(
        request.headers["webhook-timestamp"],
        noon().timestamp().to_string()
    );
    assert!(request.is_signed_by(&created.secret), "{request:?}");
    assert_eq!(request.signatures().len(), 1);
    let payload = request.json();
    assert_eq!(payload["type"], "store.order.paid");
    assert_eq!(payload["data"], json!({"orderId": "7"}));
    let is_done = |it: &_| status(it) == WebhookDeliveryStatus::Delivered;
    let delivered = delivery(&app, &id(&created), "delivered", is_done).await;
    assert_eq!(
        (delivered.attempts, delivered.last_status_code),
        (1, Some(204))
    );
    assert_eq!(
        (delivered.last_error, delivered.next_attempt_at),
        (None, None)
    );
    assert!(delivered.delivered_at.is_some());
    app.finish().await;
}

fn status(delivery: &proto::identity::v1::WebhookDelivery) -> WebhookDeliveryStatus {
    delivery.status()
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn only_selected_events_are_queued_and_each_once(pool: PgPool) {
    let app = start(pool).await;
    let (receiver, created) = subscribe(&app).await;
    let other = (Uuid::from_u128(1), "task.task.completed", "{}".to_owned());
    app.record([other]).await;
    // An event that is recorded again is the same.
    for number in [1, 1, 2] {
        publish(&app, number).await;
    }
    received(&receiver, 2).await;
    assert_eq!(deliveries(&app, &id(&created)).await.len(), 2);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn both_events_of_a_row_are_sent_with_ids_of_their_own(pool: PgPool) {
    let app = start(pool).await;
    let (receiver, created) = subscribe(&app).await;
    let row = EventRow {
        id: Uuid::from_u128(8),
        event_type: "store.order.paid".to_owned(),
        before_type: Some("store.order.created".to_owned()),
        data: r#"{"orderId":"8"}"#.to_owned(),
        occurred_at: app.clock.now(),
    };
    app.record_rows(&[row.clone(), row]).await;
    let mut sent = received(&receiver, 2).await;
    sent.sort_by_key(|request| request.event_id().to_owned());
    let expected = [(7, "store.order.created"), (8, "store.order.paid")];
    for (request, (number, event_type)) in sent.iter().zip(expected) {
        assert_eq!(request.event_id(), Uuid::from_u128(number).to_string());
        let payload = request.json();
        assert_eq!(payload["type"], event_type);
        assert_eq!(payload["data"]["orderId"], "8");
    }
    assert_eq!(deliveries(&app, &id(&created)).await.len(), 2);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn an_event_whose_result_was_lost_is_sent_again_with_its_id(pool: PgPool) {
    let app = start(pool).await;
    let (receiver, created) = subscribe(&app).await;
    publish(&app, 1).await;
    let is_done = |it: &_| status(it) == WebhookDeliveryStatus::Delivered;
    delivery(&app, &id(&created), "delivered", is_done).await;
    // As it is if the process ends after the response and before the record: until its lease ends.
    app.execute(
        "update identity.webhook_deliveries
         set status = 'pending', delivered_at = null, due_at = due_at + interval '30 seconds'",
    )
    .await;
    app.clock.advance(TimeDelta::minutes(1));
    let requests = received(&receiver, 2).await;
    assert_eq!(requests[0].event_id(), requests[1].event_id());
    assert_eq!(requests[0].body, requests[1].body);
    assert!(requests[1].is_signed_by(&created.secret));
    assert_ne!(
        requests[0].headers["webhook-timestamp"],
        requests[1].headers["webhook-timestamp"]
    );
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_replaced_secret_signs_too_for_a_day(pool: PgPool) {
    let app = start(pool).await;
    let (receiver, created) = subscribe(&app).await;
    let rotate = RotateWebhookSecretRequest { id: id(&created) };
    let rotated = app.webhooks().rotate_webhook_secret(rotate).await.unwrap();
    let secret = rotated.into_inner().secret;
    publish(&app, 1).await;
    let request = received(&receiver, 1).await.remove(0);
    assert!(request.is_signed_by(&secret) && request.is_signed_by(&created.secret));
    app.clock.advance(TimeDelta::hours(24));
    publish(&app, 2).await;
    let request = received(&receiver, 2).await.remove(1);
    assert!(request.is_signed_by(&secret) && !request.is_signed_by(&created.secret));
    assert_eq!(request.signatures().len(), 1);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_delivery_is_repeated_by_hand_with_its_id(pool: PgPool) {
    let app = start(pool).await;
    let (receiver, created) = subscribe(&app).await;
    publish(&app, 1).await;
    let is_done = |it: &_| status(it) == WebhookDeliveryStatus::Delivered;
    let delivered = delivery(&app, &id(&created), "delivered", is_done).await;
    let request = |delivery_id: &str| RedeliverWebhookRequest {
        webhook_id: id(&created),
        delivery_id: delivery_id.to_owned(),
    };
    for _ in 0..2 {
        let request = keyed(request(&delivered.id), "k", "00");
        let again = app.webhooks().redeliver_webhook(request).await.unwrap();
        let again = again.into_inner().delivery.unwrap();
        assert_eq!(again.status(), WebhookDeliveryStatus::Pending);
    }
    let requests = received(&receiver, 2).await;
    assert_eq!(requests[0].event_id(), requests[1].event_id());
    let is_again = |it: &_| status(it) == WebhookDeliveryStatus::Delivered;
    let again = delivery(&app, &id(&created), "delivered again", is_again).await;
    assert_eq!(again.attempts, 2, "a repeated request has no effect");
    for unknown in ["x", &*id(&created)] {
        let refused = app.webhooks().redeliver_webhook(request(unknown)).await;
        assert_eq!(code(refused), Code::WebhookDeliveryNotFound);
    }
    set_enabled(&app, &id(&created), false).await;
    let refused = app
        .webhooks()
        .redeliver_webhook(request(&delivered.id))
        .await;
    assert_eq!(code(refused), Code::InvalidState);
    app.finish().await;
}

async fn set_enabled(app: &TestApp, id: &str, enabled: bool) {
    let request = UpdateWebhookRequest {
        id: id.to_owned(),
        enabled: Some(enabled),
        update_mask: Some(FieldMask {
            paths: vec!["enabled".to_owned()],
        }),
        ..UpdateWebhookRequest::default()
    };
    app.webhooks().update_webhook(request).await.unwrap();
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn an_enabled_webhook_continues_with_what_it_lacks(pool: PgPool) {
    let app = start(pool).await;
    let (receiver, created) = subscribe(&app).await;
    receiver.next(&[Behaviour::Status(500)]);
    let event = publish(&app, 1).await;
    delivery(&app, &id(&created), "failed once", |it| {
        it.last_error.is_some()
    })
    .await;
    set_enabled(&app, &id(&created), false).await;
    app.clock.advance(TimeDelta::minutes(1));
    // While it is disabled, new events are not for it.
    publish(&app, 2).await;
    assert_eq!(receiver.received().len(), 1);
    set_enabled(&app, &id(&created), true).await;
    let requests = received(&receiver, 2).await;
    assert_eq!(requests[1].event_id(), event);
    assert_eq!(deliveries(&app, &id(&created)).await.len(), 1);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_ping_returns_the_response_of_the_webhook(pool: PgPool) {
    let app = start(pool).await;
    let (receiver, created) = subscribe(&app).await;
    set_enabled(&app, &id(&created), false).await;
    receiver.next(&[
        Behaviour::Status(200),
        Behaviour::Status(503),
        Behaviour::Close,
    ]);
    let ping = async |key: &str| {
        let request = PingWebhookRequest { id: id(&created) };
        let pinged = app.webhooks().ping_webhook(keyed(request, key, "00")).await;
        pinged.unwrap().into_inner()
    };
    let first = ping("a").await;
    assert!(
        first.delivered && first.status_code == Some(200),
        "{first:?}"
    );
    assert_eq!(ping("a").await, first, "the recorded result");
    let second = ping("b").await;
    assert_eq!((second.delivered, second.status_code), (false, Some(503)));
    assert_eq!(second.error.as_deref(), Some("status 503"));
    let third = ping("c").await;
    assert_eq!((third.delivered, third.status_code), (false, None));
    let requests = receiver.received();
    assert_eq!(requests.len(), 3);
    assert_eq!(requests[0].json()["type"], "webhook.ping");
    assert_eq!(
        requests[0].json()["data"],
        json!({"webhookId": id(&created)})
    );
    assert!(requests[0].is_signed_by(&created.secret));
    assert_eq!(deliveries(&app, &id(&created)).await.len(), 0);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn pings_beyond_eight_a_minute_are_refused(pool: PgPool) {
    let app = start(pool).await;
    let (receiver, created) = subscribe(&app).await;
    let ping = || {
        let request = PingWebhookRequest { id: id(&created) };
        let mut webhooks = app.webhooks();
        async move { webhooks.ping_webhook(request).await }
    };
    for _ in 0..8 {
        ping().await.unwrap();
    }
    let refused = error(ping().await);
    assert_eq!(refused.code, Code::RateLimited);
    assert_eq!(refused.retry_after, Some(Duration::from_mins(1)));
    assert_eq!(receiver.received().len(), 8);
    app.clock.advance(TimeDelta::minutes(1));
    ping().await.unwrap();
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn events_and_deliveries_are_kept_for_two_weeks(pool: PgPool) {
    let mut app = TestApp::start_with(pool, Clock::system(), &LOCAL).await;
    let (receiver, created) = subscribe(&app).await;
    for number in [1, 2] {
        publish(&app, number).await;
    }
    received(&receiver, 2).await;
    app.stop().await;
    app.execute(
        "update identity.public_events set created_at = now()
             - case when data like '%\"1\"%' then interval '15 days' else interval '13 days' end",
    )
    .await;
    // The first purge is at the start.
    app.start_process(&LOCAL).await;
    testing::eventually("the old event is deleted", TIMEOUT, async || {
        deliveries(&app, &id(&created)).await.len() == 1
    })
    .await;
    let left = app
        .count("select count(*) from identity.public_events")
        .await;
    assert!(left >= 1);
    app.finish().await;
}
