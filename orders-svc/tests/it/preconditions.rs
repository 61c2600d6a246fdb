//! Changes of only the version of an order that a client has seen.

use futures::future::join_all;
use orders_svc::consumers::bonus_revoked::RecordBonusDebt;
use platform::{clock::Clock, error::Code};
use proto::{
    events::v1::BonusRevoked,
    orders::v1::{Order, UpdateOrderRequest},
};
use sqlx::PgPool;

use crate::{
    assertions::assert_refused,
    harness::{TestApp, now},
};

/// Returns the version of an order: the milliseconds of its last change.
fn version(order: &Order) -> i64 {
    let time = order.updated_at.unwrap();
    time.seconds * 1_000 + i64::from(time.nanos) / 1_000_000
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn of_many_changes_of_an_order_for_one_version_one_succeeds(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let order = app.unpaid_order("10.00").await;
    let client = app.admin().only(version(&order));
    let ids: Vec<_> = (0..8).map(|_| app.new_id()).collect();
    let changes = ids.iter().map(|id| client.track(&order.id, Some(id)));
    let (changed, refused): (Vec<_>, Vec<_>) =
        join_all(changes).await.into_iter().partition(Result::is_ok);
    assert_eq!((changed.len(), refused.len()), (1, 7));
    for refusal in refused {
        assert_refused(refusal, Code::PreconditionFailed, &[]);
    }
    let changed = changed.into_iter().next().unwrap().unwrap();
    assert!(version(&changed) > version(&order));
    assert_eq!(app.admin().get(&order.id).await.unwrap(), changed);
    let updates = "order_history where action = 'updated'";
    assert_eq!(app.count(updates).await, 1);
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_change_that_changes_nothing_is_compared_too(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let order = app.unpaid_order("10.00").await;
    let nothing = UpdateOrderRequest {
        id: order.id.clone(),
        ..UpdateOrderRequest::default()
    };
    let read = version(&order);
    let same = app.admin().only(read).update(nothing.clone()).await;
    assert_eq!(same.unwrap(), order);
    for other in [read - 1, read + 1] {
        let refused = app.admin().only(other).update(nothing.clone()).await;
        assert_refused(refused, Code::PreconditionFailed, &[]);
    }
    let unknown = app.admin().only(read).track(&app.new_id(), None).await;
    assert_refused(unknown, Code::OrderNotFound, &[]);
}

/// The clock stands still, as it may for two changes within a millisecond.
#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn every_change_makes_another_version(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let order = app.unpaid_order("10.00").await;
    let (id, line, admin) = (&*order.id, &*order.lines[0].id, app.admin());
    let mut versions = vec![version(&order)];
    let tracking_id = app.new_id();
    for changed in [
        admin.pay(id, Some("4")).await,
        admin.pay(id, None).await,
        admin.fulfil_line(id, line, None).await,
        admin.unfulfil_line(id, line, None).await,
        admin.fulfil(id, Some(&app.new_id())).await,
        admin.track(id, Some(&tracking_id)).await,
        admin.unfulfil(id).await,
        admin.refund(id, "1").await,
        admin.cancel(id, None).await,
    ] {
        versions.push(version(&changed.unwrap()));
    }
    owe(&app, id).await;
    let last = version(&admin.get(id).await.unwrap());
    versions.push(last);
    let first = now().timestamp_millis();
    let expected: Vec<_> = (first..).take(versions.len()).collect();
    assert_eq!(versions, expected);

    for old in &versions[..versions.len() - 1] {
        let refused = app.admin().only(*old).track(id, None).await;
        assert_refused(refused, Code::PreconditionFailed, &[]);
    }
    let cleared = app.admin().only(last).track(id, None).await.unwrap();
    assert_eq!(cleared.tracking_id, None);
    app.assert_settled().await;
}

/// Records that the buyer owes a part of the bonus.
async fn owe(app: &TestApp, order_id: &str) {
    let event = BonusRevoked {
        order_id: order_id.to_owned(),
        version: 1,
        revoked: "3.00000000".to_owned(),
        owed: "1.00000000".to_owned(),
        ..BonusRevoked::default()
    };
    let mut conn = app.pool.acquire().await.unwrap();
    let record = RecordBonusDebt(Clock::fixed(now()));
    record.handle(&mut conn, event).await.unwrap();
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn what_changes_nothing_keeps_the_version(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let order = app.unpaid_order("10.00").await;
    let admin = app.admin();
    let tracking_id = app.new_id();
    let tracked = admin.track(&order.id, Some(&tracking_id)).await.unwrap();
    let again = admin.track(&order.id, Some(&tracking_id)).await.unwrap();
    let refused = admin.pay(&order.id, Some("11")).await;
    assert_refused(refused, Code::PaymentExceedsUnpaid, &["amount"]);
    let unfulfilled = admin.unfulfil(&order.id).await.unwrap();
    for same in [again, unfulfilled, admin.get(&order.id).await.unwrap()] {
        assert_eq!(version(&same), version(&tracked));
    }
}
