//! Exchanges: exact, at the current rate, never creating value.

use platform::error::Code;
use proto::wallet::v1::{self as wire, rate_service_client::RateServiceClient};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::bed::{Bed, admin, keyed, refused, result, user};

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

pub(crate) async fn rate(bed: &Bed, base: &str, quote: &str, rate: &str) {
    let request = wire::CreateRateRequest {
        base_asset_code: base.to_owned(),
        quote_asset_code: quote.to_owned(),
        rate: rate.to_owned(),
        custom_data: None,
    };
    let mut rates = RateServiceClient::new(bed.client(&admin()));
    rates.create_rate(request).await.unwrap();
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn money_changes_at_the_rate_and_rounds_down(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let wallet = bed.funded("10").await;
    rate(&bed, "usd", "points", "33.333").await;
    let request = exchange(&wallet, "USD", "points", "1.01");
    let done = result(bed.transactions().create_exchange(request).await).unwrap();
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
    let balance = ["points 33.66 33.66 0 0", "usd 8.99 8.99 0 0"];
    assert_eq!(bed.balance(&wallet).await, balance);
    let moved = "select count(*) from wallet.movements m
                 join wallet.transactions t on t.id = m.transaction_id where t.type = 'exchange'";
    assert_eq!(bed.count(moved).await, 4);

    // Back over the inverse: 33.66 / 33.333 = 1.0098…, never more than was paid.
    let request = exchange(&wallet, "points", "usd", "33.66");
    result(bed.transactions().create_exchange(request).await).unwrap();
    let balance = ["points 0 0 0 0", "usd 9.99 9.99 0 0"];
    assert_eq!(bed.balance(&wallet).await, balance);
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn what_cannot_be_changed_is_refused(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let wallet = bed.funded("10").await;
    rate(&bed, "usd", "btc", "0.00001").await;
    rate(&bed, "usd", "points", "0.4").await;
    let unknown = "0192abcd-0000-7000-8000-00000000000f";
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
            exchange(unknown, "usd", "btc", "1"),
            invalid,
            vec!["walletId"],
        ),
        (
            exchange("w", "usd", "btc", "0"),
            invalid,
            vec!["walletId", "baseAmount"],
        ),
    ] {
        let refusal = result(bed.transactions().create_exchange(request.clone()).await);
        let fields: Vec<_> = fields.into_iter().map(str::to_owned).collect();
        assert_eq!(refused(refusal), (code, fields), "{request:?}");
    }
    let disabled =
        "update wallet.assets set enabled = false, version = version + 1 where code = 'btc'";
    bed.execute(disabled).await;
    let request = exchange(&wallet, "usd", "btc", "1");
    let refusal = result(bed.transactions().create_exchange(request.clone()).await);
    let field = vec!["quoteAssetCode".to_owned()];
    assert_eq!(refused(refusal), (Code::AssetDisabled, field));
    bed.execute("update wallet.assets set enabled = true, version = version + 1")
        .await;

    let mut somebody =
        wire::transaction_service_client::TransactionServiceClient::new(bed.client(&user(unknown)));
    let refusal = result(somebody.create_exchange(request.clone()).await);
    assert_eq!(refused(refusal).1, ["walletId"]);
    bed.lock(&wallet, true).await;
    let refusal = result(bed.transactions().create_exchange(request).await);
    assert_eq!(refused(refusal).0, Code::WalletLocked);
    assert_eq!(bed.balance(&wallet).await, ["usd 10 10 0 0"]);
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_repeat_is_answered_when_the_rate_is_gone(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let wallet = bed.funded("10").await;
    rate(&bed, "usd", "points", "2").await;
    let request = || exchange(&wallet, "usd", "points", "1");
    let mut transactions = bed.transactions();
    let first = keyed(request(), "k", "00");
    let first = result(transactions.create_exchange(first).await).unwrap();
    bed.execute("delete from wallet.rates").await;

    let again = keyed(request(), "k", "00");
    let again = result(transactions.create_exchange(again).await).unwrap();
    assert_eq!(again, first);
    let other_body = keyed(request(), "k", "01");
    let refusal = result(transactions.create_exchange(other_body).await);
    assert_eq!(refused(refusal).0, Code::IdempotencyKeyReused);
    let other_key = keyed(request(), "l", "00");
    let refusal = result(transactions.create_exchange(other_key).await);
    assert_eq!(refused(refusal).0, Code::NoRate);
    let balance = ["points 2 2 0 0", "usd 9 9 0 0"];
    assert_eq!(bed.balance(&wallet).await, balance);
    bed.end().await;
}
