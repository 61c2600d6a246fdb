//! Ledger operations: whole or not at all, once.

use futures::future::join_all;
use platform::error::Code;
use proto::wallet::v1 as wire;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::bed::{Bed, posting, refused, result};

fn operation(id: &str, postings: Vec<wire::Posting>) -> wire::PostRequest {
    wire::PostRequest {
        operation_id: id.to_owned(),
        postings,
    }
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn all_legs_or_none(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let (a, b, c) = (
        bed.funded("10").await,
        bed.wallet().await,
        bed.wallet().await,
    );
    let short = operation(
        "order:1:pay:1",
        vec![posting(&a, &b, "8"), posting(&a, &c, "3")],
    );
    let refusal = result(bed.ledger().post(short).await);
    assert_eq!(refused(refusal).0, Code::InsufficientFunds);
    let get = || wire::GetOperationRequest {
        operation_id: "order:1:pay:1".to_owned(),
    };
    assert!(bed.ledger().get_operation(get()).await.is_err());
    assert_eq!(bed.balance(&a).await, ["usd 10 10 0 0"]);

    // The id may be tried again, and money may pass through on the way.
    let through = operation(
        "order:1:pay:1",
        vec![posting(&a, &b, "8"), posting(&b, &c, "5")],
    );
    let posted = result(bed.ledger().post(through.clone()).await).unwrap();
    assert_eq!(posted.transactions.len(), 2);
    assert_eq!(posted.transactions[1].amount, "5.00000000");
    assert_eq!(posted.transactions[0].metadata, r#"{"orderId":"o-1"}"#);
    let again = result(bed.ledger().post(through).await).unwrap();
    assert_eq!(again, posted);
    let read = result(bed.ledger().get_operation(get()).await).unwrap();
    assert_eq!(read.transactions, posted.transactions);
    assert_eq!(bed.balance(&b).await, ["usd 3 3 0 0"]);
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn an_operation_is_posted_once(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let mut replica = bed.replica().await;
    let (a, b) = (bed.funded("100").await, bed.wallet().await);
    let calls = (0..60).map(|n| {
        let mut client = if n % 2 == 0 {
            bed.ledger()
        } else {
            replica.ledger()
        };
        let request = operation("once", vec![posting(&a, &b, "1")]);
        async move { client.post(request).await.unwrap().into_inner() }
    });
    let answers = join_all(calls).await;
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    assert_eq!(bed.balance(&b).await, ["usd 1 1 0 0"]);
    replica.stop().await;
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn money_given_back_passes_locks(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let (shop, buyer) = (bed.funded("10").await, bed.wallet().await);
    bed.lock(&buyer, true).await;
    let mut refund = posting(&shop, &buyer, "4");
    "refund".clone_into(&mut refund.code);
    let refusal = result(
        bed.ledger()
            .post(operation("r1", vec![refund.clone()]))
            .await,
    );
    assert_eq!(refused(refusal).0, Code::WalletLocked);
    refund.returns_money = true;
    result(bed.ledger().post(operation("r1", vec![refund])).await).unwrap();
    assert_eq!(bed.balance(&buyer).await, ["usd 4 4 0 0"]);
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn faults_name_their_posting(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let mut bad = posting("x", "y", "0");
    "gift".clone_into(&mut bad.code);
    "[]".clone_into(&mut bad.metadata);
    let refusal = result(bed.ledger().post(operation("o", vec![bad])).await);
    let fields = [
        "amount",
        "code",
        "metadata",
        "originWalletId",
        "destinationWalletId",
    ];
    let fields = fields.map(|field| format!("postings[0].{field}"));
    assert_eq!(refused(refusal), (Code::ValidationFailed, fields.to_vec()));
    let refusal = result(bed.ledger().post(operation("", vec![])).await);
    assert_eq!(refused(refusal).1, ["operationId", "postings"]);
    bed.end().await;
}
