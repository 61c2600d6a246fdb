//! Recovery of refunds: a process dies between two steps, and another one completes what it began.

use platform::error::Code;
use proto::orders::v1::PaymentStatus;
use sqlx::PgPool;

use crate::{
    assertions::assert_refused,
    fakes::{DEFAULT_WALLET, LedgerMode},
    harness::TestApp,
    recovery::DEATHS,
};

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn an_interrupted_refund_is_completed_once(pool: PgPool) {
    let mut app = TestApp::start(pool).await;
    for death in DEATHS {
        app.set_user_balance("100.00");
        let paid = app.paid_order("60.00").await;
        let (id, line) = (&paid.id, &paid.lines[0].id);
        app.peers.set_ledger(death);
        let client = app.admin().with_key(id);
        let interrupted = client.refund_lines(id, &[(line, 1)]).await;
        assert_refused(interrupted, Code::Unavailable, &[]);
        assert_eq!(app.admin().get(id).await.unwrap(), paid);
        for busy in [
            app.admin().refund(id, "1").await,
            app.admin().pay(id, None).await,
            app.admin().cancel(id, None).await,
        ] {
            assert_refused(busy, Code::OrderBusy, &[]);
        }

        app.restart_and_recover().await;
        let client = app.admin().with_key(id);
        let refunded = client.refund_lines(id, &[(line, 1)]).await.unwrap();
        assert!(client.was_replayed());
        assert_eq!(app.admin().get(id).await.unwrap(), refunded);
        assert_eq!(refunded.payment_status(), PaymentStatus::FullyRefunded);
        let audited = app.audited(id).await;
        assert_eq!(audited, ["order.created", "order.paid", "order.refunded"]);
        assert_eq!(app.balance("usd"), "100.00000000");
        app.assert_settled().await;
    }
    assert_eq!(app.count("refunds").await, 2);
    assert_eq!(app.count("refund_legs").await, 2);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn an_interrupted_refund_is_undone_if_it_is_refused(pool: PgPool) {
    let mut app = TestApp::start(pool).await;
    let paid = app.paid_order("10.00").await;
    app.peers.set_ledger(LedgerMode::Unreachable);
    let interrupted = app.admin().refund(&paid.id, "4").await;
    assert_refused(interrupted, Code::Unavailable, &[]);
    app.peers.set_balance(DEFAULT_WALLET, "usd", "0");
    app.expire_claims().await;
    app.restart_and_recover().await;
    assert_eq!(app.admin().get(&paid.id).await.unwrap(), paid);
    assert_eq!(app.count("refunds").await, 0);
    app.assert_settled().await;
}
