//! Holds: captured, released, refunded.

use platform::error::Code;
use proto::wallet::v1::{self as wire, TransactionStatus};
use sqlx::PgPool;

use crate::harness::{Rejection, TestApp, operation, posting, rejection, result, usd};

fn hold(id: &str, postings: Vec<wire::Posting>) -> wire::HoldRequest {
    wire::HoldRequest {
        operation_id: id.to_owned(),
        postings,
    }
}

fn capture(id: &str) -> wire::CaptureRequest {
    wire::CaptureRequest {
        operation_id: id.to_owned(),
    }
}

fn release(id: &str) -> wire::ReleaseRequest {
    wire::ReleaseRequest {
        operation_id: id.to_owned(),
    }
}

fn refund(id: &str, of: &str, parts: &[(u32, &str)]) -> wire::RefundRequest {
    let part = |(index, amount): &(u32, &str)| wire::RefundPart {
        index: *index,
        amount: (*amount).to_owned(),
    };
    wire::RefundRequest {
        operation_id: id.to_owned(),
        refunded_operation_id: of.to_owned(),
        parts: parts.iter().map(part).collect(),
        metadata: r#"{"orderId":"o-1"}"#.to_owned(),
        ..wire::RefundRequest::default()
    }
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_hold_is_captured_once(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (a, b) = (app.funded_wallet("10").await, app.new_wallet().await);
    let request = hold("h", vec![posting(&a, &b, "6"), posting(&a, &b, "1")]);
    let held = result(app.admin.ledger().hold(request.clone()).await).unwrap();
    let status = held.transactions[0].status();
    assert_eq!(status, TransactionStatus::Processing);
    assert_eq!(app.balances(&a).await, [usd("10").available("3").held("7")]);
    assert_eq!(app.balances(&b).await, [usd("0").incoming("7")]);
    assert_eq!(
        result(app.admin.ledger().hold(request).await).unwrap(),
        held
    );

    let rejected = result(app.admin.ledger().refund(refund("r", "h", &[])).await);
    assert_eq!(rejection(rejected).code, Code::InvalidState);
    let captured = result(app.admin.ledger().capture(capture("h")).await).unwrap();
    let states = captured.transactions.iter().map(wire::Transaction::status);
    assert!(states.eq([TransactionStatus::Confirmed; 2]));
    assert_eq!(captured.transactions[0].id, held.transactions[0].id);
    assert_eq!(app.balances(&a).await, [usd("3")]);
    assert_eq!(app.balances(&b).await, [usd("7")]);

    let again = result(app.admin.ledger().capture(capture("h")).await).unwrap();
    assert_eq!(again, captured);
    let late = result(app.admin.ledger().release(release("h")).await);
    assert_eq!(rejection(late).code, Code::InvalidState);
    assert_eq!(app.balances(&b).await, [usd("7")]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn released_money_can_be_spent_again(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (a, b) = (app.funded_wallet("10").await, app.new_wallet().await);
    let all = || hold("h", vec![posting(&a, &b, "10")]);
    result(app.admin.ledger().hold(all()).await).unwrap();
    let rejected = app.transfer(&a, &b, "0.01", true).await;
    assert_eq!(rejection(rejected).code, Code::InsufficientFunds);

    // A hold on a locked wallet can be released but not captured.
    app.lock(&b, true).await;
    let rejected = result(app.admin.ledger().capture(capture("h")).await);
    assert_eq!(rejection(rejected).code, Code::WalletLocked);
    let released = result(app.admin.ledger().release(release("h")).await).unwrap();
    let status = released.transactions[0].status();
    assert_eq!(status, TransactionStatus::Failed);
    let again = result(app.admin.ledger().release(release("h")).await).unwrap();
    assert_eq!(again, released);
    let late = result(app.admin.ledger().capture(capture("h")).await);
    assert_eq!(rejection(late).code, Code::InvalidState);
    assert_eq!(app.balances(&a).await, [usd("10")]);

    for unknown in ["never", ""] {
        let rejected = result(app.admin.ledger().capture(capture(unknown)).await);
        assert_eq!(rejection(rejected).code, Code::TransactionNotFound);
    }
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn refunds_never_exceed_the_amount_moved(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (a, b) = (app.funded_wallet("10").await, app.new_wallet().await);
    let paid = operation("p", vec![posting(&a, &b, "6"), posting(&a, &b, "4")]);
    result(app.admin.ledger().post(paid).await).unwrap();
    app.lock(&a, true).await;

    let back = refund("r1", "p", &[(1, "1.50"), (1, "0.50")]);
    let first = result(app.admin.ledger().refund(back.clone()).await).unwrap();
    assert_eq!(first.transactions.len(), 2);
    let sent = &first.transactions[0];
    assert_eq!((&*sent.code, &*sent.amount), ("refund", "1.50000000"));
    assert_eq!(sent.metadata, r#"{"orderId":"o-1"}"#);
    let again = result(app.admin.ledger().refund(back).await).unwrap();
    assert_eq!(again, first);
    assert_eq!(app.balances(&a).await, [usd("2")]);

    for parts in [&[(1, "2.01")][..], &[(0, "6"), (0, "0.01")]] {
        let rejected = result(app.admin.ledger().refund(refund("r2", "p", parts)).await);
        let exceeds = Rejection::new(Code::RefundExceedsPaid, &["parts"]);
        assert_eq!(rejection(rejected), exceeds);
    }
    let rejected = result(
        app.admin
            .ledger()
            .refund(refund("r2", "p", &[(2, "1")]))
            .await,
    );
    assert_eq!(rejection(rejected).code, Code::ValidationFailed);
    assert_eq!(app.balances(&a).await, [usd("2")]);

    // Without parts the rest is refunded, and nothing is left.
    let rest = result(app.admin.ledger().refund(refund("r2", "p", &[])).await).unwrap();
    let amounts = rest.transactions.iter().map(|tx| &*tx.amount);
    assert!(amounts.eq(["6.00000000", "2.00000000"]));
    assert_eq!(app.balances(&a).await, [usd("10")]);
    let rejected = result(app.admin.ledger().refund(refund("r3", "p", &[])).await);
    assert_eq!(rejection(rejected).code, Code::RefundExceedsPaid);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn an_operation_id_cannot_be_reused_for_another_operation(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (a, b) = (app.funded_wallet("10").await, app.new_wallet().await);
    let post = |postings| operation("p", postings);
    result(
        app.admin
            .ledger()
            .post(post(vec![posting(&a, &b, "1")]))
            .await,
    )
    .unwrap();
    for other in [
        vec![posting(&a, &b, "2")],
        vec![posting(&b, &a, "1")],
        vec![posting(&a, &b, "1"), posting(&a, &b, "1")],
    ] {
        let rejected = result(app.admin.ledger().post(post(other)).await);
        assert_eq!(rejection(rejected).code, Code::IdempotencyKeyReused);
    }
    let rejected = result(app.admin.ledger().refund(refund("p", "p", &[])).await);
    assert_eq!(rejection(rejected).code, Code::IdempotencyKeyReused);
    assert_eq!(app.balances(&b).await, [usd("1")]);

    // Held money has not moved.
    let held = hold("h", vec![posting(&a, &b, "1")]);
    result(app.admin.ledger().hold(held).await).unwrap();
    let posted = operation("h", vec![posting(&a, &b, "1")]);
    let rejected = result(app.admin.ledger().post(posted).await);
    assert_eq!(rejection(rejected).code, Code::IdempotencyKeyReused);

    // Another refund is one of another operation, or of other parts.
    let other = operation("o", vec![posting(&a, &b, "1")]);
    result(app.admin.ledger().post(other).await).unwrap();
    let back = refund("r", "p", &[(0, "0.50")]);
    result(app.admin.ledger().refund(back).await).unwrap();
    for (of, parts) in [
        ("o", &[(0, "0.50")][..]),
        ("o", &[]),
        ("p", &[(0, "0.25")]),
        ("p", &[(0, "0.50"), (0, "0.50")]),
    ] {
        let rejected = result(app.admin.ledger().refund(refund("r", of, parts)).await);
        assert_eq!(rejection(rejected).code, Code::IdempotencyKeyReused, "{of}");
    }
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn concurrent_capture_and_release_accept_exactly_one(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let mut replica = app.replica().await;
    let (a, b) = (app.funded_wallet("20").await, app.new_wallet().await);
    for round in 0..20 {
        let id = format!("h{round}");
        let request = hold(&id, vec![posting(&a, &b, "1")]);
        result(app.admin.ledger().hold(request).await).unwrap();
        let (mut here, mut there) = (app.admin.ledger(), replica.admin.ledger());
        let (captured, released) =
            futures::join!(here.capture(capture(&id)), there.release(release(&id)));
        assert_ne!(captured.is_ok(), released.is_ok());
        let loser = captured.err().or(released.err()).unwrap();
        assert_eq!(rejection::<()>(result(Err(loser))).code, Code::InvalidState);
    }
    replica.stop().await;
    app.finish().await;
}
