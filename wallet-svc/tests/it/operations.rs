//! Ledger operations: whole or not at all, once.

use futures::future::join_all;
use platform::error::Code;
use proto::wallet::v1 as wire;
use sqlx::PgPool;

use crate::harness::{TestApp, invalid, posting, rejection, result, usd};

fn operation(id: &str, postings: Vec<wire::Posting>) -> wire::PostRequest {
    wire::PostRequest {
        operation_id: id.to_owned(),
        postings,
    }
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn all_legs_or_none(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (a, b, c) = (
        app.funded_wallet("10").await,
        app.new_wallet().await,
        app.new_wallet().await,
    );
    let short = operation(
        "order:1:pay:1",
        vec![posting(&a, &b, "8"), posting(&a, &c, "3")],
    );
    let rejected = result(app.admin.ledger().post(short).await);
    assert_eq!(rejection(rejected).code, Code::InsufficientFunds);
    let get = || wire::GetOperationRequest {
        operation_id: "order:1:pay:1".to_owned(),
    };
    assert!(app.admin.ledger().get_operation(get()).await.is_err());
    assert_eq!(app.balances(&a).await, [usd("10")]);

    // The id may be tried again, and money may pass through on the way.
    let through = operation(
        "order:1:pay:1",
        vec![posting(&a, &b, "8"), posting(&b, &c, "5")],
    );
    let posted = result(app.admin.ledger().post(through.clone()).await).unwrap();
    assert_eq!(posted.transactions.len(), 2);
    assert_eq!(posted.transactions[1].amount, "5.00000000");
    assert_eq!(posted.transactions[0].metadata, r#"{"orderId":"o-1"}"#);
    let again = result(app.admin.ledger().post(through).await).unwrap();
    assert_eq!(again, posted);
    let read = result(app.admin.ledger().get_operation(get()).await).unwrap();
    assert_eq!(read.transactions, posted.transactions);
    assert_eq!(app.balances(&b).await, [usd("3")]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn an_operation_is_posted_once(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let mut replica = app.replica().await;
    let (a, b) = (app.funded_wallet("100").await, app.new_wallet().await);
    let calls = (0..60).map(|n| {
        let mut client = if n % 2 == 0 {
            app.admin.ledger()
        } else {
            replica.admin.ledger()
        };
        let request = operation("once", vec![posting(&a, &b, "1")]);
        async move { client.post(request).await.unwrap().into_inner() }
    });
    let answers = join_all(calls).await;
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    assert_eq!(app.balances(&b).await, [usd("1")]);
    replica.stop().await;
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn money_given_back_passes_locks(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (shop, buyer) = (app.funded_wallet("10").await, app.new_wallet().await);
    app.lock(&buyer, true).await;
    let mut refund = posting(&shop, &buyer, "4");
    "refund".clone_into(&mut refund.code);
    let rejected = result(
        app.admin
            .ledger()
            .post(operation("r1", vec![refund.clone()]))
            .await,
    );
    assert_eq!(rejection(rejected).code, Code::WalletLocked);
    refund.returns_money = true;
    result(app.admin.ledger().post(operation("r1", vec![refund])).await).unwrap();
    assert_eq!(app.balances(&buyer).await, [usd("4")]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn faults_name_their_posting(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let mut bad = posting("x", "y", "0");
    "gift".clone_into(&mut bad.code);
    "[]".clone_into(&mut bad.metadata);
    let rejected = result(app.admin.ledger().post(operation("o", vec![bad])).await);
    let fields = [
        "amount",
        "code",
        "metadata",
        "originWalletId",
        "destinationWalletId",
    ];
    let fields = fields.map(|field| format!("postings[0].{field}"));
    assert_eq!(
        rejection(rejected),
        invalid(&fields.each_ref().map(|field| &**field))
    );
    let rejected = result(app.admin.ledger().post(operation("", vec![])).await);
    assert_eq!(rejection(rejected).fields, ["operationId", "postings"]);
    app.finish().await;
}
