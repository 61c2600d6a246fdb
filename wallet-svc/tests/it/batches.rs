//! Several operations in one call: each is accepted or rejected by itself, and once.

use platform::error::{Code, Failure};
use proto::wallet::v1 as wire;
use sqlx::PgPool;
use wire::post_result::Result as Outcome;

use crate::harness::{TestApp, failed, invalid, operation, posting, rejection, result, usd};

/// Posts operations, and returns the number of transactions of each, or why it was rejected.
async fn post_many(
    app: &TestApp,
    operations: Vec<wire::PostRequest>,
) -> Vec<Result<usize, Failure>> {
    let request = wire::PostManyRequest { operations };
    let response = result(app.admin.ledger().post_many(request).await).unwrap();
    let outcomes = response.results.into_iter().map(|it| it.result.unwrap());
    outcomes
        .map(|outcome| match outcome {
            Outcome::Posted(posted) => Ok(posted.transactions.len()),
            Outcome::Error(status) => Err(Failure::from_item_status(&status)),
        })
        .collect()
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn each_operation_is_accepted_or_rejected_by_itself(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (a, b) = (app.funded_wallet("10").await, app.new_wallet().await);
    let send = |id: &str, amount: &str| operation(id, vec![posting(&a, &b, amount)]);
    let operations = || {
        vec![
            send("1", "6"),
            send("2", "6"),
            operation("3", vec![posting(&a, &b, "1"), posting(&b, &a, "0.5")]),
            send("4", "0.001"),
            wire::PostRequest {
                dry_run: true,
                ..send("5", "1")
            },
            send("1", "6"),
            send("6", "3.5"),
        ]
    };
    for _first_and_repeat in 0..2 {
        let results = post_many(&app, operations()).await;
        let [one, two, three, four, five, again, six] = results.try_into().unwrap();
        assert_eq!(one.unwrap(), 1);
        assert_eq!(rejection(two).code, Code::InsufficientFunds);
        assert_eq!(three.unwrap(), 2);
        assert_eq!(rejection(four).code, Code::AmountPrecision);
        assert_eq!(rejection(five), invalid(&["dryRun"]));
        assert_eq!(again.unwrap(), 1);
        assert_eq!(six.unwrap(), 1);
        assert_eq!(app.balances(&a).await, [usd("0")]);
        assert_eq!(app.balances(&b).await, [usd("10")]);
    }
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_call_takes_a_thousand_operations(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (a, b) = (app.funded_wallet("10").await, app.new_wallet().await);
    let cents = |numbers: std::ops::Range<u32>| {
        let cent = |number| operation(&format!("{number}"), vec![posting(&a, &b, "0.01")]);
        numbers.map(cent).collect::<Vec<_>>()
    };
    let results = post_many(&app, cents(0..1_000)).await;
    assert!(results.into_iter().all(|posted| posted.unwrap() == 1));
    assert_eq!(app.balances(&a).await, [usd("0")]);
    assert_eq!(app.balances(&b).await, [usd("10")]);

    let mut ledger = app.admin.ledger();
    let many = operation("many", vec![posting(&a, &b, "0.01"); 1_000]);
    for operations in [vec![], cents(0..1_001), vec![many; 5]] {
        let request = wire::PostManyRequest { operations };
        let refused = failed(ledger.post_many(request).await);
        assert_eq!(refused, invalid(&["operations"]));
    }
    app.finish().await;
}
