//! Operations that hold money: captured, released, given back.

use platform::error::Code;
use proto::wallet::v1::{self as wire, TransactionStatus};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::bed::{Bed, posting, refused, result};

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
async fn what_is_held_is_captured_once(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let (a, b) = (bed.funded("10").await, bed.wallet().await);
    let request = hold("h", vec![posting(&a, &b, "6"), posting(&a, &b, "1")]);
    let held = result(bed.ledger().hold(request.clone()).await).unwrap();
    let status = held.transactions[0].status();
    assert_eq!(status, TransactionStatus::Processing);
    assert_eq!(bed.balance(&a).await, ["usd 10 3 7 0"]);
    assert_eq!(bed.balance(&b).await, ["usd 0 0 0 7"]);
    assert_eq!(result(bed.ledger().hold(request).await).unwrap(), held);

    let refusal = result(bed.ledger().refund(refund("r", "h", &[])).await);
    assert_eq!(refused(refusal).0, Code::InvalidState);
    let captured = result(bed.ledger().capture(capture("h")).await).unwrap();
    let states = captured.transactions.iter().map(wire::Transaction::status);
    assert!(states.eq([TransactionStatus::Confirmed; 2]));
    assert_eq!(captured.transactions[0].id, held.transactions[0].id);
    assert_eq!(bed.balance(&a).await, ["usd 3 3 0 0"]);
    assert_eq!(bed.balance(&b).await, ["usd 7 7 0 0"]);

    let again = result(bed.ledger().capture(capture("h")).await).unwrap();
    assert_eq!(again, captured);
    let late = result(bed.ledger().release(release("h")).await);
    assert_eq!(refused(late).0, Code::InvalidState);
    assert_eq!(bed.balance(&b).await, ["usd 7 7 0 0"]);
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn what_is_released_can_be_spent_again(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let (a, b) = (bed.funded("10").await, bed.wallet().await);
    let all = || hold("h", vec![posting(&a, &b, "10")]);
    result(bed.ledger().hold(all()).await).unwrap();
    let refusal = bed.transfer(&a, &b, "0.01", true).await;
    assert_eq!(refused(refusal).0, Code::InsufficientFunds);

    // A hold on a wallet that is locked can be given up, and cannot be captured.
    bed.lock(&b, true).await;
    let refusal = result(bed.ledger().capture(capture("h")).await);
    assert_eq!(refused(refusal).0, Code::WalletLocked);
    let released = result(bed.ledger().release(release("h")).await).unwrap();
    let status = released.transactions[0].status();
    assert_eq!(status, TransactionStatus::Failed);
    let again = result(bed.ledger().release(release("h")).await).unwrap();
    assert_eq!(again, released);
    let late = result(bed.ledger().capture(capture("h")).await);
    assert_eq!(refused(late).0, Code::InvalidState);
    assert_eq!(bed.balance(&a).await, ["usd 10 10 0 0"]);

    for unknown in ["never", ""] {
        let refusal = result(bed.ledger().capture(capture(unknown)).await);
        assert_eq!(refused(refusal).0, Code::TransactionNotFound);
    }
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn no_more_goes_back_than_was_moved(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let (a, b) = (bed.funded("10").await, bed.wallet().await);
    let paid = wire::PostRequest {
        operation_id: "p".to_owned(),
        postings: vec![posting(&a, &b, "6"), posting(&a, &b, "4")],
    };
    result(bed.ledger().post(paid).await).unwrap();
    bed.lock(&a, true).await;

    let back = refund("r1", "p", &[(1, "1.50"), (1, "0.50")]);
    let first = result(bed.ledger().refund(back.clone()).await).unwrap();
    assert_eq!(first.transactions.len(), 2);
    let sent = &first.transactions[0];
    assert_eq!((&*sent.code, &*sent.amount), ("refund", "1.50000000"));
    assert_eq!(sent.metadata, r#"{"orderId":"o-1"}"#);
    let again = result(bed.ledger().refund(back).await).unwrap();
    assert_eq!(again, first);
    assert_eq!(bed.balance(&a).await, ["usd 2 2 0 0"]);

    for parts in [&[(1, "2.01")][..], &[(0, "6"), (0, "0.01")]] {
        let refusal = result(bed.ledger().refund(refund("r2", "p", parts)).await);
        let parts = vec!["parts".to_owned()];
        assert_eq!(refused(refusal), (Code::RefundExceedsPaid, parts));
    }
    let refusal = result(bed.ledger().refund(refund("r2", "p", &[(2, "1")])).await);
    assert_eq!(refused(refusal).0, Code::ValidationFailed);
    assert_eq!(bed.balance(&a).await, ["usd 2 2 0 0"]);

    // Without parts: the rest. Then nothing is left.
    let rest = result(bed.ledger().refund(refund("r2", "p", &[])).await).unwrap();
    let amounts = rest.transactions.iter().map(|tx| &*tx.amount);
    assert!(amounts.eq(["6.00000000", "2.00000000"]));
    assert_eq!(bed.balance(&a).await, ["usd 10 10 0 0"]);
    let refusal = result(bed.ledger().refund(refund("r3", "p", &[])).await);
    assert_eq!(refused(refusal).0, Code::RefundExceedsPaid);
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn an_operation_id_names_one_operation(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let (a, b) = (bed.funded("10").await, bed.wallet().await);
    let post = |postings| wire::PostRequest {
        operation_id: "p".to_owned(),
        postings,
    };
    result(bed.ledger().post(post(vec![posting(&a, &b, "1")])).await).unwrap();
    for other in [
        vec![posting(&a, &b, "2")],
        vec![posting(&b, &a, "1")],
        vec![posting(&a, &b, "1"), posting(&a, &b, "1")],
    ] {
        let refusal = result(bed.ledger().post(post(other)).await);
        assert_eq!(refused(refusal).0, Code::IdempotencyKeyReused);
    }
    let refusal = result(bed.ledger().refund(refund("p", "p", &[])).await);
    assert_eq!(refused(refusal).0, Code::IdempotencyKeyReused);
    assert_eq!(bed.balance(&b).await, ["usd 1 1 0 0"]);
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn capture_and_release_at_once_end_one_way(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let mut replica = bed.replica().await;
    let (a, b) = (bed.funded("20").await, bed.wallet().await);
    for round in 0..20 {
        let id = format!("h{round}");
        let request = hold(&id, vec![posting(&a, &b, "1")]);
        result(bed.ledger().hold(request).await).unwrap();
        let (mut here, mut there) = (bed.ledger(), replica.ledger());
        let (captured, released) =
            futures::join!(here.capture(capture(&id)), there.release(release(&id)));
        assert_ne!(captured.is_ok(), released.is_ok());
        let loser = captured.err().or(released.err()).unwrap();
        assert_eq!(refused::<()>(result(Err(loser))).0, Code::InvalidState);
    }
    replica.stop().await;
    bed.end().await;
}
