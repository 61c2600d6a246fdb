//! The verifier finds inconsistencies that the database's constraints allow.

use std::{future::poll_fn, pin::pin, time::Duration};

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use platform::testing::{Log, eventually};
use proto::events::v1::OrderPaid;
use sqlx::PgPool;
use tokio_util::sync::CancellationToken;
use tracing::instrument::WithSubscriber as _;
use wallet_svc::{
    consumers::order_paid::GrantBonus,
    verify::{self, Violation, find_violations, find_violations_by, task},
};

use crate::{
    harness::{DEADLINE, TestApp, exchange},
    referrals::{ORDER, earn, of_order},
};

/// A change that breaks a rule, its undoing, and the rule.
type Tamper = (&'static str, &'static str, &'static str);

const TAMPERS: [Tamper; 14] = [
    (
        "update wallet.balances set amount = amount + 1 where sequence = 1 and not system",
        "update wallet.balances set amount = amount - 1 where sequence = 1 and not system",
        "a balance is the sum of its movements",
    ),
    (
        "update wallet.balances set sequence = 8 where sequence = 1 and not system",
        "update wallet.balances set sequence = 1 where sequence = 8",
        "sequences of movements have no gaps",
    ),
    (
        "update wallet.balances set held = held + 1 where held > 0",
        "update wallet.balances set held = held - 1 where held > 0",
        "held is the sum of open debits",
    ),
    (
        "update wallet.balances set incoming = incoming + 1 where not system",
        "update wallet.balances set incoming = incoming - 1 where not system",
        "incoming is the sum of open credits",
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
        "update wallet.movements set sequence = 9 where sequence = 3",
        "update wallet.movements set sequence = 3 where sequence = 9",
        "sequences of movements have no gaps",
    ),
    (
        "update wallet.movements set transaction_id = '0192abcd-0000-7000-8000-000000000001'
         where transaction_id = (select id from wallet.transactions where type = 'transfer')",
        "update wallet.movements
         set transaction_id = (select id from wallet.transactions where type = 'transfer')
         where transaction_id = '0192abcd-0000-7000-8000-000000000001'",
        "only a confirmed transaction has movements",
    ),
    (
        "update wallet.movements set id = '0192abcd-0000-7000-8000-000000000001'
         where amount = -4 and code = 'transfer'",
        "update wallet.movements set id = wallet.movement_id(transaction_id, created_at, 0)
         where amount = -4 and code = 'transfer'",
        "a movement has an id and the time of its transaction",
    ),
    (
        "update wallet.movements set created_at = created_at + interval '1 hour'
         where amount = -4 and code = 'transfer'",
        "update wallet.movements set created_at = created_at - interval '1 hour'
         where amount = -4 and code = 'transfer'",
        "a movement has an id and the time of its transaction",
    ),
    (
        "update wallet.transactions set amount = 7 where amount = 4",
        "update wallet.transactions set amount = 4 where amount = 7",
        "a confirmed transaction has the two movements of its amount",
    ),
    (
        "update wallet.transactions set metadata = replace(metadata, '4.00000000', '3.00000000')
         where type = 'exchange'",
        "update wallet.transactions set metadata = replace(metadata, '3.00000000', '4.00000000')
         where type = 'exchange'",
        "an exchange has two movements of its amount and two of its quote amount",
    ),
    (
        "update wallet.order_bonuses set owed = owed + 1",
        "update wallet.order_bonuses set owed = owed - 1",
        "a bonus is the sum of its transactions, less what is owed",
    ),
    (
        "create table moved as select * from wallet.balances where sequence = 1 and not system;
         delete from wallet.balances where (wallet_id, asset_code) in (
             select wallet_id, asset_code from moved)",
        "insert into wallet.balances select * from moved; drop table moved",
        "a balance is the sum of its movements",
    ),
];

/// Makes a ledger with movements of all kinds, open transactions and a bonus.
async fn fill(app: &TestApp) {
    let (a, b) = (app.funded_wallet("10").await, app.new_wallet().await);
    app.transfer(&a, &b, "4", true).await.unwrap();
    app.withdraw(&b, "1").await.unwrap();
    app.set_rate("usd", "eur", "2").await;
    app.admin
        .transactions()
        .create_exchange(exchange(&a, "usd", "eur", "2"))
        .await
        .unwrap();
    let paid = OrderPaid {
        order_id: "0192abcd-0000-7000-8000-000000000101".to_owned(),
        wallet_id: a,
        bonus: "5.00000000".to_owned(),
        bonus_asset_code: "points".to_owned(),
        ..OrderPaid::default()
    };
    GrantBonus(app.ledger()).handle(paid).await.unwrap();
}

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
    fill(&app).await;
    for rows in [1, 2, 3, 1_000] {
        assert_eq!(find_violations_by(&app.pool, rows).await.unwrap(), []);
    }
    verify::verify(app.pool.clone()).await.unwrap();
    for (tamper, repair, rule) in TAMPERS {
        app.execute_all(tamper).await;
        let found = find_violations(&app.pool).await.unwrap();
        assert!(
            found.iter().any(|violation| violation.rule == rule),
            "{rule}: {found:?}"
        );
        // Each once, wherever a slice ends.
        for rows in [1, 2, 3] {
            let by_slices = find_violations_by(&app.pool, rows).await.unwrap();
            assert_eq!(sorted(by_slices), sorted(found.clone()), "{rows} rows");
        }
        assert!(verify::verify(app.pool.clone()).await.is_err());
        app.execute_all(repair).await;
    }
    app.finish().await;
}

fn sorted(mut violations: Vec<Violation>) -> Vec<Violation> {
    violations.sort_by(|a, b| (&a.rule, &a.place).cmp(&(&b.rule, &b.place)));
    violations
}

/// Runs the task on a ledger with metrics and log of its own until the test stops it.
async fn run_task(app: &TestApp, test: impl AsyncFnOnce(&Log, &PrometheusHandle)) {
    let log = Log::default();
    let recorder = PrometheusBuilder::new().build_recorder();
    let shown = recorder.handle();
    let stop = CancellationToken::new();
    let pause = Duration::from_millis(1);
    let task = task::run_with(app.pool.clone(), pause, 2, stop.clone());
    let mut task = pin!(task.with_subscriber(log.subscriber()));
    let task = poll_fn(|cx| metrics::with_local_recorder(&recorder, || task.as_mut().poll(cx)));
    let test = async {
        test(&log, &shown).await;
        stop.cancel();
    };
    tokio::join!(task, test);
}

async fn shows(metrics: &PrometheusHandle, violations: u32) {
    let line = format!("\nwallet_ledger_violations {violations}\n");
    eventually(&line, DEADLINE, async || metrics.render().contains(&line)).await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn the_task_logs_and_counts_violations(pool: PgPool) {
    let app = TestApp::new(pool).await;
    app.funded_wallet("10").await;
    run_task(&app, async |log, metrics| {
        shows(metrics, 0).await;
        assert!(!log.contains("violates a rule"));
        app.execute("update wallet.balances set incoming = incoming + 1 where not system")
            .await;
        shows(metrics, 1).await;
        assert!(log.contains("ERROR") && log.contains("incoming is the sum of open credits"));
        app.execute("update wallet.balances set incoming = incoming - 1 where not system")
            .await;
        shows(metrics, 0).await;
    })
    .await;
    // Another replica can take over immediately.
    let leases = "select count(*) from wallet.leases where name = 'ledger-verifier'";
    assert_eq!(app.count(leases).await, 0);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_pass_goes_on_where_another_process_stopped(pool: PgPool) {
    let app = TestApp::new(pool).await;
    app.funded_wallet("10").await;
    app.execute(
        "insert into wallet.verification
             (table_name, id, name, violations, started_at)
         values ('transactions', 'ffffffff-ffff-ffff-ffff-ffffffffffff', '', 3, now())",
    )
    .await;
    app.execute("update wallet.balances set incoming = incoming + 1 where not system")
        .await;
    run_task(&app, async |_, metrics| {
        // What the other process found; the balances were checked before.
        shows(metrics, 3).await;
        shows(metrics, 1).await;
    })
    .await;
    app.execute("update wallet.balances set incoming = incoming - 1 where not system")
        .await;
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_pass_goes_on_after_a_slice_that_failed(pool: PgPool) {
    let app = TestApp::new(pool).await;
    app.funded_wallet("10").await;
    let lock = app
        .lock_row("lock table wallet.order_bonuses in access exclusive mode")
        .await;
    run_task(&app, async |log, metrics| {
        eventually("the slice fails", DEADLINE, async || {
            log.contains("slice failed")
        })
        .await;
        let position = "select count(*) from wallet.verification where table_name = 'bonuses'";
        assert_eq!(app.count(position).await, 1);
        lock.rollback().await.unwrap();
        shows(metrics, 0).await;
    })
    .await;
    app.finish().await;
}
