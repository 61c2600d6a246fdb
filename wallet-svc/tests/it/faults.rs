//! A database in trouble: what was asked happens once or not at all, and the answer says which.

use futures::future::join_all;
use platform::{error::Code, idempotency::is_replay};
use proto::wallet::v1::{self as wire, TransactionStatus};
use sqlx::PgPool;

use crate::{
    harness::{TestApp, keyed, payment, rejection, result, transfer, usd},
    proxy::Wire,
};

/// Each transaction's row meets trouble: with a counter that no rollback turns back, so many times.
const TROUBLE: &str = "
    create schema trouble;
    create sequence trouble.tries;
    create table trouble.kind (sqlstate text, times bigint);
    create function trouble.befall() returns trigger language plpgsql security definer as $$
    declare
        kind trouble.kind;
    begin
        select * into kind from trouble.kind;
        if nextval('trouble.tries') > kind.times then
            return new;
        end if;
        if kind.sqlstate = 'terminate' then
            perform pg_terminate_backend(pg_backend_pid());
            perform pg_sleep(60);
        end if;
        raise exception 'trouble' using errcode = kind.sqlstate;
    end $$;";

const ALWAYS: i64 = i64::MAX;

async fn befall(app: &TestApp, sqlstate: &str, times: i64) {
    app.execute("alter sequence trouble.tries restart").await;
    app.execute("delete from trouble.kind").await;
    let kind = sqlx::query("insert into trouble.kind values ($1, $2)");
    let kind = kind.bind(sqlstate).bind(times);
    kind.execute(&app.pool).await.unwrap();
}

async fn in_trouble(pool: PgPool, trigger: &'static str) -> TestApp {
    let app = TestApp::new(pool).await;
    sqlx::raw_sql(TROUBLE).execute(&app.pool).await.unwrap();
    befall(&app, "P0001", 0).await;
    app.execute(trigger).await;
    app
}

const EACH: &str = "create trigger befall before insert on wallet.transactions
     for each row execute function trouble.befall()";

const PAYMENTS: &str = "select count(*) from wallet.transactions where code = 'pay'";
const TRIES: &str = "select case when is_called then last_value else 0 end from trouble.tries";

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_first_try_that_fails_is_made_again(pool: PgPool) {
    let app = in_trouble(pool, EACH).await;
    let wallet = app.funded_wallet("10").await;
    // Deadlock, serialization failure, lost connection, shutdown, and the shutdown itself.
    let kinds = ["40P01", "40001", "08006", "57P01", "terminate"];
    for (kind, paid) in kinds.into_iter().zip(1_i64..) {
        befall(&app, kind, 1).await;
        let request = || keyed(payment(&wallet, "1"), kind, "00");
        let first = app
            .admin
            .transactions()
            .create_payment(request())
            .await
            .unwrap();
        assert_eq!(app.count(TRIES).await, 2, "{kind}");
        assert!(!is_replay(first.metadata()), "{kind}");
        let first = first.into_inner();
        let payment = first.transaction.as_ref().unwrap();
        assert_eq!(payment.status(), TransactionStatus::Confirmed, "{kind}");
        let again = app
            .admin
            .transactions()
            .create_payment(request())
            .await
            .unwrap();
        assert!(is_replay(again.metadata()), "{kind}");
        assert_eq!(again.into_inner(), first, "{kind}");
        assert_eq!(app.count(PAYMENTS).await, paid, "{kind}");
        let events = app.event_types(&payment.id).await;
        assert_eq!(events, ["TransactionCreated", "TransactionConfirmed"]);
    }
    assert_eq!(app.balances(&wallet).await, [usd("5")]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn trouble_that_stays_is_told_and_changes_nothing(pool: PgPool) {
    let app = in_trouble(pool, EACH).await;
    let wallet = app.funded_wallet("10").await;
    for (kind, code) in [("40P01", Code::Unavailable), ("22012", Code::Internal)] {
        befall(&app, kind, ALWAYS).await;
        let request = || keyed(payment(&wallet, "1"), kind, "00");
        let rejected = app.admin.transactions().create_payment(request()).await;
        assert_eq!(rejection(result(rejected)).code, code, "{kind}");
        assert_eq!(app.balances(&wallet).await, [usd("10")], "{kind}");
        assert_eq!(app.count(PAYMENTS).await, 0, "{kind}");
    }
    // The same requests, once it has passed.
    befall(&app, "40P01", 0).await;
    for kind in ["40P01", "22012"] {
        let request = keyed(payment(&wallet, "1"), kind, "00");
        let paid = app
            .admin
            .transactions()
            .create_payment(request)
            .await
            .unwrap();
        assert!(!is_replay(paid.metadata()), "{kind}");
    }
    assert_eq!(app.balances(&wallet).await, [usd("8")]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_poison_posting_does_not_hurt_its_neighbours(pool: PgPool) {
    let poison = "create trigger befall before insert on wallet.transactions
         for each row when (new.amount = 6.66) execute function trouble.befall()";
    let app = in_trouble(pool, poison).await;
    let (wallet, other) = (app.funded_wallet("100").await, app.new_wallet().await);
    befall(&app, "22012", ALWAYS).await;
    let amounts = (0..60).map(|n| if n % 20 == 7 { "6.66" } else { "1" });
    let transfers = amounts.map(|amount| app.transfer(&wallet, &other, amount, true));
    let (done, poisoned): (Vec<_>, Vec<_>) = join_all(transfers)
        .await
        .into_iter()
        .partition(Result::is_ok);
    assert_eq!((done.len(), poisoned.len()), (57, 3));
    for rejected in poisoned {
        assert_eq!(rejection(rejected).code, Code::Internal);
    }
    assert_eq!(app.balances(&other).await, [usd("57")]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_lost_answer_to_a_commit_is_made_up_for(pool: PgPool) {
    let wire = Wire::to(&pool.connect_options()).await;
    let app = TestApp::through_proxy(pool, wire.way()).await;
    let (wallet, other) = (app.funded_wallet("10").await, app.new_wallet().await);
    let transfers = "select count(*) from wallet.transactions where type = 'transfer'";

    // A group that is accepted in part: its verdicts stay those that were committed.
    wire.lose_done(transfers, &app.pool).await;
    let sent = join_all((0..20).map(|_| app.transfer(&wallet, &other, "1", true))).await;
    assert!(wire.has_lost().await);
    let (sent, refusals): (Vec<_>, Vec<_>) = sent.into_iter().partition(Result::is_ok);
    assert_eq!((sent.len(), refusals.len()), (10, 10));
    for rejected in refusals {
        assert_eq!(rejection(rejected).code, Code::InsufficientFunds);
    }
    for sent in sent.into_iter().flatten() {
        let get = wire::GetTransactionRequest {
            id: sent.id.clone(),
        };
        let kept = result(app.admin.transactions().get_transaction(get).await).unwrap();
        assert_eq!(kept.transaction, Some(sent));
    }
    assert_eq!(app.count(transfers).await, 10);

    // With a key, whose record was committed as well.
    let back = "select count(*) from wallet.transactions
         where type = 'transfer' and status = 'pending'";
    wire.lose_done(back, &app.pool).await;
    let request = || keyed(transfer(&other, &wallet, "4", false), "back", "00");
    let first = result(app.admin.transactions().create_transfer(request()).await).unwrap();
    assert!(wire.has_lost().await);
    let again = app
        .admin
        .transactions()
        .create_transfer(request())
        .await
        .unwrap();
    assert!(is_replay(again.metadata()));
    assert_eq!(again.into_inner(), first);
    assert_eq!(app.count(back).await, 1);
    assert_eq!(
        app.balances(&other).await,
        [usd("10").available("6").held("4")]
    );
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn an_answer_lost_anywhere_is_made_up_for(pool: PgPool) {
    let wire = Wire::to(&pool.connect_options()).await;
    let app = TestApp::through_proxy(pool, wire.way()).await;
    let wallet = app.funded_wallet("100").await;
    let mut answers = 0;
    loop {
        // Has no balance yet, which takes a transaction of its own.
        let other = app.new_wallet().await;
        wire.lose_after(answers).await;
        app.transfer(&wallet, &other, "1", true).await.unwrap();
        let lost = wire.has_lost().await;
        assert_eq!(app.balances(&other).await, [usd("1")], "{answers}");
        answers += 1;
        if !lost {
            break;
        }
    }
    let sent = "select count(*) from wallet.transactions where type = 'transfer'";
    assert_eq!(usize::try_from(app.count(sent).await), Ok(answers));
    assert!(answers > 1, "no answer was lost");
    app.finish().await;
}
