//! Webhooks do not hold each other up.

use std::collections::BTreeSet;

use platform::testing;
use sqlx::PgPool;

use super::{deliveries, id, publish, received, start, subscribe};
use crate::{fake_receiver::Behaviour, harness::TIMEOUT};

/// More than the slots of one webhook.
const EVENTS: u128 = 40;

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn one_that_does_not_respond_holds_up_no_other(pool: PgPool) {
    let app = start(pool).await;
    let (dead, dead_webhook) = subscribe(&app).await;
    let (well, _) = subscribe(&app).await;
    dead.always(Behaviour::Hang);
    for number in 0..EVENTS {
        publish(&app, number).await;
    }
    let requests = received(&well, EVENTS as usize).await;
    let events: BTreeSet<_> = requests
        .iter()
        .map(crate::fake_receiver::Received::event_id)
        .collect();
    assert_eq!(events.len(), EVENTS as usize);
    let waiting = deliveries(&app, &id(&dead_webhook)).await;
    assert!(
        waiting
            .iter()
            .all(|delivery| delivery.delivered_at.is_none())
    );
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn two_processes_send_each_event_once(pool: PgPool) {
    let (one, two) = (start(pool.clone()).await, start(pool).await);
    let (receiver, created) = subscribe(&one).await;
    for number in 0..EVENTS {
        publish(&one, number).await;
    }
    testing::eventually("all are delivered", TIMEOUT, async || {
        let sql = "select count(*) from identity.webhook_deliveries
                   where status = 'delivered' and attempts = 1";
        one.count(sql).await == i64::try_from(EVENTS).unwrap()
    })
    .await;
    assert_eq!(receiver.received().len(), EVENTS as usize);
    let positions = "select count(distinct position) from identity.public_events
                     where event_type = 'store.order.paid'";
    assert_eq!(one.count(positions).await, i64::try_from(EVENTS).unwrap());
    assert!(
        receiver
            .received()
            .iter()
            .all(|it| it.is_signed_by(&created.secret))
    );
    one.finish().await;
    two.finish().await;
}
