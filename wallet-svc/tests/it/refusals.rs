//! What is refused when a transaction is made, and that nothing of it stays.

use platform::error::Code;
use proto::wallet::v1 as wire;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::bed::{Bed, refused, result, transfer, user};

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn amounts_have_one_grammar(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let (wallet, other) = (bed.funded("5000").await, bed.wallet().await);
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
        let refusal = bed.transfer(&wallet, &other, amount, true).await;
        let (code, fields) = refused(refusal);
        assert_eq!(
            (code, &*fields),
            (Code::ValidationFailed, &["amount".to_owned()][..]),
            "{amount}"
        );
    }
    let refusal = bed.transfer(&wallet, &other, "14.28444999", true).await;
    assert_eq!(
        refused(refusal),
        (Code::AmountPrecision, vec!["amount".to_owned()])
    );
    bed.transfer(&wallet, &other, "14.28000000", true)
        .await
        .unwrap();
    assert_eq!(bed.balance(&other).await, ["usd 14.28 14.28 0 0"]);
    assert_eq!(
        bed.count("select count(*) from wallet.transactions").await,
        2
    );
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn large_sums_are_exact_or_refused(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let wallet = bed.wallet().await;
    for _ in 0..2 {
        bed.fund(&wallet, "92233720368547758.07", "eur").await;
    }
    assert_eq!(
        bed.balance(&wallet).await,
        ["eur 184467440737095516.14 184467440737095516.14 0 0"]
    );
    let most = "9999999999999999999";
    for _ in 0..9 {
        bed.fund(&wallet, most, "usd").await;
    }
    bed.deposit(&wallet, most, "usd").await.unwrap();
    let refusal = bed.deposit(&wallet, most, "usd").await;
    assert_eq!(refused(refusal).0, Code::AmountOutOfRange);
    bed.fund(&wallet, "0.00000001", "btc").await;
    assert!(bed.deposit(&wallet, "0.000000001", "btc").await.is_err());
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn each_fault_names_its_field(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let (wallet, other) = (bed.funded("10").await, bed.wallet().await);
    let unknown = "0192abcd-0000-7000-8000-00000000000f";
    let external = "00000000-0000-7000-8000-000000000001";
    for (from, to, field) in [
        (unknown, &*other, "originWalletId"),
        (&*wallet, unknown, "destinationWalletId"),
        (external, &*other, "originWalletId"),
        (&*wallet, external, "destinationWalletId"),
        ("x", &*other, "originWalletId"),
        (&*wallet, "", "destinationWalletId"),
    ] {
        let (code, fields) = refused(bed.transfer(from, to, "1", true).await);
        assert_eq!(
            (code, &*fields),
            (Code::ValidationFailed, &[field.to_owned()][..])
        );
    }
    for code in ["pay", "INTERNAL", "card:", "bank:wire", ""] {
        let mut request = transfer(&wallet, &other, "1", true);
        code.clone_into(&mut request.code);
        let refusal = result(bed.transactions().create_transfer(request).await);
        assert_eq!(refused(refusal).1, ["code"], "{code}");
    }
    let mut request = transfer(&wallet, &other, "1", true);
    "xyz".clone_into(&mut request.asset_code);
    let refusal = result(bed.transactions().create_transfer(request).await);
    assert_eq!(refused(refusal).1, ["assetCode"]);
    let empty = wire::CreateDepositRequest::default();
    let refusal = result(bed.transactions().create_deposit(empty).await);
    let fields = ["amount", "assetCode", "code", "destinationWalletId", "data"];
    assert_eq!(refused(refusal).1, fields);
    assert_eq!(
        bed.count("select count(*) from wallet.transactions").await,
        1
    );
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn deposits_need_their_method_and_no_card_number(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let request = wire::CreateDepositRequest {
        amount: "1".to_owned(),
        asset_code: "usd".to_owned(),
        code: "internal".to_owned(),
        data: "{}".to_owned(),
        destination_wallet_id: bed.wallet().await,
        ..wire::CreateDepositRequest::default()
    };
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
        let refusal = result(bed.transactions().create_deposit(request).await);
        assert_eq!(refused(refusal).1, fields, "{code} {data}");
    }
    let crypto = wire::CreateDepositRequest {
        code: "crypto:bitcoin".to_owned(),
        asset_code: "btc".to_owned(),
        ..request
    };
    result(bed.transactions().create_deposit(crypto).await).unwrap();
    let long = wire::FailTransactionRequest {
        id: "x".to_owned(),
        reason: Some(format!("\"{}\"", "x".repeat(1023))),
    };
    let refusal = result(bed.transactions().fail_transaction(long).await);
    assert_eq!(refused(refusal).1, ["reason"]);
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn users_move_their_own_money_only(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let (me, you) = (
        "0192abcd-0000-7000-8000-0000000000aa",
        "0192abcd-0000-7000-8000-0000000000bb",
    );
    let (mine, yours) = (bed.funded("10").await, bed.funded("10").await);
    for (wallet, owner) in [(&mine, me), (&yours, you)] {
        let sql = "update wallet.wallets set owner_id = $2::uuid where id = $1::uuid";
        let owned = sqlx::query(sql).bind(wallet).bind(owner);
        owned.execute(&bed.pool).await.unwrap();
    }
    let client = bed.client(&user(me));
    let mut transactions =
        wire::transaction_service_client::TransactionServiceClient::new(client.clone());
    let sent = transactions
        .create_transfer(transfer(&mine, &yours, "1", false))
        .await;
    let sent = result(sent).unwrap().transaction.unwrap();
    for (from, to, commit, code) in [
        (&yours, &mine, false, Code::ValidationFailed),
        (&mine, &yours, true, Code::Forbidden),
    ] {
        let refusal = transactions
            .create_transfer(transfer(from, to, "1", commit))
            .await;
        assert_eq!(refused(result(refusal)).0, code);
    }
    let confirm = wire::ConfirmTransactionRequest {
        id: sent.id.clone(),
    };
    let refusal = transactions.confirm_transaction(confirm).await;
    assert_eq!(refused(result(refusal)).0, Code::Forbidden);

    let theirs = bed.withdraw(&yours, "1").await.unwrap();
    let get = |id: &str| wire::GetTransactionRequest { id: id.to_owned() };
    transactions.get_transaction(get(&sent.id)).await.unwrap();
    let hidden = transactions.get_transaction(get(&theirs.id)).await;
    assert_eq!(refused(result(hidden)).0, Code::TransactionNotFound);
    let mut wallets = wire::wallet_service_client::WalletServiceClient::new(client);
    let hidden = wallets
        .get_wallet(wire::GetWalletRequest { id: yours })
        .await;
    assert_eq!(refused(result(hidden)).0, Code::WalletNotFound);
    let seen = wallets
        .list_wallets(wire::ListWalletsRequest::default())
        .await;
    assert_eq!(result(seen).unwrap().page.unwrap().total, 1);
    let total = wallets
        .get_total_balance(wire::GetTotalBalanceRequest::default())
        .await;
    assert_eq!(result(total).unwrap().balances[0].held_amount, "1.00000000");
    bed.end().await;
}
