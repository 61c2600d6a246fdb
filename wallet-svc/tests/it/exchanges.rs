//! Exchanges: exact, at the current rate, never creating value.

use platform::error::Code;
use proto::wallet::v1 as wire;
use sqlx::PgPool;

use crate::harness::{ANN, Rejection, TestApp, UNKNOWN, balance, keyed, rejection, result, usd};

pub(crate) fn exchange(
    wallet: &str,
    base: &str,
    quote: &str,
    amount: &str,
) -> wire::CreateExchangeRequest {
    wire::CreateExchangeRequest {
        wallet_id: wallet.to_owned(),
        base_asset_code: base.to_owned(),
        quote_asset_code: quote.to_owned(),
        base_amount: amount.to_owned(),
        ..wire::CreateExchangeRequest::default()
    }
}

pub(crate) async fn rate(app: &TestApp, base: &str, quote: &str, rate: &str) {
    let request = wire::CreateRateRequest {
        base_asset_code: base.to_owned(),
        quote_asset_code: quote.to_owned(),
        rate: rate.to_owned(),
        custom_data: None,
    };
    app.admin.rates().create_rate(request).await.unwrap();
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn money_changes_at_the_rate_and_rounds_down(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.funded_wallet("10").await;
    rate(&app, "usd", "points", "33.333").await;
    let request = exchange(&wallet, "USD", "points", "1.01");
    let done = result(app.admin.transactions().create_exchange(request).await).unwrap();
    let done = done.transaction.unwrap();
    assert_eq!(done.r#type(), wire::TransactionType::Exchange);
    assert_eq!(done.status(), wire::TransactionStatus::Confirmed);
    assert_eq!((&*done.asset_code, &*done.amount), ("usd", "1.01000000"));
    assert_eq!(done.origin_wallet_id, Some(wallet.clone()));
    assert_eq!(done.destination_wallet_id, Some(wallet.clone()));
    assert_eq!(
        done.metadata,
        r#"{"rate":"33.33300000","rateInverse":false,"quoteAmount":"33.66000000","quoteAssetCode":"points"}"#
    );
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
async fn what_cannot_be_changed_is_refused(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.funded_wallet("10").await;
    rate(&app, "usd", "btc", "0.00001").await;
    rate(&app, "usd", "points", "0.4").await;
    let invalid = Code::ValidationFailed;
    for (request, code, fields) in [
        (exchange(&wallet, "usd", "eur", "1"), Code::NoRate, vec![]),
        (
            exchange(&wallet, "usd", "points", "0.01"),
            invalid,
            vec!["baseAmount"],
        ),
        (
            exchange(&wallet, "usd", "btc", "1.001"),
            Code::AmountPrecision,
            vec!["baseAmount"],
        ),
        (
            exchange(&wallet, "usd", "btc", "10.01"),
            Code::InsufficientFunds,
            vec!["baseAmount"],
        ),
        (
            exchange(&wallet, "usd", "btc", "1e1"),
            invalid,
            vec!["baseAmount"],
        ),
        (
            exchange(&wallet, "usd", "USD", "1"),
            invalid,
            vec!["quoteAssetCode"],
        ),
        (
            exchange(&wallet, "nope", "none", "1"),
            invalid,
            vec!["baseAssetCode", "quoteAssetCode"],
        ),
        (
            exchange(UNKNOWN, "usd", "btc", "1"),
            invalid,
            vec!["walletId"],
        ),
        (
            exchange("w", "usd", "btc", "0"),
            invalid,
            vec!["walletId", "baseAmount"],
        ),
    ] {
        let rejected = result(
            app.admin
                .transactions()
                .create_exchange(request.clone())
                .await,
        );
        assert_eq!(
            rejection(rejected),
            Rejection::new(code, &fields),
            "{request:?}"
        );
    }
    app.enable("btc", false).await;
    let request = exchange(&wallet, "usd", "btc", "1");
    let rejected = result(
        app.admin
            .transactions()
            .create_exchange(request.clone())
            .await,
    );
    let disabled = Rejection::new(Code::AssetDisabled, &["quoteAssetCode"]);
    assert_eq!(rejection(rejected), disabled);
    app.enable("btc", true).await;

    let mut somebody = app.as_user(ANN).transactions();
    let rejected = result(somebody.create_exchange(request.clone()).await);
    assert_eq!(rejection(rejected).fields, ["walletId"]);
    app.lock(&wallet, true).await;
    let rejected = result(app.admin.transactions().create_exchange(request).await);
    assert_eq!(rejection(rejected).code, Code::WalletLocked);
    assert_eq!(app.balances(&wallet).await, [usd("10")]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_repeat_is_answered_when_the_rate_is_gone(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.funded_wallet("10").await;
    rate(&app, "usd", "points", "2").await;
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
