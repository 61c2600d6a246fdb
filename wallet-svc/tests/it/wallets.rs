//! Wallets themselves.

use platform::error::Code;
use proto::wallet::v1 as wire;
use sqlx::PgPool;

use crate::harness::{TestApp, invalid, mask, rejection, result};

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn an_operation_id_makes_one_wallet(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let request = wire::CreateWalletRequest {
        name: Some("Ann wallet".to_owned()),
        owner_id: Some("0192ABCD-0000-7000-8000-0000000000aa".to_owned()),
        custom_data: Some(r#"{ "n": 1.10 }"#.to_owned()),
        operation_id: Some("user:1:wallet".to_owned()),
        ..wire::CreateWalletRequest::default()
    };
    let made = result(app.admin.wallets().create_wallet(request.clone()).await).unwrap();
    let again = result(app.admin.wallets().create_wallet(request).await).unwrap();
    assert_eq!(made, again);
    let wallet = made.wallet.unwrap();
    assert_eq!(
        wallet.owner_id.as_deref(),
        Some("0192abcd-0000-7000-8000-0000000000aa")
    );
    assert_eq!(
        (wallet.reference.len(), &*wallet.custom_data),
        (10, r#"{ "n": 1.10 }"#)
    );
    assert_eq!(app.event_types(&wallet.id).await, ["WalletCreated"]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_patch_changes_what_its_mask_names(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let before = wire::GetWalletRequest {
        id: app.new_wallet().await,
    };
    let before = result(app.admin.wallets().get_wallet(before).await)
        .unwrap()
        .wallet
        .unwrap();
    let update = |paths: &[&str]| wire::UpdateWalletRequest {
        id: before.id.clone(),
        name: Some("new".to_owned()),
        custom_data: Some("{}".to_owned()),
        update_mask: Some(mask(paths)),
        ..wire::UpdateWalletRequest::default()
    };
    let same = result(app.admin.wallets().update_wallet(update(&[])).await).unwrap();
    assert_eq!(same.wallet.as_ref(), Some(&before));
    let same = result(
        app.admin
            .wallets()
            .update_wallet(update(&["custom_data", "owner_id"]))
            .await,
    );
    assert_eq!(same.unwrap().wallet.as_ref(), Some(&before));
    let named = result(app.admin.wallets().update_wallet(update(&["name"])).await).unwrap();
    assert_eq!(named.wallet.unwrap().name.as_deref(), Some("new"));
    let rejected = result(app.admin.wallets().update_wallet(update(&["locked"])).await);
    assert_eq!(rejection(rejected), invalid(&["locked"]));
    let external = "00000000-0000-7000-8000-000000000001";
    for id in [external, "x", ""] {
        let get = wire::GetWalletRequest { id: id.to_owned() };
        let rejected = result(app.admin.wallets().get_wallet(get).await);
        assert_eq!(rejection(rejected).code, Code::WalletNotFound);
    }
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_second_start_finds_the_first(pool: PgPool) {
    let mut app = TestApp::new(pool).await;
    let default = app.settings().await.default_wallet_id;
    app.stop().await;
    app.start(4).await;
    let replica = app.replica().await;
    assert_eq!(app.settings().await.default_wallet_id, default);
    assert_eq!(replica.settings().await.default_wallet_id, default);
    assert_eq!(app.count("select count(*) from wallet.wallets").await, 4);
    assert_eq!(app.count("select count(*) from wallet.assets").await, 4);
    replica.finish().await;
    app.finish().await;
}
