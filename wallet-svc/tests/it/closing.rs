//! Closing the wallets of users who are deleted.

use platform::error::{Code, Failure};
use proto::wallet::v1 as wire;
use sqlx::PgPool;

use crate::harness::{ANN, BEN, Clients, TestApp, failed, invalid, rejection, result, usd};

fn close(owner: &str) -> wire::CloseWalletsRequest {
    wire::CloseWalletsRequest {
        owner_id: owner.to_owned(),
    }
}

async fn close_wallets(clients: &Clients, owner: &str) -> Result<(), Failure> {
    let closed = clients.wallets().close_wallets(close(owner)).await;
    result(closed).map(drop)
}

async fn read(app: &TestApp, id: &str) -> wire::Wallet {
    let request = wire::GetWalletRequest { id: id.to_owned() };
    let read = app.admin.wallets().get_wallet(request).await;
    result(read).unwrap().wallet.unwrap()
}

/// Creates a wallet of this user.
async fn wallet_of(app: &TestApp, owner: &str) -> String {
    let request = wire::CreateWalletRequest {
        name: Some("ann@example.com wallet".to_owned()),
        owner_id: Some(owner.to_owned()),
        operation_id: Some(format!("user:{owner}:wallet")),
        ..wire::CreateWalletRequest::default()
    };
    let identity = app.as_service("identity-svc");
    let created = identity.wallets().create_wallet(request).await;
    result(created).unwrap().wallet.unwrap().id
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn all_wallets_of_a_user_are_locked_and_lose_their_names(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let first = wallet_of(&app, ANN).await;
    let emptied = app.funded_wallet("5").await;
    let other = wallet_of(&app, BEN).await;
    app.transfer(&emptied, &other, "5", true).await.unwrap();
    app.set_owner(&emptied, ANN).await;
    let before = read(&app, &other).await;

    let identity = app.as_service("identity-svc");
    for _ in 0..2 {
        close_wallets(&identity, ANN).await.unwrap();
        for wallet in [&first, &emptied] {
            let closed = read(&app, wallet).await;
            assert!(closed.locked);
            assert_eq!(closed.name, None);
            let events = app.event_types(wallet).await;
            assert_eq!(events, ["WalletCreated", "WalletLocked"]);
        }
    }
    assert_eq!(read(&app, &other).await, before);
    let entries = "select count(*) from wallet.audit_log
        where action = 'wallet.closed' and actor = 'service:identity-svc'";
    assert_eq!(app.count(entries).await, 2);
    let refused = app.deposit(&first, "1", "usd").await;
    assert_eq!(rejection(refused).code, Code::WalletLocked);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn nothing_is_locked_while_one_wallet_has_or_expects_money(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let identity = app.as_service("identity-svc");
    let empty = wallet_of(&app, ANN).await;
    let other = app.new_wallet().await;

    // The wallet has an amount, then it is held, then another one is incoming.
    let wallet = app.funded_wallet("5").await;
    app.set_owner(&wallet, ANN).await;
    let before = read(&app, &empty).await;
    let assert_open = async || {
        let refused = close_wallets(&identity, ANN).await;
        assert_eq!(rejection(refused).code, Code::InvalidState);
        assert_eq!(read(&app, &empty).await, before);
        assert!(!read(&app, &wallet).await.locked);
    };
    assert_open().await;
    let held = app.withdraw(&wallet, "5").await.unwrap();
    assert_open().await;
    app.confirm(&held.id).await.unwrap();
    let incoming = app.deposit(&wallet, "1", "eur").await.unwrap();
    assert_open().await;
    app.fail(&incoming.id).await.unwrap();

    close_wallets(&identity, ANN).await.unwrap();
    assert!(read(&app, &wallet).await.locked);
    assert!(!read(&app, &other).await.locked);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_deposit_and_a_closing_never_both_succeed(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let identity = app.as_service("identity-svc");
    for round in 0..20 {
        let wallet = app.new_wallet().await;
        let owner = format!("0192abcd-0000-7000-8000-0000000001{round:02}");
        app.set_owner(&wallet, &owner).await;
        if round % 2 == 0 {
            // A row of the balance exists, and is cached.
            let deposit = app.deposit(&wallet, "1", "usd").await.unwrap();
            app.fail(&deposit.id).await.unwrap();
        }
        let (deposited, closed) = tokio::join!(
            app.deposit(&wallet, "1", "usd"),
            close_wallets(&identity, &owner)
        );
        assert_ne!(deposited.is_ok(), closed.is_ok(), "round {round}");
        let incoming = if deposited.is_ok() { "1" } else { "0" };
        let balances = app.balances(&wallet).await;
        let expected = usd("0").incoming(incoming);
        assert!(balances.iter().all(|balance| *balance == expected));
    }
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn only_identity_svc_closes_wallets(pool: PgPool) {
    let app = TestApp::new(pool).await;
    for clients in [&app.admin, &app.as_user(ANN), &app.as_service("orders-svc")] {
        let refused = close_wallets(clients, ANN).await;
        assert_eq!(rejection(refused).code, Code::Forbidden);
    }
    let mut identity = app.as_service("identity-svc").wallets();
    let malformed = failed(identity.close_wallets(close("ann")).await);
    assert_eq!(malformed, invalid(&["ownerId"]));
    app.finish().await;
}
