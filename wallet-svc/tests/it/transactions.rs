//! Bodies of transactions, for each way to create one.

use platform::error::{Code, FieldCode};
use proto::wallet::v1 as wire;
use sqlx::PgPool;

use crate::harness::{
    Rejection, TestApp, UNKNOWN, deposit, payment, rejection, result, stable, transfer, withdrawal,
};

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_deposit_is_returned_whole(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.new_wallet().await;
    let request = wire::CreateDepositRequest {
        data: r#"{ "iban": "PT50", "n": 1.10 }"#.to_owned(),
        custom_data: Some(r#"{"b":2,"a":1.10}"#.to_owned()),
        description: Some("first".to_owned()),
        destination_address: Some("bc1q".to_owned()),
        external_reference: Some("ref-1".to_owned()),
        ..deposit(&wallet.to_uppercase(), "5.5", "USD")
    };
    let created = app.admin.transactions().create_deposit(request).await;
    let created = result(created).unwrap().transaction.unwrap();
    insta::assert_snapshot!(stable(&created, &[(&wallet, "<wallet>")]), @r#"
    Transaction {
        id: "<id>",
        r#type: Deposit,
        code: "internal",
        status: Pending,
        asset_code: "usd",
        amount: "5.50000000",
        description: Some("first"),
        origin_wallet_id: None,
        destination_wallet_id: Some("<wallet>"),
        origin_address: None,
        destination_address: Some("bc1q"),
        external_id: None,
        external_reference: Some("ref-1"),
        reference: <reference>,
        custom_data: "{\"b\":2,\"a\":1.10}",
        metadata: "{\"data\":{ \"iban\": \"PT50\", \"n\": 1.10 }}",
        processed_at: None,
        created_at: Some(<time>),
        updated_at: Some(<time>),
    }
    "#);
    let get = wire::GetTransactionRequest {
        id: created.id.clone(),
    };
    let read = app.admin.transactions().get_transaction(get).await;
    assert_eq!(result(read).unwrap().transaction, Some(created));
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_transfer_is_returned_whole(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (a, b) = (app.funded_wallet("10").await, app.new_wallet().await);
    let request = wire::CreateTransferRequest {
        custom_data: Some(r#"{"a":1}"#.to_owned()),
        description: Some("rent".to_owned()),
        origin_address: Some("from".to_owned()),
        destination_address: Some("to".to_owned()),
        external_reference: Some("ref-2".to_owned()),
        ..transfer(&a, &b, "4", true)
    };
    let created = app.admin.transactions().create_transfer(request).await;
    let created = result(created).unwrap().transaction.unwrap();
    insta::assert_snapshot!(stable(&created, &[(&a, "<a>"), (&b, "<b>")]), @r#"
    Transaction {
        id: "<id>",
        r#type: Transfer,
        code: "internal",
        status: Confirmed,
        asset_code: "usd",
        amount: "4.00000000",
        description: Some("rent"),
        origin_wallet_id: Some("<a>"),
        destination_wallet_id: Some("<b>"),
        origin_address: Some("from"),
        destination_address: Some("to"),
        external_id: None,
        external_reference: Some("ref-2"),
        reference: <reference>,
        custom_data: "{\"a\":1}",
        metadata: "{}",
        processed_at: Some(<time>),
        created_at: Some(<time>),
        updated_at: Some(<time>),
    }
    "#);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_withdrawal_is_returned_whole(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.funded_wallet("10").await;
    let request = wire::CreateWithdrawalRequest {
        commit: true,
        description: Some("cash".to_owned()),
        origin_address: Some("from".to_owned()),
        external_reference: Some("ref-3".to_owned()),
        ..withdrawal(&wallet, "4")
    };
    let created = app.admin.transactions().create_withdrawal(request).await;
    let created = result(created).unwrap().transaction.unwrap();
    insta::assert_snapshot!(stable(&created, &[(&wallet, "<wallet>")]), @r#"
    Transaction {
        id: "<id>",
        r#type: Withdrawal,
        code: "bank:wire",
        status: Processing,
        asset_code: "usd",
        amount: "4.00000000",
        description: Some("cash"),
        origin_wallet_id: Some("<wallet>"),
        destination_wallet_id: None,
        origin_address: Some("from"),
        destination_address: None,
        external_id: None,
        external_reference: Some("ref-3"),
        reference: <reference>,
        custom_data: "{}",
        metadata: "{}",
        processed_at: None,
        created_at: Some(<time>),
        updated_at: Some(<time>),
    }
    "#);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_payment_is_returned_whole(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.funded_wallet("10").await;
    let default = app.settings().await.default_wallet_id;
    let request = wire::CreatePaymentRequest {
        custom_data: Some(r#"{"a":1}"#.to_owned()),
        description: Some("coffee".to_owned()),
        ..payment(&wallet, "4")
    };
    let created = app.admin.transactions().create_payment(request).await;
    let created = result(created).unwrap().transaction.unwrap();
    let names = [(&*wallet, "<wallet>"), (&*default, "<default wallet>")];
    insta::assert_snapshot!(stable(&created, &names), @r#"
    Transaction {
        id: "<id>",
        r#type: Transfer,
        code: "pay",
        status: Confirmed,
        asset_code: "usd",
        amount: "4.00000000",
        description: Some("coffee"),
        origin_wallet_id: Some("<wallet>"),
        destination_wallet_id: Some("<default wallet>"),
        origin_address: None,
        destination_address: None,
        external_id: None,
        external_reference: None,
        reference: <reference>,
        custom_data: "{\"a\":1}",
        metadata: "{}",
        processed_at: Some(<time>),
        created_at: Some(<time>),
        updated_at: Some(<time>),
    }
    "#);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_reason_is_kept_in_the_metadata(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.funded_wallet("10").await;
    let pending = app.withdraw(&wallet, "1").await.unwrap().id;
    let reject = wire::RejectTransactionRequest {
        id: pending,
        reason: Some(r#"{"code": 1.10}"#.to_owned()),
    };
    let rejected = app.admin.transactions().reject_transaction(reject).await;
    let rejected = result(rejected).unwrap().transaction.unwrap();
    assert_eq!(rejected.metadata, r#"{"rejectReason":{"code": 1.10}}"#);
    assert_eq!(rejected.status(), wire::TransactionStatus::Rejected);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn invalid_reasons_are_refused(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.funded_wallet("10").await;
    let id = app.withdraw(&wallet, "1").await.unwrap().id;
    let long = format!("\"{}\"", "x".repeat(1_023));
    for reason in ["no answer", "", "{", &long] {
        let fail = wire::FailTransactionRequest {
            id: id.clone(),
            reason: Some(reason.to_owned()),
        };
        let failed = result(app.admin.transactions().fail_transaction(fail).await);
        assert_eq!(rejection(failed).fields, ["reason"], "{reason}");
        let reject = wire::RejectTransactionRequest {
            id: id.clone(),
            reason: Some(reason.to_owned()),
        };
        let rejected = result(app.admin.transactions().reject_transaction(reject).await);
        assert_eq!(rejection(rejected).fields, ["reason"], "{reason}");
    }
    app.confirm(&id).await.unwrap();
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_wallet_cannot_pay_itself(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let default = app.settings().await.default_wallet_id;
    app.fund(&default, "10", "usd").await;
    let mut transactions = app.admin.transactions();
    let paid = transactions.create_payment(payment(&default, "1")).await;
    let moved = transfer(&default, &default.to_uppercase(), "1", true);
    let moved = transactions.create_transfer(moved).await;
    for failure in [result(paid).unwrap_err(), result(moved).unwrap_err()] {
        assert_eq!(failure.code, Code::ValidationFailed);
        let [field] = &failure.fields[..] else {
            panic!("one field")
        };
        assert_eq!(field.field, "destinationWalletId");
        assert_eq!(field.code, FieldCode::Duplicate);
        assert_eq!(field.message, "a wallet cannot pay itself");
    }
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn unknown_and_malformed_ids_are_not_found(pool: PgPool) {
    let app = TestApp::new(pool).await;
    for id in [UNKNOWN, "x", ""] {
        let get = wire::GetTransactionRequest { id: id.to_owned() };
        let read = result(app.admin.transactions().get_transaction(get).await);
        let not_found = Rejection::new(Code::TransactionNotFound, &[]);
        assert_eq!(rejection(read), not_found, "{id}");
        for changed in [
            app.approve(id).await,
            app.confirm(id).await,
            app.fail(id).await,
            app.reject(id).await,
        ] {
            assert_eq!(rejection(changed), not_found, "{id}");
        }
    }
    app.finish().await;
}
