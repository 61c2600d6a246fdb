//! Lists: filters, sorting, pages, totals.

use platform::error::Code;
use proto::{
    common::v1::{Filter, ListRequest, Operator},
    wallet::v1 as wire,
};
use sqlx::PgPool;

use crate::harness::{
    ANN, BEN, Balance, Rejection, TestApp, UNKNOWN, balance, equals, exchange, failed, list,
    result, usd,
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
async fn transactions_are_filtered_by_field(pool: PgPool) {
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
async fn a_transaction_between_own_wallets_is_listed_once(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (a, b) = (app.new_wallet().await, app.new_wallet().await);
    let (other, another) = (app.funded_wallet("9").await, app.new_wallet().await);
    app.set_owner(&a, ANN).await;
    app.set_owner(&b, ANN).await;
    let came = app.transfer(&other, &a, "5", true).await.unwrap().id;
    app.transfer(&other, &another, "1", true).await.unwrap();
    let within = app.transfer(&a, &b, "1", true).await.unwrap().id;
    app.set_rate("usd", "points", "1").await;
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
async fn totals_exclude_system_wallets(pool: PgPool) {
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
    let total: Vec<_> = total.into_iter().map(Balance::from).collect();
    let held = usd("100").available("90").held("10");
    assert_eq!(total, [balance("btc", "0.5"), held]);
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

/// Lists a page of two transactions of a wallet.
async fn two_of(app: &TestApp, wallet: &str, page: ListRequest) -> wire::ListTransactionsResponse {
    let request = wire::ListTransactionsRequest {
        list: Some(ListRequest {
            page_size: Some(2),
            ..page
        }),
        wallet_id: Some(wallet.to_owned()),
    };
    result(app.admin.transactions().list_transactions(request).await).unwrap()
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn pages_by_number_and_by_cursor_contain_every_row_once(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.new_wallet().await;
    for _ in 0..5 {
        app.deposit(&wallet, "1", "usd").await.unwrap();
    }
    let mut by_number = Vec::new();
    for (number, rows) in [(1, 2), (2, 2), (3, 1), (4, 0)] {
        let page = ListRequest {
            page_number: Some(number),
            ..ListRequest::default()
        };
        let page = two_of(&app, &wallet, page).await;
        assert_eq!(page.transactions.len(), rows, "{number}");
        assert_eq!(page.page.unwrap().total, 5);
        by_number.extend(page.transactions);
    }
    let mut by_cursor = Vec::new();
    let mut page_after = None;
    for rows in [2, 2, 1] {
        let page = ListRequest {
            page_after,
            ..ListRequest::default()
        };
        let page = two_of(&app, &wallet, page).await;
        assert_eq!(page.transactions.len(), rows);
        by_cursor.extend(page.transactions);
        page_after = Some(page.page.unwrap().next_cursor);
    }
    assert_eq!(page_after.as_deref(), Some(""));
    assert_eq!(by_cursor, by_number);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn fields_that_are_not_in_the_list_tables_are_refused(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let bad = || Some(list(vec![equals("metadata", "x")]));
    let query = Rejection::new(Code::InvalidQuery, &["filter[metadata]"]);
    let admin = &app.admin;
    let request = wire::ListWalletsRequest { list: bad() };
    assert_eq!(failed(admin.wallets().list_wallets(request).await), query);
    let request = wire::GetTotalBalanceRequest { list: bad() };
    let response = admin.wallets().get_total_balance(request).await;
    assert_eq!(failed(response), query);
    let request = wire::ListAssetsRequest { list: bad() };
    assert_eq!(failed(admin.assets().list_assets(request).await), query);
    let request = wire::ListRatesRequest { list: bad() };
    assert_eq!(failed(admin.rates().list_rates(request).await), query);
    let request = wire::ListAddressesRequest { list: bad() };
    let response = admin.addresses().list_addresses(request).await;
    assert_eq!(failed(response), query);
    let request = wire::ListTransactionsRequest {
        list: bad(),
        wallet_id: None,
    };
    let response = admin.transactions().list_transactions(request).await;
    assert_eq!(failed(response), query);
    let request = wire::ListActivityRequest {
        list: bad(),
        wallet_id: None,
    };
    let response = admin.transactions().list_activity(request).await;
    assert_eq!(failed(response), query);
    app.finish().await;
}
