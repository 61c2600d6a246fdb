//! Dry runs of operations: they are rejected like the operation, and write nothing.

use platform::error::Code;
use proto::wallet::v1 as wire;
use sqlx::PgPool;

use crate::harness::{TestApp, UNKNOWN, invalid, operation, posting, rejection, result, usd};

/// The rows that a posting may write.
const ROWS: &str = "select (select count(*) from wallet.balances)
     + (select count(*) from wallet.transactions) + (select count(*) from wallet.movements)
     + (select count(*) from wallet.outbox) + (select count(*) from wallet.posted_batches)";

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_dry_run_is_rejected_like_the_operation_and_writes_nothing(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (a, b) = (app.funded_wallet("10").await, app.new_wallet().await);
    let locked = app.new_wallet().await;
    app.lock(&locked, true).await;
    app.enable("eur", false).await;
    let of_asset = |asset: &str, amount: &str| wire::Posting {
        asset_code: asset.to_owned(),
        ..posting(&a, &b, amount)
    };
    for (number, postings) in (0..).zip([
        vec![posting(&a, &b, "10.01")],
        vec![posting(&a, &b, "6"), posting(&a, &b, "5")],
        vec![posting(&a, &locked, "1")],
        vec![of_asset("eur", "1")],
        vec![of_asset("usd", "0.001")],
        vec![of_asset("none", "1")],
        vec![posting(&a, UNKNOWN, "1")],
        vec![posting(&a, &a, "1")],
        vec![],
    ]) {
        let request = operation(&format!("rejected {number}"), postings);
        let dry_run = wire::PostRequest {
            dry_run: true,
            ..request.clone()
        };
        let rows = app.count(ROWS).await;
        let dry_run = result(app.admin.ledger().post(dry_run).await).unwrap_err();
        assert_eq!(app.count(ROWS).await, rows);
        let rejected = result(app.admin.ledger().post(request).await).unwrap_err();
        assert_eq!(dry_run.code, rejected.code);
        assert_eq!(dry_run.detail, rejected.detail);
        assert_eq!(dry_run.fields, rejected.fields);
    }
    let accepted = operation("accepted", vec![posting(&a, &b, "6"), posting(&b, &a, "5")]);
    let dry_run = wire::PostRequest {
        dry_run: true,
        ..accepted.clone()
    };
    let rows = app.count(ROWS).await;
    let response = result(app.admin.ledger().post(dry_run).await).unwrap();
    assert_eq!(response.transactions, []);
    assert_eq!(app.count(ROWS).await, rows);
    assert_eq!(app.balances(&a).await, [usd("10")]);
    result(app.admin.ledger().post(accepted).await).unwrap();
    assert_eq!(app.balances(&b).await, [usd("1")]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_dry_run_between_wallets_without_a_balance_makes_none(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (a, b) = (app.new_wallet().await, app.new_wallet().await);
    let rows = app.count(ROWS).await;
    let dry_run = wire::PostRequest {
        dry_run: true,
        ..operation("o", vec![posting(&a, &b, "1")])
    };
    let rejected = result(app.admin.ledger().post(dry_run).await);
    assert_eq!(rejection(rejected).code, Code::InsufficientFunds);
    assert_eq!(app.count(ROWS).await, rows);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_dry_run_knows_the_operation_of_its_id(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (a, b) = (app.funded_wallet("10").await, app.new_wallet().await);
    let posted = operation("o", vec![posting(&a, &b, "10")]);
    result(app.admin.ledger().post(posted.clone()).await).unwrap();
    let dry_run = |postings| wire::PostRequest {
        dry_run: true,
        ..operation("o", postings)
    };
    let same = dry_run(posted.postings);
    result(app.admin.ledger().post(same).await).unwrap();
    let other = dry_run(vec![posting(&b, &a, "1")]);
    let rejected = result(app.admin.ledger().post(other).await);
    assert_eq!(rejection(rejected).code, Code::IdempotencyKeyReused);
    let malformed = result(app.admin.ledger().post(dry_run(vec![])).await);
    assert_eq!(rejection(malformed), invalid(&["postings"]));
    app.finish().await;
}
