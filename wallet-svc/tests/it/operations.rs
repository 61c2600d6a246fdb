//! Operations: accepted whole or not at all, and once.

use futures::future::join_all;
use platform::{error::Code, grpc::client::Client};
use proto::wallet::v1::{self as wire, ledger_service_client::LedgerServiceClient};
use sqlx::PgPool;
use tokio::time::Instant;

use crate::harness::{
    DEADLINE, TestApp, invalid, operation, posting, rejection, result, transfer, usd,
};

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn an_operation_is_accepted_whole_or_not_at_all(pool: PgPool) {
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

    // A rejected id can be used again, and one posting may spend what another brought.
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
async fn concurrent_repeats_of_an_operation_take_effect_once(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let mut replica = app.replica().await;
    let (a, b) = (app.funded_wallet("100").await, app.new_wallet().await);
    let calls = (0..60).map(|n| {
        let client = if n % 2 == 0 {
            app.admin.ledger()
        } else {
            replica.admin.ledger()
        };
        post_until_known(client, operation("once", vec![posting(&a, &b, "1")]))
    });
    let responses = join_all(calls).await;
    assert!(responses.iter().all(|response| *response == responses[0]));
    assert_eq!(app.balances(&b).await, [usd("1")]);
    replica.stop().await;
    app.finish().await;
}

/// Posts until the outcome is known, as orders-svc does: on a busy machine the replicas may wait for each
/// other longer than a caller waits.
async fn post_until_known(
    mut client: LedgerServiceClient<Client>,
    request: wire::PostRequest,
) -> wire::PostResponse {
    let deadline = Instant::now() + DEADLINE;
    loop {
        match result(client.post(request.clone()).await) {
            Ok(response) => return response,
            Err(failure) => {
                let is_unknown = matches!(failure.code, Code::Unavailable | Code::Timeout);
                assert!(is_unknown && Instant::now() < deadline, "{failure:?}");
            }
        }
    }
}

/// Texts differ in every column, so that none is written to another.
#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn transactions_are_read_back_as_they_were_accepted(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (a, b) = (app.funded_wallet("10").await, app.new_wallet().await);
    let request = wire::CreateTransferRequest {
        description: Some("a description".to_owned()),
        origin_address: Some("an-origin".to_owned()),
        destination_address: Some("a-destination".to_owned()),
        external_reference: Some("a-reference".to_owned()),
        custom_data: Some(r#"{"custom":"data"}"#.to_owned()),
        ..transfer(&a, &b, "3", true)
    };
    let sent = app.admin.transactions().create_transfer(request).await;
    let sent = result(sent).unwrap().transaction.unwrap();
    assert_eq!(sent.origin_address.as_deref(), Some("an-origin"));
    let mut leg = posting(&b, &a, "1");
    leg.description = Some("another description".to_owned());
    let posted = app.admin.ledger().post(operation("o", vec![leg])).await;
    let posted = result(posted).unwrap().transactions.remove(0);
    for accepted in [sent, posted] {
        let id = accepted.id.clone();
        let get = wire::GetTransactionRequest { id };
        let read = app.admin.transactions().get_transaction(get).await;
        assert_eq!(result(read).unwrap().transaction, Some(accepted));
    }
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn returned_money_passes_wallet_locks(pool: PgPool) {
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
async fn violations_name_their_posting(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let mut bad = posting("x", "y", "0");
    "unknown".clone_into(&mut bad.code);
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
