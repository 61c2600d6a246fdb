//! Lost replies and connections: a posting takes effect once or not at all, and the response says which.

use std::time::Duration;

use futures::future::join_all;
use platform::{error::Code, idempotency::is_replay, testing::eventually};
use proto::wallet::v1 as wire;
use sqlx::PgPool;
use tokio::time::timeout;

use crate::{
    harness::{DEADLINE, keyed, rejection, result, transfer, usd},
    proxy::app_behind_proxy,
};

const TRANSFERS: &str = "select count(*) from wallet.transactions where type = 'transfer'";

/// How long postings may stand still after the connection to Postgres is lost.
const RECOVERY: Duration = Duration::from_secs(10);

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_commit_whose_reply_is_lost_is_not_repeated(pool: PgPool) {
    let (app, proxy) = app_behind_proxy(pool).await;
    let (wallet, other) = (app.funded_wallet("10").await, app.new_wallet().await);
    // A batch that is accepted in part keeps its results.
    proxy.drop_reply_once(TRANSFERS, &app.pool).await;
    let sent = join_all((0..20).map(|_| app.transfer(&wallet, &other, "1", true))).await;
    assert!(proxy.has_dropped().await);
    let (sent, rejections): (Vec<_>, Vec<_>) = sent.into_iter().partition(Result::is_ok);
    assert_eq!((sent.len(), rejections.len()), (10, 10));
    for rejected in rejections {
        assert_eq!(rejection(rejected).code, Code::InsufficientFunds);
    }
    for sent in sent.into_iter().flatten() {
        let get = wire::GetTransactionRequest {
            id: sent.id.clone(),
        };
        let kept = result(app.admin.transactions().get_transaction(get).await).unwrap();
        assert_eq!(kept.transaction, Some(sent));
    }
    assert_eq!(app.count(TRANSFERS).await, 10);

    // With an idempotency key, whose record was committed as well.
    let back = "select count(*) from wallet.transactions
         where type = 'transfer' and status = 'pending'";
    proxy.drop_reply_once(back, &app.pool).await;
    let request = || keyed(transfer(&other, &wallet, "4", false), "back", "00");
    let first = result(app.admin.transactions().create_transfer(request()).await).unwrap();
    assert!(proxy.has_dropped().await);
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
async fn a_reply_lost_at_any_statement_does_not_repeat_the_posting(pool: PgPool) {
    let (app, proxy) = app_behind_proxy(pool).await;
    let wallet = app.funded_wallet("100").await;
    let mut replies = 0;
    loop {
        // Has no balance yet, which is created first.
        let other = app.new_wallet().await;
        proxy.drop_reply_after(replies).await;
        app.transfer(&wallet, &other, "1", true).await.unwrap();
        let dropped = proxy.has_dropped().await;
        assert_eq!(app.balances(&other).await, [usd("1")], "{replies}");
        replies += 1;
        if !dropped {
            break;
        }
    }
    assert_eq!(usize::try_from(app.count(TRANSFERS).await), Ok(replies));
    assert!(replies > 1, "no reply was dropped");
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_silent_connection_is_replaced_at_any_statement(pool: PgPool) {
    let (app, proxy) = app_behind_proxy(pool).await;
    let wallet = app.funded_wallet("100").await;
    let (mut replies, mut sent_transfers) = (0, 0);
    loop {
        // Has no balance yet, which is created first.
        let other = app.new_wallet().await;
        proxy.silence_after(replies).await;
        let sent = timeout(RECOVERY, app.transfer(&wallet, &other, "1", true)).await;
        let silenced = proxy.has_dropped().await;
        sent.expect("no posting within the time of recovery")
            .unwrap();
        assert_eq!(app.balances(&other).await, [usd("1")], "{replies}");
        sent_transfers += 1;
        if !silenced {
            break;
        }
        // Each takes as long as an attempt may.
        replies += 3;
    }
    assert_eq!(app.count(TRANSFERS).await, sent_transfers);
    assert!(replies > 3, "no connection was silenced");
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_lost_commit_is_not_taken_for_that_of_another_replica(pool: PgPool) {
    let (app, proxy) = app_behind_proxy(pool).await;
    let mut replica = app.replica().await;
    let (a, b) = (app.funded_wallet("10").await, app.new_wallet().await);
    let pending = app.transfer(&a, &b, "4", false).await.unwrap();

    // The commit is dropped when the other replica waits for the transaction, and is next.
    let waiters = "select count(*) from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'";
    proxy.drop_commit_once(waiters, &app.pool).await;
    let reject = async {
        let written = "select count(*) from pg_stat_activity
             where datname = current_database() and state = 'idle in transaction'
                 and query like '/* posting.write */%'";
        eventually("a confirmation is written", DEADLINE, async || {
            app.count(written).await == 1
        })
        .await;
        replica.reject(&pending.id).await
    };
    let (confirmed, rejected) = tokio::join!(app.confirm(&pending.id), reject);
    assert!(proxy.has_dropped().await);
    rejected.unwrap();
    assert_eq!(rejection(confirmed).code, Code::InvalidState);
    assert_eq!(app.balances(&a).await, [usd("10")]);
    replica.stop().await;
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_commit_is_looked_up_until_a_lookup_is_answered(pool: PgPool) {
    let (app, proxy) = app_behind_proxy(pool).await;
    let (wallet, other) = (app.funded_wallet("10").await, app.new_wallet().await);
    proxy.drop_replies_once(TRANSFERS, &app.pool, 4).await;
    app.transfer(&wallet, &other, "1", true).await.unwrap();
    assert!(proxy.has_dropped().await);
    assert_eq!(app.count(TRANSFERS).await, 1);
    assert_eq!(app.balances(&other).await, [usd("1")]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn an_outcome_that_stays_unknown_is_a_timeout(pool: PgPool) {
    let (app, proxy) = app_behind_proxy(pool).await;
    let (wallet, other) = (app.funded_wallet("10").await, app.new_wallet().await);
    proxy
        .drop_replies_once(TRANSFERS, &app.pool, usize::MAX)
        .await;
    let sent = app.transfer(&wallet, &other, "1", true).await;
    assert_eq!(rejection(sent).code, Code::Timeout);
    assert!(!proxy.has_dropped().await);
    // It took effect.
    assert_eq!(app.balances(&other).await, [usd("1")]);
    app.transfer(&wallet, &other, "1", true).await.unwrap();
    app.finish().await;
}
