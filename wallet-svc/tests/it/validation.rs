//! Validation of new transactions; a rejected one leaves nothing behind.

use platform::error::Code;
use proto::wallet::v1 as wire;
use sqlx::PgPool;

use crate::harness::{
    Rejection, TestApp, UNKNOWN, balance, deposit, invalid, rejection, result, transfer, usd,
};

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn malformed_amounts_are_refused(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (wallet, other) = (app.funded_wallet("5000").await, app.new_wallet().await);
    for amount in [
        "1e3",
        "1E3",
        "1e+2",
        "1e-2",
        "-1",
        "-0",
        "-0.00",
        "-1e3",
        "0",
        "0.00",
        "",
        " 5",
        "5 ",
        "+5",
        "1_000",
        "1,000",
        ".5",
        "5.",
        "00005",
        "NaN",
        "Infinity",
        "0.000000001",
        "100000000000000000000",
    ] {
        let rejected = app.transfer(&wallet, &other, amount, true).await;
        assert_eq!(rejection(rejected), invalid(&["amount"]), "{amount}");
    }
    let rejected = app.transfer(&wallet, &other, "14.28444999", true).await;
    assert_eq!(
        rejection(rejected),
        Rejection::new(Code::AmountPrecision, &["amount"])
    );
    app.transfer(&wallet, &other, "14.28000000", true)
        .await
        .unwrap();
    assert_eq!(app.balances(&other).await, [usd("14.28")]);
    assert_eq!(
        app.count("select count(*) from wallet.transactions").await,
        2
    );
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn large_sums_are_exact_or_refused(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.new_wallet().await;
    for _ in 0..2 {
        app.fund(&wallet, "92233720368547758.07", "eur").await;
    }
    assert_eq!(
        app.balances(&wallet).await,
        [balance("eur", "184467440737095516.14")]
    );
    let most = "9999999999999999999";
    for _ in 0..9 {
        app.fund(&wallet, most, "usd").await;
    }
    app.deposit(&wallet, most, "usd").await.unwrap();
    let rejected = app.deposit(&wallet, most, "usd").await;
    assert_eq!(rejection(rejected).code, Code::AmountOutOfRange);
    app.fund(&wallet, "0.00000001", "btc").await;
    assert!(app.deposit(&wallet, "0.000000001", "btc").await.is_err());
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn each_invalid_field_is_named(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (wallet, other) = (app.funded_wallet("10").await, app.new_wallet().await);
    let external = "00000000-0000-7000-8000-000000000001";
    for (from, to, field) in [
        (UNKNOWN, &*other, "originWalletId"),
        (&*wallet, UNKNOWN, "destinationWalletId"),
        (external, &*other, "originWalletId"),
        (&*wallet, external, "destinationWalletId"),
        ("x", &*other, "originWalletId"),
        (&*wallet, "", "destinationWalletId"),
    ] {
        let rejected = app.transfer(from, to, "1", true).await;
        assert_eq!(rejection(rejected), invalid(&[field]));
    }
    for code in ["pay", "INTERNAL", "card:", "bank:wire", ""] {
        let mut request = transfer(&wallet, &other, "1", true);
        code.clone_into(&mut request.code);
        let rejected = result(app.admin.transactions().create_transfer(request).await);
        assert_eq!(rejection(rejected).fields, ["code"], "{code}");
    }
    let mut request = transfer(&wallet, &other, "1", true);
    "xyz".clone_into(&mut request.asset_code);
    let rejected = result(app.admin.transactions().create_transfer(request).await);
    assert_eq!(rejection(rejected).fields, ["assetCode"]);
    let empty = wire::CreateDepositRequest::default();
    let rejected = result(app.admin.transactions().create_deposit(empty).await);
    let fields = ["amount", "assetCode", "code", "destinationWalletId", "data"];
    assert_eq!(rejection(rejected).fields, fields);
    assert_eq!(
        app.count("select count(*) from wallet.transactions").await,
        1
    );
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn deposits_need_a_payment_method_and_data_without_a_card_number(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let request = deposit(&app.new_wallet().await, "1", "usd");
    for (code, data, commit, fields) in [
        ("card:stripe", "{}", false, &["code"][..]),
        ("apm:x", "{}", true, &["code", "commit"]),
        ("crypto:bitcoin", "{}", false, &["code"]),
        (
            "internal",
            r#"{"card":"4111111111111111"}"#,
            false,
            &["data"],
        ),
        ("internal", "", false, &["data"]),
    ] {
        let request = wire::CreateDepositRequest {
            code: code.to_owned(),
            data: data.to_owned(),
            commit,
            ..request.clone()
        };
        let rejected = result(app.admin.transactions().create_deposit(request).await);
        assert_eq!(rejection(rejected).fields, fields, "{code} {data}");
    }
    let crypto = wire::CreateDepositRequest {
        code: "crypto:bitcoin".to_owned(),
        asset_code: "btc".to_owned(),
        ..request
    };
    result(app.admin.transactions().create_deposit(crypto).await).unwrap();
    let long = wire::FailTransactionRequest {
        id: "x".to_owned(),
        reason: Some(format!("\"{}\"", "x".repeat(1023))),
    };
    let rejected = result(app.admin.transactions().fail_transaction(long).await);
    assert_eq!(rejection(rejected).fields, ["reason"]);
    app.finish().await;
}
