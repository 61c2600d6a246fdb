//! Lists, totals and the journal.

use proto::{
    common::v1::{Filter, ListRequest, Operator},
    wallet::v1 as wire,
};
use sqlx::PgPool;

use crate::{
    exchanges::{exchange, rate},
    harness::{ANN, BEN, TestApp, UNKNOWN, equals, list, result, sort},
};

async fn transactions(app: &TestApp, filters: Vec<Filter>) -> Vec<wire::Transaction> {
    let request = wire::ListTransactionsRequest {
        list: Some(list(filters)),
        wallet_id: None,
    };
    let page = result(app.admin.transactions().list_transactions(request).await).unwrap();
    assert_eq!(page.page.unwrap().total, page.transactions.len() as u64);
    page.transactions
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn transactions_are_found_by_their_fields(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (a, b) = (app.funded_wallet("100").await, app.new_wallet().await);
    let sent = app.transfer(&a, &b, "1", true).await.unwrap();
    let held = app.withdraw(&b, "0.50").await.unwrap();
    for (filters, expected) in [
        (vec![], 3),
        (vec![equals("walletId", &a)], 2),
        (vec![equals("walletId", &b)], 2),
        (vec![equals("destinationWalletId", &b)], 1),
        (vec![equals("status", "pending")], 1),
        (vec![equals("type", "transfer")], 1),
        (vec![equals("code", "bank:wire")], 1),
        (vec![equals("assetCode", "USD")], 3),
        (vec![equals("reference", &sent.reference)], 1),
        (vec![equals("description", "nothing")], 0),
    ] {
        let found = transactions(&app, filters.clone()).await;
        assert_eq!(found.len(), expected, "{filters:?}");
    }
    assert_eq!(transactions(&app, vec![]).await[0], held);
    let unknown = wire::ListTransactionsRequest {
        list: None,
        wallet_id: Some(UNKNOWN.to_owned()),
    };
    assert!(
        app.admin
            .transactions()
            .list_transactions(unknown)
            .await
            .is_err()
    );
    let of_a = wire::ListTransactionsRequest {
        list: None,
        wallet_id: Some(a),
    };
    let of_a = result(app.admin.transactions().list_transactions(of_a).await).unwrap();
    assert_eq!(of_a.transactions.len(), 2);
    app.finish().await;
}

/// What the user sees with this filter, the newest first.
async fn seen(app: &TestApp, user_id: &str, filters: Vec<Filter>) -> Vec<String> {
    let mut client = app.as_user(user_id).transactions();
    let request = wire::ListTransactionsRequest {
        list: Some(list(filters)),
        wallet_id: None,
    };
    let page = result(client.list_transactions(request).await).unwrap();
    assert_eq!(page.page.unwrap().total, page.transactions.len() as u64);
    page.transactions.into_iter().map(|tx| tx.id).collect()
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn what_is_own_on_both_sides_shows_once(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (a, b) = (app.new_wallet().await, app.new_wallet().await);
    let (other, another) = (app.funded_wallet("9").await, app.new_wallet().await);
    app.set_owner(&a, ANN).await;
    app.set_owner(&b, ANN).await;
    let came = app.transfer(&other, &a, "5", true).await.unwrap().id;
    app.transfer(&other, &another, "1", true).await.unwrap();
    let within = app.transfer(&a, &b, "1", true).await.unwrap().id;
    rate(&app, "usd", "points", "1").await;
    let request = exchange(&a, "usd", "points", "1");
    let changed = result(app.admin.transactions().create_exchange(request).await).unwrap();
    let changed = changed.transaction.unwrap().id;

    let of_both = Filter {
        operator: Operator::In.into(),
        values: vec![b.clone(), a.clone(), a.clone()],
        ..equals("walletId", "")
    };
    let all = [&*changed, &*within, &*came];
    for (filters, expected) in [
        (vec![], &all[..]),
        (vec![of_both], &all),
        (vec![equals("walletId", &a)], &all),
        (vec![equals("walletId", &b)], &[&*within]),
        (vec![equals("walletId", &other)], &[&*came]),
        (vec![equals("walletId", &another)], &[]),
        (vec![equals("originWalletId", &a)], &all[..2]),
        (vec![equals("type", "exchange")], &all[..1]),
    ] {
        assert_eq!(
            seen(&app, ANN, filters.clone()).await,
            expected,
            "{filters:?}"
        );
    }
    assert!(seen(&app, BEN, vec![]).await.is_empty());
    let mut client = app.as_user(ANN).movements();
    let moved = client.list_movements(wire::ListMovementsRequest::default());
    assert_eq!(result(moved.await).unwrap().page.unwrap().total, 5);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn movements_show_the_journal(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (a, b) = (app.funded_wallet("100").await, app.new_wallet().await);
    app.transfer(&a, &b, "40", true).await.unwrap();
    let request = |filters, include: &[&str]| wire::ListMovementsRequest {
        list: Some(ListRequest {
            filters,
            sort: vec![sort("amount", false)],
            include: include.iter().map(|name| (*name).to_owned()).collect(),
            ..ListRequest::default()
        }),
        wallet_id: None,
    };
    let all = result(
        app.admin
            .movements()
            .list_movements(request(vec![], &["transaction"]))
            .await,
    );
    let all = all.unwrap().movements;
    let amounts: Vec<_> = all.iter().map(|movement| &*movement.amount).collect();
    assert_eq!(amounts, ["-40.00000000", "40.00000000", "100.00000000"]);
    assert_eq!(
        all[0].transaction.as_ref().unwrap().id,
        all[0].transaction_id
    );
    assert_eq!((&*all[0].code, &*all[2].code), ("transfer", "deposit"));

    let external = equals("walletId", "00000000-0000-7000-8000-000000000001");
    let system = result(
        app.admin
            .movements()
            .list_movements(request(vec![external], &[]))
            .await,
    );
    let system = system.unwrap().movements;
    assert_eq!((system.len(), &*system[0].amount), (1, "-100.00000000"));
    let get = wire::GetMovementRequest {
        id: all[1].id.clone(),
        include: vec![],
    };
    let one = result(app.admin.movements().get_movement(get).await).unwrap();
    assert_eq!(one.movement.unwrap().wallet_id, b);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn totals_leave_the_system_out(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let a = app.funded_wallet("100").await;
    app.fund(&a, "0.5", "btc").await;
    app.withdraw(&a, "10").await.unwrap();
    let total = app
        .admin
        .wallets()
        .get_total_balance(wire::GetTotalBalanceRequest::default())
        .await;
    let total = result(total).unwrap().balances;
    let shown: Vec<_> = total
        .iter()
        .map(|entry| (&*entry.asset_code, &*entry.amount, &*entry.available_amount))
        .collect();
    assert_eq!(
        shown,
        [
            ("btc", "0.50000000", "0.50000000"),
            ("usd", "100.00000000", "90.00000000")
        ]
    );
    let filtered = wire::GetTotalBalanceRequest {
        list: Some(list(vec![equals("assetCode", "BTC")])),
    };
    let filtered = result(app.admin.wallets().get_total_balance(filtered).await).unwrap();
    assert_eq!(filtered.balances.len(), 1);
    let wallets = app
        .admin
        .wallets()
        .list_wallets(wire::ListWalletsRequest::default())
        .await;
    assert_eq!(result(wallets).unwrap().page.unwrap().total, 2);
    app.finish().await;
}
