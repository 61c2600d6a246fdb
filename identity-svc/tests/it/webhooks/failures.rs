//! Receivers that refuse, redirect, or do not respond.

use chrono::TimeDelta;
use platform::testing;
use proto::identity::v1::{Webhook, WebhookDelivery, WebhookDeliveryStatus, WebhookDisabledReason};
use sqlx::PgPool;

use super::{create, delivery, get, id, publish, received, start, subscribe};
use crate::{
    fake_receiver::{Behaviour, FakeReceiver},
    harness::{TIMEOUT, TestApp},
};

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_failure_is_retried_with_growing_delays(pool: PgPool) {
    let app = start(pool).await;
    let (receiver, created) = subscribe(&app).await;
    let webhook = id(&created);
    receiver.next(&[
        Behaviour::Status(500),
        Behaviour::Close,
        Behaviour::Status(404),
    ]);
    let event = publish(&app, 1).await;
    for (attempts, error, seconds) in [
        (1, "status 500", 8),
        (2, "no response", 16),
        (3, "status 404", 32),
    ] {
        let is_failed = |it: &WebhookDelivery| {
            it.attempts == attempts
                && it
                    .last_error
                    .as_deref()
                    .is_some_and(|it| it.contains(error))
        };
        let failed = delivery(&app, &webhook, error, is_failed).await;
        assert_eq!(failed.status(), WebhookDeliveryStatus::Pending);
        let delay = failed.next_attempt_at.unwrap().seconds - failed.updated_at.unwrap().seconds;
        assert!(
            (seconds..=seconds + seconds / 2).contains(&delay),
            "{delay}"
        );
        assert!(get(&app, &webhook).await.failing_since.is_some());
        app.clock.advance(TimeDelta::seconds(delay + 1));
    }
    let is_done = |it: &WebhookDelivery| it.delivered_at.is_some();
    let delivered = delivery(&app, &webhook, "delivered", is_done).await;
    assert_eq!((delivered.attempts, delivered.last_error), (4, None));
    let requests = receiver.received();
    assert!(requests.iter().all(|request| request.event_id() == event));
    assert_eq!(get(&app, &webhook).await.failing_since, None);
    app.finish().await;
}

pub(super) async fn disabled(app: &TestApp, id: &str) -> Webhook {
    testing::eventually("it is disabled", TIMEOUT, async || {
        !get(app, id).await.enabled
    })
    .await;
    get(app, id).await
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn gone_disables_at_once(pool: PgPool) {
    let app = start(pool).await;
    let (receiver, created) = subscribe(&app).await;
    receiver.always(Behaviour::Status(410));
    publish(&app, 1).await;
    let webhook = disabled(&app, &id(&created)).await;
    assert_eq!(webhook.disabled_reason(), WebhookDisabledReason::Gone);
    assert!(webhook.disabled_at.is_some());
    let is_failed = |it: &WebhookDelivery| it.status() == WebhookDeliveryStatus::Failed;
    delivery(&app, &id(&created), "failed", is_failed).await;
    let audited = "select count(*) from identity.audit_log where action = 'webhook.disabled'
                   and actor = 'service:identity-svc' and details ->> 'reason' = 'gone'";
    assert_eq!(app.count(audited).await, 1);
    let mails = "select count(*) from identity.mails";
    assert_eq!(app.count(mails).await, 0, "there is no admin");
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_webhook_that_fails_for_three_days_is_disabled(pool: PgPool) {
    let app = start(pool).await;
    let (receiver, created) = subscribe(&app).await;
    receiver.always(Behaviour::Status(500));
    publish(&app, 1).await;
    delivery(&app, &id(&created), "failed once", |it| {
        it.last_error.is_some()
    })
    .await;
    app.clock.advance(TimeDelta::days(3));
    let webhook = disabled(&app, &id(&created)).await;
    assert_eq!(webhook.disabled_reason(), WebhookDisabledReason::Failing);
    let is_failed = |it: &WebhookDelivery| it.status() == WebhookDeliveryStatus::Failed;
    let failed = delivery(&app, &id(&created), "given up", is_failed).await;
    assert_eq!((failed.attempts, failed.next_attempt_at), (2, None));
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_redirect_is_not_followed(pool: PgPool) {
    let app = start(pool).await;
    let (receiver, created) = subscribe(&app).await;
    receiver.next(&[Behaviour::Redirect]);
    publish(&app, 1).await;
    let failed = delivery(&app, &id(&created), "failed", |it| it.last_error.is_some()).await;
    let error = failed.last_error.unwrap();
    assert_eq!(error, "status 302: redirects are not followed");
    assert_eq!(received(&receiver, 1).await.len(), 1);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_name_with_a_local_address_is_not_connected_to(pool: PgPool) {
    let flags = ["--webhook-allow-http"];
    let clock = platform::clock::Clock::fixed(crate::harness::noon());
    let app = TestApp::start_with(pool, clock, &flags).await;
    let receiver = FakeReceiver::default();
    let port = receiver.start().await.port();
    // A name passes the check of the URL: what it stands for is known when it is looked up.
    let url = format!("http://localhost:{port}/");
    let created = create(&app, &url, &["store.order.*"]).await;
    publish(&app, 1).await;
    let failed = delivery(&app, &id(&created), "refused", |it| it.last_error.is_some()).await;
    let error = failed.last_error.unwrap();
    assert_eq!(error, "the host has a private or local address");
    assert_eq!(receiver.received().len(), 0);
    app.finish().await;
}
