//! A database in trouble: what was asked happens once or not at all, and the answer says which.

use futures::future::join_all;
use platform::{error::Code, idempotency::is_replay};
use proto::wallet::v1::{self as wire, TransactionStatus};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::{
    bed::{Bed, keyed, refused, result, transfer},
    wire::Wire,
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

async fn befall(bed: &Bed, sqlstate: &str, times: i64) {
    bed.execute("alter sequence trouble.tries restart").await;
    bed.execute("delete from trouble.kind").await;
    let kind = sqlx::query("insert into trouble.kind values ($1, $2)");
    let kind = kind.bind(sqlstate).bind(times);
    kind.execute(&bed.pool).await.unwrap();
}

async fn in_trouble(server: PgConnectOptions, trigger: &'static str) -> Bed {
    let bed = Bed::new(server).await;
    sqlx::raw_sql(TROUBLE).execute(&bed.pool).await.unwrap();
    befall(&bed, "P0001", 0).await;
    bed.execute(trigger).await;
    bed
}

const EACH: &str = "create trigger befall before insert on wallet.transactions
     for each row execute function trouble.befall()";

fn payment(from: &str) -> wire::CreatePaymentRequest {
    wire::CreatePaymentRequest {
        amount: "1".to_owned(),
        asset_code: "usd".to_owned(),
        origin_wallet_id: from.to_owned(),
        ..wire::CreatePaymentRequest::default()
    }
}

const PAYMENTS: &str = "select count(*) from wallet.transactions where code = 'pay'";
const TRIES: &str = "select case when is_called then last_value else 0 end from trouble.tries";

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_first_try_that_fails_is_made_again(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = in_trouble(server, EACH).await;
    let wallet = bed.funded("10").await;
    // Deadlock, serialization failure, lost connection, shutdown, and the shutdown itself.
    let kinds = ["40P01", "40001", "08006", "57P01", "terminate"];
    for (kind, paid) in kinds.into_iter().zip(1_i64..) {
        befall(&bed, kind, 1).await;
        let request = || keyed(payment(&wallet), kind, "00");
        let first = bed.transactions().create_payment(request()).await.unwrap();
        assert_eq!(bed.count(TRIES).await, 2, "{kind}");
        assert!(!is_replay(first.metadata()), "{kind}");
        let first = first.into_inner();
        let payment = first.transaction.as_ref().unwrap();
        assert_eq!(payment.status(), TransactionStatus::Confirmed, "{kind}");
        let again = bed.transactions().create_payment(request()).await.unwrap();
        assert!(is_replay(again.metadata()), "{kind}");
        assert_eq!(again.into_inner(), first, "{kind}");
        assert_eq!(bed.count(PAYMENTS).await, paid, "{kind}");
        let events = bed.events(&payment.id).await;
        assert_eq!(events, ["TransactionCreated", "TransactionConfirmed"]);
    }
    assert_eq!(bed.balance(&wallet).await, ["usd 5 5 0 0"]);
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn trouble_that_stays_is_told_and_changes_nothing(
    _: PgPoolOptions,
    server: PgConnectOptions,
) {
    let bed = in_trouble(server, EACH).await;
    let wallet = bed.funded("10").await;
    for (kind, code) in [("40P01", Code::Unavailable), ("22012", Code::Internal)] {
        befall(&bed, kind, ALWAYS).await;
        let request = || keyed(payment(&wallet), kind, "00");
        let refusal = bed.transactions().create_payment(request()).await;
        assert_eq!(refused(result(refusal)).0, code, "{kind}");
        assert_eq!(bed.balance(&wallet).await, ["usd 10 10 0 0"], "{kind}");
        assert_eq!(bed.count(PAYMENTS).await, 0, "{kind}");
    }
    // The same requests, once it has passed.
    befall(&bed, "40P01", 0).await;
    for kind in ["40P01", "22012"] {
        let request = keyed(payment(&wallet), kind, "00");
        let paid = bed.transactions().create_payment(request).await.unwrap();
        assert!(!is_replay(paid.metadata()), "{kind}");
    }
    assert_eq!(bed.balance(&wallet).await, ["usd 8 8 0 0"]);
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_poison_posting_does_not_hurt_its_neighbours(_: PgPoolOptions, server: PgConnectOptions) {
    let poison = "create trigger befall before insert on wallet.transactions
         for each row when (new.amount = 6.66) execute function trouble.befall()";
    let bed = in_trouble(server, poison).await;
    let (wallet, other) = (bed.funded("100").await, bed.wallet().await);
    befall(&bed, "22012", ALWAYS).await;
    let amounts = (0..60).map(|n| if n % 20 == 7 { "6.66" } else { "1" });
    let transfers = amounts.map(|amount| bed.transfer(&wallet, &other, amount, true));
    let (done, poisoned): (Vec<_>, Vec<_>) = join_all(transfers)
        .await
        .into_iter()
        .partition(Result::is_ok);
    assert_eq!((done.len(), poisoned.len()), (57, 3));
    for refusal in poisoned {
        assert_eq!(refused(refusal).0, Code::Internal);
    }
    assert_eq!(bed.balance(&other).await, ["usd 57 57 0 0"]);
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_lost_answer_to_a_commit_is_made_up_for(_: PgPoolOptions, server: PgConnectOptions) {
    let wire = Wire::to(&server).await;
    let bed = Bed::through(server, wire.way()).await;
    let (wallet, other) = (bed.funded("10").await, bed.wallet().await);
    let transfers = "select count(*) from wallet.transactions where type = 'transfer'";

    // A group that is accepted in part: its verdicts stay those that were committed.
    wire.lose_done(transfers, &bed.pool).await;
    let sent = join_all((0..20).map(|_| bed.transfer(&wallet, &other, "1", true))).await;
    assert!(wire.has_lost().await);
    let (sent, refusals): (Vec<_>, Vec<_>) = sent.into_iter().partition(Result::is_ok);
    assert_eq!((sent.len(), refusals.len()), (10, 10));
    for refusal in refusals {
        assert_eq!(refused(refusal).0, Code::InsufficientFunds);
    }
    for sent in sent.into_iter().flatten() {
        let get = wire::GetTransactionRequest {
            id: sent.id.clone(),
        };
        let kept = result(bed.transactions().get_transaction(get).await).unwrap();
        assert_eq!(kept.transaction, Some(sent));
    }
    assert_eq!(bed.count(transfers).await, 10);

    // With a key, whose record was committed as well.
    let back = "select count(*) from wallet.transactions
         where type = 'transfer' and status = 'pending'";
    wire.lose_done(back, &bed.pool).await;
    let request = || keyed(transfer(&other, &wallet, "4", false), "back", "00");
    let first = result(bed.transactions().create_transfer(request()).await).unwrap();
    assert!(wire.has_lost().await);
    let again = bed.transactions().create_transfer(request()).await.unwrap();
    assert!(is_replay(again.metadata()));
    assert_eq!(again.into_inner(), first);
    assert_eq!(bed.count(back).await, 1);
    assert_eq!(bed.balance(&other).await, ["usd 10 6 4 0"]);
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn an_answer_lost_anywhere_is_made_up_for(_: PgPoolOptions, server: PgConnectOptions) {
    let wire = Wire::to(&server).await;
    let bed = Bed::through(server, wire.way()).await;
    let wallet = bed.funded("100").await;
    let mut answers = 0;
    loop {
        // Has no balance yet, which takes a transaction of its own.
        let other = bed.wallet().await;
        wire.lose_after(answers).await;
        bed.transfer(&wallet, &other, "1", true).await.unwrap();
        let lost = wire.has_lost().await;
        assert_eq!(bed.balance(&other).await, ["usd 1 1 0 0"], "{answers}");
        answers += 1;
        if !lost {
            break;
        }
    }
    let sent = "select count(*) from wallet.transactions where type = 'transfer'";
    assert_eq!(usize::try_from(bed.count(sent).await), Ok(answers));
    assert!(answers > 1, "no answer was lost");
    bed.end().await;
}
