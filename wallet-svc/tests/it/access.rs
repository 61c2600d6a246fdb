//! Access of users: which RPCs they may call, and whose resources they see.

use platform::error::Code;
use proto::wallet::v1 as wire;
use sqlx::PgPool;

use crate::harness::{
    ANN, BEN, TestApp, deposit, failed, operation, payment, posting, rejection, result, transfer,
    usd, withdrawal,
};

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn users_may_not_change_the_status_of_transactions(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.funded_wallet("10").await;
    app.set_owner(&wallet, ANN).await;
    let id = app.withdraw(&wallet, "1").await.unwrap().id;
    let mut ann = app.as_user(ANN).transactions();
    let request = wire::ApproveTransactionRequest { id: id.clone() };
    assert_eq!(
        failed(ann.approve_transaction(request).await).code,
        Code::Forbidden
    );
    let request = wire::ConfirmTransactionRequest { id: id.clone() };
    assert_eq!(
        failed(ann.confirm_transaction(request).await).code,
        Code::Forbidden
    );
    let request = wire::FailTransactionRequest {
        id: id.clone(),
        reason: None,
    };
    assert_eq!(
        failed(ann.fail_transaction(request).await).code,
        Code::Forbidden
    );
    let request = wire::RejectTransactionRequest {
        id: id.clone(),
        reason: None,
    };
    assert_eq!(
        failed(ann.reject_transaction(request).await).code,
        Code::Forbidden
    );
    let request = wire::ListTransactionChangesRequest { id: id.clone() };
    assert_eq!(
        failed(ann.list_transaction_changes(request).await).code,
        Code::Forbidden
    );
    let request = wire::GetTransactionRequest { id };
    let read = result(ann.get_transaction(request).await).unwrap();
    let status = read.transaction.unwrap().status();
    assert_eq!(status, wire::TransactionStatus::Pending);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn users_may_not_create_money_wallets_or_addresses(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.new_wallet().await;
    app.set_owner(&wallet, ANN).await;
    let ann = app.as_user(ANN);
    let request = deposit(&wallet, "1", "usd");
    let response = ann.transactions().create_deposit(request).await;
    assert_eq!(failed(response).code, Code::Forbidden);
    let request = wire::CreateWalletRequest::default();
    assert_eq!(
        failed(ann.wallets().create_wallet(request).await).code,
        Code::Forbidden
    );
    let request = wire::UpdateWalletRequest {
        id: wallet.clone(),
        ..wire::UpdateWalletRequest::default()
    };
    assert_eq!(
        failed(ann.wallets().update_wallet(request).await).code,
        Code::Forbidden
    );
    let request = wire::CreateAddressRequest::default();
    assert_eq!(
        failed(ann.addresses().create_address(request).await).code,
        Code::Forbidden
    );
    assert!(app.balances(&wallet).await.is_empty());
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn users_may_not_call_the_ledger(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (a, b) = (app.funded_wallet("10").await, app.new_wallet().await);
    app.set_owner(&a, ANN).await;
    let mut ann = app.as_user(ANN).ledger();
    let operation_id = "o".to_owned();
    let request = operation(&operation_id, vec![posting(&a, &b, "1")]);
    assert_eq!(failed(ann.post(request).await).code, Code::Forbidden);
    let request = wire::HoldRequest {
        operation_id: operation_id.clone(),
        postings: vec![posting(&a, &b, "1")],
    };
    assert_eq!(failed(ann.hold(request).await).code, Code::Forbidden);
    let request = wire::CaptureRequest {
        operation_id: operation_id.clone(),
    };
    assert_eq!(failed(ann.capture(request).await).code, Code::Forbidden);
    let request = wire::ReleaseRequest {
        operation_id: operation_id.clone(),
    };
    assert_eq!(failed(ann.release(request).await).code, Code::Forbidden);
    let request = wire::RefundRequest::default();
    assert_eq!(failed(ann.refund(request).await).code, Code::Forbidden);
    let request = wire::GetOperationRequest { operation_id };
    assert_eq!(
        failed(ann.get_operation(request).await).code,
        Code::Forbidden
    );
    assert_eq!(app.balances(&a).await, [usd("10")]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn every_user_reads_assets_rates_payment_methods_and_settings(pool: PgPool) {
    let app = TestApp::new(pool).await;
    app.set_rate("usd", "points", "100").await;
    let ann = app.as_user(ANN);
    let code = "usd".to_owned();
    let asset = ann.assets().get_asset(wire::GetAssetRequest { code }).await;
    assert_eq!(result(asset).unwrap().asset.unwrap().name, "US Dollar");
    let rate = wire::GetRateRequest {
        base_asset_code: "usd".to_owned(),
        quote_asset_code: "points".to_owned(),
    };
    let rate = result(ann.rates().get_rate(rate).await).unwrap();
    assert_eq!(rate.rate.unwrap().rate, "100.00000000");
    let conversion = wire::FindConversionRequest {
        from_asset_code: "points".to_owned(),
        to_asset_code: "usd".to_owned(),
    };
    let conversion = ann.rates().find_conversion(conversion).await;
    assert!(result(conversion).unwrap().inverse);
    let methods = wire::ListPaymentMethodsRequest::default();
    let methods = ann.payment_methods().list_payment_methods(methods).await;
    assert!(result(methods).unwrap().payment_methods.is_empty());
    let settings = wire::GetSettingsRequest {};
    ann.settings().get_settings(settings).await.unwrap();
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn users_debit_only_their_own_wallets(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (mine, yours) = (app.funded_wallet("10").await, app.funded_wallet("10").await);
    app.set_owner(&mine, ANN).await;
    app.set_owner(&yours, BEN).await;
    let mut ann = app.as_user(ANN).transactions();
    let sent = ann.create_transfer(transfer(&mine, &yours, "1", false));
    result(sent.await).unwrap();
    result(ann.create_payment(payment(&mine, "1")).await).unwrap();
    let taken = ann.create_withdrawal(withdrawal(&mine, "1")).await;
    result(taken).unwrap();

    let transferred = ann.create_transfer(transfer(&yours, &mine, "1", false));
    assert_eq!(failed(transferred.await).fields, ["originWalletId"]);
    let paid = result(ann.create_payment(payment(&yours, "1")).await);
    assert_eq!(rejection(paid).fields, ["originWalletId"]);
    let taken = ann.create_withdrawal(withdrawal(&yours, "1")).await;
    assert_eq!(failed(taken).fields, ["originWalletId"]);
    let committed = ann.create_transfer(transfer(&mine, &yours, "1", true));
    assert_eq!(failed(committed.await).code, Code::Forbidden);
    let committed = wire::CreateWithdrawalRequest {
        commit: true,
        ..withdrawal(&mine, "1")
    };
    let committed = result(ann.create_withdrawal(committed).await);
    assert_eq!(rejection(committed).code, Code::Forbidden);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn resources_of_other_users_are_not_found(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let theirs = app.funded_wallet("10").await;
    app.set_owner(&theirs, BEN).await;
    let withdrawal = app.withdraw(&theirs, "1").await.unwrap();
    let movement: String =
        sqlx::query_scalar("select id::text from wallet.movements where wallet_id = $1::uuid")
            .bind(&theirs)
            .fetch_one(&app.pool)
            .await
            .unwrap();
    let ann = app.as_user(ANN);
    let request = wire::GetWalletRequest { id: theirs.clone() };
    assert_eq!(
        failed(ann.wallets().get_wallet(request).await).code,
        Code::WalletNotFound
    );
    let request = wire::GetWalletBalanceRequest {
        id: theirs.clone(),
        ..wire::GetWalletBalanceRequest::default()
    };
    let response = ann.wallets().get_wallet_balance(request).await;
    assert_eq!(failed(response).code, Code::WalletNotFound);
    let request = wire::GetTransactionRequest { id: withdrawal.id };
    let response = ann.transactions().get_transaction(request).await;
    assert_eq!(failed(response).code, Code::TransactionNotFound);
    let request = wire::GetMovementRequest {
        id: movement,
        include: vec![],
    };
    let response = ann.movements().get_movement(request).await;
    assert_eq!(failed(response).code, Code::MovementNotFound);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn lists_of_other_users_wallets_are_not_found(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let theirs = app.funded_wallet("10").await;
    app.set_owner(&theirs, BEN).await;
    let ann = app.as_user(ANN);
    let wallet_id = || Some(theirs.clone());
    let request = wire::ListTransactionsRequest {
        list: None,
        wallet_id: wallet_id(),
    };
    let response = ann.transactions().list_transactions(request).await;
    assert_eq!(failed(response).code, Code::WalletNotFound);
    let request = wire::ListMovementsRequest {
        list: None,
        wallet_id: wallet_id(),
    };
    let response = ann.movements().list_movements(request).await;
    assert_eq!(failed(response).code, Code::WalletNotFound);
    let request = wire::ListActivityRequest {
        list: None,
        wallet_id: wallet_id(),
    };
    let response = ann.transactions().list_activity(request).await;
    assert_eq!(failed(response).code, Code::WalletNotFound);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn lists_and_totals_contain_only_the_users_own(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (mine, yours) = (app.funded_wallet("10").await, app.funded_wallet("10").await);
    app.set_owner(&mine, ANN).await;
    app.set_owner(&yours, BEN).await;
    app.withdraw(&mine, "1").await.unwrap();
    let ann = app.as_user(ANN);
    let wallets = wire::ListWalletsRequest::default();
    let wallets = ann.wallets().list_wallets(wallets).await;
    let wallets = result(wallets).unwrap().wallets;
    assert!(wallets.iter().map(|wallet| &wallet.id).eq([&mine]));
    let total = wire::GetTotalBalanceRequest::default();
    let total = result(ann.wallets().get_total_balance(total).await).unwrap();
    let [total] = &total.balances[..] else {
        panic!("one asset")
    };
    assert_eq!(total.amount, "10.00000000");
    assert_eq!(total.held_amount, "1.00000000");
    let movements = wire::ListMovementsRequest::default();
    let movements = result(ann.movements().list_movements(movements).await).unwrap();
    assert!(
        movements
            .movements
            .iter()
            .all(|movement| movement.wallet_id == mine)
    );
    assert_eq!(movements.movements.len(), 1);
    let transactions = wire::ListTransactionsRequest::default();
    let transactions = result(ann.transactions().list_transactions(transactions).await);
    assert_eq!(transactions.unwrap().transactions.len(), 2);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn calls_without_a_token_are_unauthenticated(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let anonymous = app.anonymous();
    let request = wire::ListWalletsRequest::default();
    let response = anonymous.wallets().list_wallets(request).await;
    assert_eq!(failed(response).code, Code::Unauthenticated);
    let request = wire::ListAssetsRequest::default();
    let response = anonymous.assets().list_assets(request).await;
    assert_eq!(failed(response).code, Code::Unauthenticated);
    app.finish().await;
}
