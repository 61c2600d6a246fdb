//! Exchanges: at the current rate, rounded so that no value is created.

use platform::error::Code;
use proto::wallet::v1 as wire;
use sqlx::PgPool;

use crate::harness::{
    ANN, Rejection, TestApp, UNKNOWN, balance, exchange, failed, invalid, keyed, rejection, result,
    stable, usd,
};

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn an_exchange_rounds_down_at_the_current_rate(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.funded_wallet("10").await;
    app.set_rate("usd", "points", "33.333").await;
    let request = exchange(&wallet, "USD", "points", "1.01");
    let response = app.admin.transactions().create_exchange(request).await;
    let exchanged = result(response).unwrap().transaction.unwrap();
    insta::assert_snapshot!(stable(&exchanged, &[(&wallet, "<wallet>")]), @r#"
    Transaction {
        id: "<id>",
        r#type: Exchange,
        code: "internal",
        status: Confirmed,
        asset_code: "usd",
        amount: "1.01000000",
        description: None,
        origin_wallet_id: Some("<wallet>"),
        destination_wallet_id: Some("<wallet>"),
        origin_address: None,
        destination_address: None,
        external_id: None,
        external_reference: None,
        reference: <reference>,
        custom_data: "{}",
        metadata: "{\"rate\":\"33.33300000\",\"rateInverse\":false,\"quoteAmount\":\"33.66000000\",\"quoteAssetCode\":\"points\"}",
        processed_at: Some(<time>),
        created_at: Some(<time>),
        updated_at: Some(<time>),
    }
    "#);
    assert_eq!(
        app.balances(&wallet).await,
        [balance("points", "33.66"), usd("8.99")]
    );
    let moved = "select count(*) from wallet.movements m
                 join wallet.transactions t on t.id = m.transaction_id where t.type = 'exchange'";
    assert_eq!(app.count(moved).await, 4);

    // Back over the inverse: 33.66 / 33.333 = 1.0098…, never more than was paid.
    let request = exchange(&wallet, "points", "usd", "33.66");
    result(app.admin.transactions().create_exchange(request).await).unwrap();
    assert_eq!(
        app.balances(&wallet).await,
        [balance("points", "0"), usd("9.99")]
    );
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn invalid_exchanges_are_refused_by_field(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.funded_wallet("10").await;
    app.set_rate("usd", "btc", "0.00001").await;
    app.set_rate("usd", "points", "0.4").await;
    let a = &*wallet;
    for (request, fields) in [
        (exchange(a, "usd", "points", "0.01"), &["baseAmount"][..]),
        (exchange(a, "usd", "btc", "1e1"), &["baseAmount"]),
        (exchange(a, "usd", "USD", "1"), &["quoteAssetCode"]),
        (
            exchange(a, "nope", "none", "1"),
            &["baseAssetCode", "quoteAssetCode"],
        ),
        (exchange(UNKNOWN, "usd", "btc", "1"), &["walletId"]),
        (
            exchange("w", "usd", "btc", "0"),
            &["walletId", "baseAmount"],
        ),
    ] {
        let response = app.admin.transactions().create_exchange(request).await;
        assert_eq!(failed(response), invalid(fields), "{fields:?}");
    }
    let long = wire::CreateExchangeRequest {
        description: Some("x".repeat(1_001)),
        ..exchange(a, "usd", "btc", "1")
    };
    let response = app.admin.transactions().create_exchange(long).await;
    assert_eq!(failed(response), invalid(&["description"]));
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn exchanges_that_the_ledger_rejects_change_nothing(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.funded_wallet("10").await;
    app.set_rate("usd", "btc", "0.00001").await;
    let exchanged = async |quote: &str, amount: &str| {
        let request = exchange(&wallet, "usd", quote, amount);
        failed(app.admin.transactions().create_exchange(request).await)
    };
    let amount = &["baseAmount"];
    let precision = Rejection::new(Code::AmountPrecision, amount);
    assert_eq!(exchanged("btc", "1.001").await, precision);
    let funds = Rejection::new(Code::InsufficientFunds, amount);
    assert_eq!(exchanged("btc", "10.01").await, funds);
    let no_rate = Rejection::new(Code::NoRate, &[]);
    assert_eq!(exchanged("eur", "1").await, no_rate);
    app.enable("btc", false).await;
    let disabled = Rejection::new(Code::AssetDisabled, &["quoteAssetCode"]);
    assert_eq!(exchanged("btc", "1").await, disabled);
    app.enable("btc", true).await;
    app.lock(&wallet, true).await;
    assert_eq!(exchanged("btc", "1").await.code, Code::WalletLocked);
    assert_eq!(app.balances(&wallet).await, [usd("10")]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn users_exchange_only_in_their_own_wallets(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (mine, theirs) = (app.funded_wallet("10").await, app.funded_wallet("10").await);
    app.set_owner(&mine, ANN).await;
    app.set_rate("usd", "points", "2").await;
    let mut ann = app.as_user(ANN).transactions();
    let request = exchange(&mine, "usd", "points", "1");
    result(ann.create_exchange(request).await).unwrap();
    let request = exchange(&theirs, "usd", "points", "1");
    let response = ann.create_exchange(request).await;
    assert_eq!(failed(response), invalid(&["walletId"]));
    assert_eq!(app.balances(&theirs).await, [usd("10")]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_replay_succeeds_after_the_rate_is_deleted(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.funded_wallet("10").await;
    app.set_rate("usd", "points", "2").await;
    let request = || exchange(&wallet, "usd", "points", "1");
    let mut transactions = app.admin.transactions();
    let first = keyed(request(), "k", "00");
    let first = result(transactions.create_exchange(first).await).unwrap();
    app.execute("delete from wallet.rates").await;

    let again = keyed(request(), "k", "00");
    let again = result(transactions.create_exchange(again).await).unwrap();
    assert_eq!(again, first);
    let other_body = keyed(request(), "k", "01");
    let rejected = result(transactions.create_exchange(other_body).await);
    assert_eq!(rejection(rejected).code, Code::IdempotencyKeyReused);
    let other_key = keyed(request(), "l", "00");
    let rejected = result(transactions.create_exchange(other_key).await);
    assert_eq!(rejection(rejected).code, Code::NoRate);
    assert_eq!(
        app.balances(&wallet).await,
        [balance("points", "2"), usd("9")]
    );
    app.finish().await;
}
