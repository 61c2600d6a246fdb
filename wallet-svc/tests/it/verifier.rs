//! The verifier finds inconsistencies that the database's constraints allow.

use std::{future::poll_fn, pin::pin, time::Duration};

use metrics_exporter_prometheus::PrometheusBuilder;
use platform::testing::{Log, eventually};
use sqlx::PgPool;
use tokio_util::sync::CancellationToken;
use tracing::instrument::WithSubscriber as _;
use wallet_svc::verify::{self, find_violations, task};

use crate::{
    harness::{DEADLINE, TestApp},
    referrals::{ORDER, earn, of_order},
};

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_bonus_that_differs_from_its_transactions_is_reported(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.new_wallet().await;
    earn(&app, of_order(ORDER, &wallet)).await;
    assert_eq!(find_violations(&app.pool).await.unwrap(), []);
    app.execute("update wallet.order_bonuses set granted = 5, credited = 5")
        .await;
    let found = find_violations(&app.pool).await.unwrap();
    let mut rules: Vec<_> = found.iter().map(|violation| &*violation.rule).collect();
    rules.sort_unstable();
    assert_eq!(
        rules,
        [
            "a bonus is the sum of its transactions, less what is owed",
            "a referrer is granted the reward that was recorded",
        ]
    );
    app.execute("update wallet.order_bonuses set granted = 3.96, credited = 3.96")
        .await;
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn tampered_rows_are_reported(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (a, b) = (app.funded_wallet("10").await, app.new_wallet().await);
    app.transfer(&a, &b, "4", true).await.unwrap();
    app.withdraw(&b, "1").await.unwrap();
    assert_eq!(find_violations(&app.pool).await.unwrap(), []);
    verify::verify(app.pool.clone()).await.unwrap();
    for (tamper, repair, rule) in [
        (
            "update wallet.balances set amount = amount + 1 where sequence = 1 and not system",
            "update wallet.balances set amount = amount - 1 where sequence = 1 and not system",
            "a balance is the sum of its movements",
        ),
        (
            "update wallet.balances set held = held + 1 where held > 0",
            "update wallet.balances set held = held - 1 where held > 0",
            "held is the sum of open debits",
        ),
        (
            "update wallet.movements set amount = -3 where amount = -4",
            "update wallet.movements set amount = -4 where amount = -3",
            "movements sum to zero per transaction and asset",
        ),
        (
            "update wallet.movements set balance_after = 7 where balance_after = 6",
            "update wallet.movements set balance_after = 6 where balance_after = 7",
            "each balance_after is the sum of the movements up to it",
        ),
        (
            "update wallet.movements set sequence = 3 where sequence = 2",
            "update wallet.movements set sequence = 2 where sequence = 3",
            "sequences of movements have no gaps",
        ),
    ] {
        app.execute(tamper).await;
        let found = find_violations(&app.pool).await.unwrap();
        assert!(
            found.iter().any(|violation| violation.rule == rule),
            "{rule}: {found:?}"
        );
        assert!(verify::verify(app.pool.clone()).await.is_err());
        app.execute(repair).await;
    }
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn the_task_logs_and_counts_violations(pool: PgPool) {
    let app = TestApp::new(pool).await;
    app.funded_wallet("10").await;
    let log = Log::default();
    let recorder = PrometheusBuilder::new().build_recorder();
    let shown = recorder.handle();
    let stop = CancellationToken::new();
    let rest = Duration::from_millis(1);
    let task =
        task::run_with(app.pool.clone(), rest, stop.clone()).with_subscriber(log.subscriber());
    let mut task = pin!(task);
    let task = poll_fn(|cx| metrics::with_local_recorder(&recorder, || task.as_mut().poll(cx)));
    let watch = async {
        let shows = async |count| {
            let line = format!("\nwallet_ledger_violations {count}\n");
            eventually(&line, DEADLINE, async || shown.render().contains(&line)).await;
        };
        shows(0).await;
        assert!(!log.contains("violates a rule"));
        app.execute("update wallet.balances set incoming = incoming + 1 where not system")
            .await;
        shows(1).await;
        assert!(log.contains("ERROR") && log.contains("incoming is the sum of open credits"));
        app.execute("update wallet.balances set incoming = incoming - 1 where not system")
            .await;
        shows(0).await;
        stop.cancel();
    };
    tokio::join!(task, watch);
    // Another replica can take over immediately.
    let leases = "select count(*) from wallet.leases where name = 'ledger-verifier'";
    assert_eq!(app.count(leases).await, 0);
    app.finish().await;
}
