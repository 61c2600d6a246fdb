//! Histories of transactions, and balances at past times.

use platform::error::Code;
use prost_types::Timestamp;
use proto::wallet::v1::{self as wire, TransactionStatus};
use sqlx::PgPool;

use crate::harness::{
    ANN, Balance, Rejection, TestApp, UNKNOWN, balance, failed, rejection, result, usd,
};

fn history(id: &str) -> wire::ListTransactionChangesRequest {
    wire::ListTransactionChangesRequest { id: id.to_owned() }
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_history_lists_status_changes_and_callers(pool: PgPool) {
    use TransactionStatus::{Failed, Pending, Processing};

    let app = TestApp::new(pool).await;
    let wallet = app.funded_wallet("5").await;
    let id = app.withdraw(&wallet, "1").await.unwrap().id;
    app.approve(&id).await.unwrap();
    app.fail(&id).await.unwrap();
    let mut transactions = app.admin.transactions();
    let response = transactions.list_transaction_changes(history(&id)).await;
    let changes = result(response).unwrap().changes;
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
    assert!(changes.iter().all(|change| change.actor == "key:admin"));
    assert!(changes.is_sorted_by_key(|change| change.created_at.map(|at| (at.seconds, at.nanos))));

    for unknown in [UNKNOWN, "x"] {
        let response = transactions
            .list_transaction_changes(history(unknown))
            .await;
        assert_eq!(rejection(result(response)).code, Code::TransactionNotFound);
    }
    let mut ann = app.as_user(ANN).transactions();
    let response = ann.list_transaction_changes(history(&id)).await;
    assert_eq!(rejection(result(response)).code, Code::Forbidden);
    app.finish().await;
}

async fn balance_at(app: &TestApp, wallet: &str, at: &Timestamp) -> Vec<Balance> {
    let request = wire::GetWalletBalanceRequest {
        id: wallet.to_owned(),
        list: None,
        at: Some(*at),
    };
    let response = result(app.admin.wallets().get_wallet_balance(request).await).unwrap();
    response.balances.into_iter().map(Balance::from).collect()
}

/// Moves everything so far an hour into the past.
async fn an_hour_passes(app: &TestApp) {
    for sql in [
        "update wallet.movements set created_at = created_at - interval '1 hour',
             id = wallet.movement_id(transaction_id, created_at - interval '1 hour',
                 get_byte(uuid_send(id), 15) % 16)",
        "update wallet.transactions set created_at = created_at - interval '1 hour',
             updated_at = updated_at - interval '1 hour',
             processed_at = processed_at - interval '1 hour'",
    ] {
        app.execute(sql).await;
    }
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn balances_are_returned_for_any_past_time(pool: PgPool) {
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
    let times = [
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
    for (at, expected) in times {
        assert_eq!(balance_at(&app, &a, &at).await, expected, "{at:?}");
    }
    // A time includes what happened at that millisecond.
    let before = Timestamp {
        nanos: now.nanos - 1_000_000,
        ..now
    };
    assert_eq!(balance_at(&app, &b, &now).await, [usd("0")]);
    if now.nanos > 0 {
        assert_eq!(balance_at(&app, &b, &before).await, [usd("3")]);
    }
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn the_balance_after_each_movement_is_found_by_its_time(pool: PgPool) {
    const TRANSFERS: i64 = 9;
    let app = TestApp::new(pool).await;
    let (a, b) = (app.funded_wallet("20").await, app.new_wallet().await);
    for _ in 0..TRANSFERS {
        an_hour_passes(&app).await;
        app.transfer(&a, &b, "1", true).await.unwrap();
    }
    let last = app.transfer(&a, &b, "1", true).await.unwrap();
    let now = last.created_at.unwrap();
    for hours in 1..=TRANSFERS {
        let at = Timestamp {
            seconds: now.seconds - hours * 3_600 + 600,
            ..now
        };
        let paid = TRANSFERS - hours;
        assert_eq!(
            balance_at(&app, &a, &at).await,
            [usd(&(20 - paid).to_string())]
        );
        let received = if paid == 0 {
            vec![]
        } else {
            vec![usd(&paid.to_string())]
        };
        assert_eq!(balance_at(&app, &b, &at).await, received);
    }
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_time_beyond_the_calendar_is_refused(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let id = app.new_wallet().await;
    for seconds in [i64::MAX, i64::MIN, 253_402_300_800, -62_135_596_801] {
        let request = wire::GetWalletBalanceRequest {
            id: id.clone(),
            list: None,
            at: Some(Timestamp { seconds, nanos: 0 }),
        };
        let response = app.admin.wallets().get_wallet_balance(request).await;
        let query = Rejection::new(Code::InvalidQuery, &["at"]);
        assert_eq!(failed(response), query, "{seconds}");
    }
    app.finish().await;
}
