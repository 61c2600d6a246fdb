//! Errors of the database and panics while a batch is posted: they fail what causes them, and nothing
//! else.

use futures::future::join_all;
use platform::{error::Code, idempotency::is_replay};
use proto::wallet::v1::TransactionStatus;
use sqlx::PgPool;

use crate::harness::{TestApp, keyed, payment, rejection, result, usd};

/// A trigger function that fails so many times. A sequence counts, because no rollback turns it back.
const FAULTS: &str = "
    create schema faults;
    create sequence faults.inserts;
    create table faults.plan (sqlstate text, times bigint);
    create function faults.inject() returns trigger language plpgsql security definer as $$
    declare
        plan faults.plan;
    begin
        select * into plan from faults.plan;
        if nextval('faults.inserts') > plan.times then
            return new;
        end if;
        if plan.sqlstate = 'terminate' then
            perform pg_terminate_backend(pg_backend_pid());
            perform pg_sleep(60);
        end if;
        raise exception 'injected' using errcode = plan.sqlstate;
    end $$;";

const ALWAYS: i64 = i64::MAX;

/// Makes the next inserts fail with this error; `terminate` ends the session instead.
async fn inject(app: &TestApp, sqlstate: &str, times: i64) {
    app.execute("alter sequence faults.inserts restart").await;
    app.execute("delete from faults.plan").await;
    sqlx::query("insert into faults.plan values ($1, $2)")
        .bind(sqlstate)
        .bind(times)
        .execute(&app.pool)
        .await
        .unwrap();
}

async fn app_with_faults(pool: PgPool, trigger: &'static str) -> TestApp {
    let app = TestApp::new(pool).await;
    sqlx::raw_sql(FAULTS).execute(&app.pool).await.unwrap();
    inject(&app, "P0001", 0).await;
    app.execute(trigger).await;
    app
}

const ON_EACH_TRANSACTION: &str = "create trigger inject before insert on wallet.transactions
     for each row execute function faults.inject()";

const PAYMENTS: &str = "select count(*) from wallet.transactions where code = 'pay'";
const ATTEMPTS: &str = "select case when is_called then last_value else 0 end from faults.inserts";

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_posting_is_retried_after_a_transient_error(pool: PgPool) {
    let app = app_with_faults(pool, ON_EACH_TRANSACTION).await;
    let wallet = app.funded_wallet("10").await;
    // Deadlock, serialization failure, lost connection, shutdown, a read-only server, an aborted
    // transaction, a lost statement, and an ended session.
    let errors = [
        "40P01",
        "40001",
        "08006",
        "57P01",
        "25006",
        "25P02",
        "26000",
        "terminate",
    ];
    for (sqlstate, paid) in errors.into_iter().zip(1_i64..) {
        inject(&app, sqlstate, 1).await;
        let request = || keyed(payment(&wallet, "1"), sqlstate, "00");
        let first = app
            .admin
            .transactions()
            .create_payment(request())
            .await
            .unwrap();
        assert_eq!(app.count(ATTEMPTS).await, 2, "{sqlstate}");
        assert!(!is_replay(first.metadata()), "{sqlstate}");
        let first = first.into_inner();
        let payment = first.transaction.as_ref().unwrap();
        assert_eq!(payment.status(), TransactionStatus::Confirmed, "{sqlstate}");
        let again = app
            .admin
            .transactions()
            .create_payment(request())
            .await
            .unwrap();
        assert!(is_replay(again.metadata()), "{sqlstate}");
        assert_eq!(again.into_inner(), first, "{sqlstate}");
        assert_eq!(app.count(PAYMENTS).await, paid, "{sqlstate}");
        let events = app.event_types(&payment.id).await;
        assert_eq!(events, ["TransactionConfirmed"]);
    }
    assert_eq!(app.balances(&wallet).await, [usd("2")]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_lasting_error_is_reported_and_changes_nothing(pool: PgPool) {
    let app = app_with_faults(pool, ON_EACH_TRANSACTION).await;
    let wallet = app.funded_wallet("10").await;
    for (sqlstate, code) in [("40P01", Code::Unavailable), ("22012", Code::Internal)] {
        inject(&app, sqlstate, ALWAYS).await;
        let request = || keyed(payment(&wallet, "1"), sqlstate, "00");
        let rejected = app.admin.transactions().create_payment(request()).await;
        assert_eq!(rejection(result(rejected)).code, code, "{sqlstate}");
        assert_eq!(app.balances(&wallet).await, [usd("10")], "{sqlstate}");
        assert_eq!(app.count(PAYMENTS).await, 0, "{sqlstate}");
    }
    // The same requests succeed afterwards.
    inject(&app, "40P01", 0).await;
    for sqlstate in ["40P01", "22012"] {
        let request = keyed(payment(&wallet, "1"), sqlstate, "00");
        let paid = app
            .admin
            .transactions()
            .create_payment(request)
            .await
            .unwrap();
        assert!(!is_replay(paid.metadata()), "{sqlstate}");
    }
    assert_eq!(app.balances(&wallet).await, [usd("8")]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_failing_posting_does_not_fail_its_batch(pool: PgPool) {
    let trigger = "create trigger inject before insert on wallet.transactions
         for each row when (new.amount = 6.66) execute function faults.inject()";
    let app = app_with_faults(pool, trigger).await;
    let (wallet, other) = (app.funded_wallet("100").await, app.new_wallet().await);
    inject(&app, "22012", ALWAYS).await;
    let amounts = (0..60).map(|n| if n % 20 == 7 { "6.66" } else { "1" });
    let transfers = amounts.map(|amount| app.transfer(&wallet, &other, amount, true));
    let (accepted, failed): (Vec<_>, Vec<_>) = join_all(transfers)
        .await
        .into_iter()
        .partition(Result::is_ok);
    assert_eq!((accepted.len(), failed.len()), (57, 3));
    for rejected in failed {
        assert_eq!(rejection(rejected).code, Code::Internal);
    }
    assert_eq!(app.balances(&other).await, [usd("57")]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_posting_that_panics_does_not_fail_its_batch(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (wallet, other) = (app.funded_wallet("100").await, app.new_wallet().await);
    let full = app.funded_wallet("100").await;
    // The next sequence overflows, which panics in a debug build.
    let set_sequence = async |sequence: i64| {
        sqlx::query("update wallet.balances set sequence = $1 where wallet_id = $2::uuid")
            .bind(sequence)
            .bind(&full)
            .execute(&app.pool)
            .await
            .unwrap();
    };
    set_sequence(i64::MAX).await;
    let transfers = (0..60).map(|n| {
        let from = if n % 20 == 7 { &full } else { &wallet };
        app.transfer(from, &other, "1", true)
    });
    let (accepted, failed): (Vec<_>, Vec<_>) = join_all(transfers)
        .await
        .into_iter()
        .partition(Result::is_ok);
    assert_eq!((accepted.len(), failed.len()), (57, 3));
    for rejected in failed {
        assert_eq!(rejection(rejected).code, Code::Internal);
    }
    set_sequence(1).await;
    app.transfer(&full, &other, "1", true).await.unwrap();
    assert_eq!(app.balances(&other).await, [usd("58")]);
    app.finish().await;
}
