//! Refunds at the same time as each other and as other actions.

use platform::error::Code;
use sqlx::PgPool;

use crate::{assertions::assert_refused, fakes::LedgerMode, harness::TestApp};

/// The requests go to two processes by turns.
#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn concurrent_refunds_give_back_at_most_what_was_paid(pool: PgPool) {
    let mut app = TestApp::start(pool).await;
    let id = app.paid_order("60.00").await.id;
    let first = app.start_second_process().await;
    let clients = [app.admin().through(first), app.admin()];
    let requests = (0..8).map(|n| clients[n % 2].refund(&id, "60"));
    let results = futures::future::join_all(requests).await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    assert_eq!(app.balance("usd"), "100.00000000");
    assert_eq!(app.peers.state().postings.len(), 2);
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn one_key_at_once_refunds_once(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.paid_order("60.00").await.id;
    let client = app.admin().with_key("once");
    let results = futures::future::join_all((0..4).map(|_| client.refund(&id, "10"))).await;
    for result in results {
        if let Err(failure) = result {
            assert_eq!(failure.code, Code::IdempotencyKeyInUse);
        }
    }
    client.refund(&id, "10").await.unwrap();
    assert_eq!(app.balance("usd"), "50.00000000");
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_claimed_order_is_busy(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.paid_order("60.00").await.id;
    // The call of the payment.
    app.peers.post_called.notified().await;
    app.peers.set_ledger(LedgerMode::Waits);
    let admin = app.admin();
    let others = async {
        app.peers.post_called.notified().await;
        let busy = Code::OrderBusy;
        assert_refused(admin.refund(&id, "1").await, busy, &[]);
        assert_refused(admin.cancel(&id, None).await, busy, &[]);
        assert_refused(admin.fulfil(&id, None).await, busy, &[]);
        app.peers.post_may_continue.notify_one();
    };
    let client = app.admin();
    let (refunded, ()) = tokio::join!(client.refund(&id, "10"), others);
    refunded.unwrap();
    app.assert_settled().await;
}
