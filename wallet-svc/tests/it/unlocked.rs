//! Postings are decided without locks, on what the poster remembers or reads: what has changed when
//! they are written makes them be decided again.

use platform::{error::Code, pg, testing::eventually};
use proto::wallet::v1 as wire;
use sqlx::{
    Postgres, Transaction,
    postgres::{PgConnectOptions, PgPoolOptions},
};

use crate::{
    assets::enable,
    bed::{Bed, SOON, posting, refused, result},
};

const RICHEST: &str = "select from wallet.balances
     where not system order by amount desc limit 1 for update";

/// Holds a row that others have to wait for.
async fn hold(bed: &Bed, row: &'static str) -> Transaction<'static, Postgres> {
    let mut held = pg::tx(&bed.pool).await.unwrap();
    sqlx::query(row).execute(&mut *held).await.unwrap();
    held
}

/// Until so many wait, of which some are postings that have been decided.
async fn until_waiting(bed: &Bed, all: i64, decided: i64) {
    const DECIDED: &str = "select count(*) from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'
             and query like '-- Everything a group%'";
    eventually("all wait", SOON, async || {
        bed.waiting().await == all && bed.count(DECIDED).await == decided
    })
    .await;
}

/// Has a change wait for a row, and then a posting, so that the change is made when the posting has
/// been decided and is not written yet.
async fn in_between<T>(
    bed: &Bed,
    row: &'static str,
    change: impl Future,
    posting: impl Future<Output = T>,
) -> T {
    let held = hold(bed, row).await;
    let posting = async {
        until_waiting(bed, 1, 0).await;
        posting.await
    };
    let go = async {
        until_waiting(bed, 2, 1).await;
        held.commit().await.unwrap();
    };
    let (_, posted, ()) = tokio::join!(change, posting, go);
    posted
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn of_two_replicas_that_read_the_same_money_one_holds_it(
    _: PgPoolOptions,
    server: PgConnectOptions,
) {
    let bed = Bed::new(server).await;
    let mut replica = bed.replica().await;
    // The first posting of each takes locks.
    let (a, b) = (bed.funded("10").await, replica.funded("1").await);
    let held = hold(&bed, RICHEST).await;
    let go = async {
        until_waiting(&bed, 2, 2).await;
        held.commit().await.unwrap();
    };
    let (here, there, ()) = tokio::join!(
        bed.transfer(&a, &b, "6", false),
        replica.transfer(&a, &b, "7", false),
        go
    );
    assert_ne!(here.is_ok(), there.is_ok());
    let (balance, loser) = if here.is_ok() {
        ("usd 10 4 6 0", there)
    } else {
        ("usd 10 3 7 0", here)
    };
    assert_eq!(refused(loser).0, Code::InsufficientFunds);
    assert_eq!(bed.balance(&a).await, [balance]);
    replica.stop().await;
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn what_two_replicas_do_at_once_is_done_once(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let mut replica = bed.replica().await;
    // The first posting of each takes locks.
    let (a, b) = (bed.funded("10").await, replica.funded("1").await);
    let held = hold(&bed, RICHEST).await;
    let post = async |bed: &Bed| {
        let request = wire::PostRequest {
            operation_id: "twice".to_owned(),
            postings: vec![posting(&a, &b, "6")],
        };
        let posted = bed.ledger().post(request).await;
        result(posted).unwrap().transactions
    };
    let go = async {
        until_waiting(&bed, 2, 2).await;
        held.commit().await.unwrap();
    };
    let (here, there, ()) = tokio::join!(post(&bed), post(&replica), go);
    assert_eq!(here, there);
    assert_eq!(bed.balance(&a).await, ["usd 4 4 0 0"]);
    replica.stop().await;
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_wallet_locked_in_between_pays_nothing(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let mut replica = bed.replica().await;
    // The replica knows neither.
    let (a, b) = (bed.funded("10").await, bed.funded("1").await);
    replica.funded("1").await;
    for poster in [&bed, &replica] {
        let transfer = poster.transfer(&a, &b, "6", true);
        let transfer = in_between(&bed, RICHEST, bed.lock(&a, true), transfer).await;
        assert_eq!(refused(transfer).0, Code::WalletLocked);
        bed.lock(&a, false).await;
    }
    assert_eq!(bed.balance(&a).await, ["usd 10 10 0 0"]);
    replica.stop().await;
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn an_asset_disabled_in_between_is_not_moved(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let mut replica = bed.replica().await;
    // The replica knows neither.
    let (a, b) = (bed.funded("10").await, bed.funded("1").await);
    replica.funded("1").await;
    let usd = "select from wallet.assets where code = 'usd' for update";
    for poster in [&bed, &replica] {
        let transfer = poster.transfer(&a, &b, "6", true);
        let transfer = in_between(&bed, usd, enable(&bed, "usd", false), transfer).await;
        assert_eq!(refused(transfer).0, Code::AssetDisabled);
        enable(&bed, "usd", true).await;
    }
    assert_eq!(bed.balance(&a).await, ["usd 10 10 0 0"]);
    replica.stop().await;
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn what_another_replica_moved_is_seen(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let mut replica = bed.replica().await;
    let (a, b) = (bed.funded("1").await, bed.funded("1").await);
    replica.fund(&a, "9", "usd").await;
    bed.transfer(&a, &b, "6", true).await.unwrap();
    replica.transfer(&b, &a, "7", true).await.unwrap();
    let refusal = bed.transfer(&b, &a, "1", true).await;
    assert_eq!(refused(refusal).0, Code::InsufficientFunds);
    bed.transfer(&a, &b, "11", true).await.unwrap();
    assert_eq!(bed.balance(&b).await, ["usd 11 11 0 0"]);
    replica.stop().await;
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_repeat_is_answered_though_the_money_is_gone(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let (a, b) = (bed.funded("10").await, bed.funded("1").await);
    let post = async |id: &str, amount: &str| {
        let request = wire::PostRequest {
            operation_id: id.to_owned(),
            postings: vec![posting(&a, &b, amount)],
        };
        result(bed.ledger().post(request).await)
    };
    // Without money left for another, and with.
    for (id, amount) in [("large", "8"), ("small", "1")] {
        let posted = post(id, amount).await.unwrap();
        assert_eq!(post(id, amount).await.unwrap(), posted);
        let refusal = post(id, "0.5").await;
        assert_eq!(refused(refusal).0, Code::IdempotencyKeyReused);
    }
    assert_eq!(bed.balance(&a).await, ["usd 1 1 0 0"]);
    bed.end().await;
}
