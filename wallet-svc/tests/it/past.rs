//! What happened, when: histories, balances at past moments, activity.

use platform::error::Code;
use prost_types::Timestamp;
use proto::wallet::v1::{self as wire, TransactionStatus};
use sqlx::PgPool;

use crate::harness::{ANN, Balance, TestApp, UNKNOWN, balance, including, rejection, result, usd};

fn history(id: &str) -> wire::ListTransactionChangesRequest {
    wire::ListTransactionChangesRequest { id: id.to_owned() }
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_history_tells_who_did_what(pool: PgPool) {
    use TransactionStatus::{Failed, Pending, Processing};

    let app = TestApp::new(pool).await;
    let wallet = app.funded_wallet("5").await;
    let id = app.withdraw(&wallet, "1").await.unwrap().id;
    app.approve(&id).await.unwrap();
    app.fail(&id).await.unwrap();
    let mut transactions = app.admin.transactions();
    let answer = transactions.list_transaction_changes(history(&id)).await;
    let changes = result(answer).unwrap().changes;
    let steps: Vec<_> = changes
        .iter()
        .map(|change| (change.from.map(|_| change.from()), change.to()))
        .collect();
    assert_eq!(
        steps,
        [
            (None, Pending),
            (Some(Pending), Processing),
            (Some(Processing), Failed)
        ]
    );
    assert!(
        changes
            .iter()
            .all(|change| change.actor == "service:gateway")
    );
    assert!(changes.is_sorted_by_key(|change| change.created_at.map(|at| (at.seconds, at.nanos))));

    for unknown in [UNKNOWN, "x"] {
        let answer = transactions
            .list_transaction_changes(history(unknown))
            .await;
        assert_eq!(rejection(result(answer)).code, Code::TransactionNotFound);
    }
    let mut ann = app.as_user(ANN).transactions();
    let answer = ann.list_transaction_changes(history(&id)).await;
    assert_eq!(rejection(result(answer)).code, Code::Forbidden);
    app.finish().await;
}

async fn balance_at(app: &TestApp, wallet: &str, at: &Timestamp) -> Vec<Balance> {
    let request = wire::GetWalletBalanceRequest {
        id: wallet.to_owned(),
        list: None,
        at: Some(*at),
    };
    let answer = result(app.admin.wallets().get_wallet_balance(request).await).unwrap();
    answer.balances.into_iter().map(Balance::from).collect()
}

/// Moves all that has happened so far into the past, so that moments lie apart.
async fn an_hour_passes(app: &TestApp) {
    for sql in [
        "update wallet.movements set created_at = created_at - interval '1 hour'",
        "update wallet.transactions set created_at = created_at - interval '1 hour',
             updated_at = updated_at - interval '1 hour',
             processed_at = processed_at - interval '1 hour'",
    ] {
        app.execute(sql).await;
    }
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_balance_is_told_for_any_moment(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (a, b) = (app.funded_wallet("10").await, app.new_wallet().await);
    for _ in 0..3 {
        app.transfer(&a, &b, "1", true).await.unwrap();
    }
    app.fund(&a, "0.5", "btc").await;
    an_hour_passes(&app).await;
    let held = app.withdraw(&a, "2").await.unwrap();
    let expected = app.deposit(&a, "4", "usd").await.unwrap();
    an_hour_passes(&app).await;
    app.confirm(&held.id).await.unwrap();
    let failed = app.fail(&expected.id).await.unwrap();
    let last = app.transfer(&b, &a, "3", true).await.unwrap();

    let now = last.created_at.unwrap();
    // Time may differ by milliseconds between the ways in which a posting is decided.
    let settled = failed.processed_at.unwrap();
    let settled = if (settled.seconds, settled.nanos) > (now.seconds, now.nanos) {
        settled
    } else {
        now
    };
    let hours_ago = |hours: i64| Timestamp {
        seconds: now.seconds - hours * 3_600 + 600,
        ..now
    };
    let moments = [
        (hours_ago(3), vec![]),
        (hours_ago(2), vec![balance("btc", "0.5"), usd("7")]),
        (
            hours_ago(1),
            vec![
                balance("btc", "0.5"),
                usd("7").available("5").held("2").incoming("4"),
            ],
        ),
        (settled, vec![balance("btc", "0.5"), usd("8")]),
        (hours_ago(-9), vec![balance("btc", "0.5"), usd("8")]),
    ];
    for (at, expected) in moments {
        assert_eq!(balance_at(&app, &a, &at).await, expected, "{at:?}");
    }
    // The moment itself counts, the one before it does not.
    let before = Timestamp {
        nanos: now.nanos - 1_000_000,
        ..now
    };
    assert_eq!(balance_at(&app, &b, &now).await, [usd("0")]);
    if now.nanos > 0 {
        assert_eq!(balance_at(&app, &b, &before).await, [usd("3")]);
    }
    let absurd = wire::GetWalletBalanceRequest {
        id: a,
        list: None,
        at: Some(Timestamp {
            seconds: i64::MAX,
            nanos: 0,
        }),
    };
    let rejected = result(app.admin.wallets().get_wallet_balance(absurd).await);
    assert_eq!(rejection(rejected).fields, ["at"]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn activity_embeds_what_its_reader_may_see(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (a, b) = (app.funded_wallet("10").await, app.new_wallet().await);
    app.set_owner(&a, ANN).await;
    let sent = app.transfer(&a, &b, "1", false).await.unwrap();
    let request = |wallet: Option<&str>, include: &[&str]| wire::ListActivityRequest {
        list: Some(including(include)),
        wallet_id: wallet.map(str::to_owned),
    };
    let mut transactions = app.admin.transactions();
    let of_b = request(Some(&b), &["wallets"]);
    let page = result(transactions.list_activity(of_b).await).unwrap();
    assert_eq!(page.page.unwrap().total, 1);
    let [entry] = &page.activities[..] else {
        panic!("one entry")
    };
    assert_eq!(entry.transaction.as_ref(), Some(&sent));
    assert_eq!(
        entry.origin_wallet.as_ref().map(|wallet| &wallet.id),
        Some(&a)
    );
    assert_eq!(
        entry.destination_wallet.as_ref().map(|wallet| &wallet.id),
        Some(&b)
    );
    assert_eq!(entry.origin_wallet_user, None);

    let mut user = app.as_user(ANN).transactions();
    let own = result(user.list_activity(request(None, &["wallets"])).await).unwrap();
    assert_eq!(own.page.unwrap().total, 2);
    assert!(own.activities[0].origin_wallet.is_some());
    assert_eq!(own.activities[0].destination_wallet, None);
    let foreign = result(user.list_activity(request(Some(&b), &[])).await);
    assert_eq!(rejection(foreign).code, Code::WalletNotFound);
    let unknown = result(user.list_activity(request(None, &["lines"])).await);
    assert_eq!(rejection(unknown).code, Code::InvalidQuery);
    app.finish().await;
}
