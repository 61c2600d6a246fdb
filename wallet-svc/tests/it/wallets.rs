//! Wallets: created, read, updated.

use futures::future::join_all;
use platform::error::{Code, Failure};
use proto::wallet::v1 as wire;
use sqlx::PgPool;

use crate::harness::{
    ANN, BEN, Clients, Rejection, TestApp, UNKNOWN, invalid, mask, rejection, result, serve_users,
    stable,
};

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn an_operation_id_creates_one_wallet(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let request = wire::CreateWalletRequest {
        name: Some("Ann wallet".to_owned()),
        owner_id: Some("0192ABCD-0000-7000-8000-0000000000aa".to_owned()),
        custom_data: Some(r#"{ "n": 1.10 }"#.to_owned()),
        operation_id: Some("user:1:wallet".to_owned()),
        ..wire::CreateWalletRequest::default()
    };
    let created = result(app.admin.wallets().create_wallet(request.clone()).await).unwrap();
    let again = result(app.admin.wallets().create_wallet(request).await).unwrap();
    assert_eq!(created, again);
    let wallet = created.wallet.unwrap();
    insta::assert_snapshot!(stable(&wallet, &[(ANN, "<ann>")]), @r#"
    Wallet {
        id: "<id>",
        name: Some("Ann wallet"),
        description: None,
        owner_id: Some("<ann>"),
        locked: false,
        reference: <reference>,
        custom_data: "{ \"n\": 1.10 }",
        metadata: "{}",
        created_at: Some(<time>),
        updated_at: Some(<time>),
    }
    "#);
    assert_eq!(wallet.reference.len(), 10);
    assert_eq!(app.event_types(&wallet.id).await, ["WalletCreated"]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn an_update_changes_the_fields_of_its_mask(pool: PgPool) {
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
async fn a_second_start_reuses_the_default_wallet_and_the_assets(pool: PgPool) {
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

fn owned(owner: &str) -> wire::CreateWalletRequest {
    wire::CreateWalletRequest {
        owner_id: Some(owner.to_owned()),
        ..wire::CreateWalletRequest::default()
    }
}

async fn give(
    client: &Clients,
    wallet: &str,
    owner: Option<&str>,
) -> Result<Option<String>, Failure> {
    let request = wire::UpdateWalletRequest {
        id: wallet.to_owned(),
        owner_id: owner.map(str::to_owned),
        update_mask: Some(mask(&["owner_id"])),
        ..wire::UpdateWalletRequest::default()
    };
    let updated = result(client.wallets().update_wallet(request).await)?;
    Ok(updated.wallet.unwrap().owner_id)
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn an_owner_must_exist(pool: PgPool) {
    let identity = serve_users(&[ANN]).await;
    let app = TestApp::with_flags(pool, &["--identity-grpc-url", &identity]).await;
    let created = app.admin.wallets().create_wallet(owned(ANN)).await;
    let wallet = result(created).unwrap().wallet.unwrap();
    assert_eq!(wallet.owner_id.as_deref(), Some(ANN));
    for owner in [BEN, "x"] {
        let created = result(app.admin.wallets().create_wallet(owned(owner)).await);
        assert_eq!(rejection(created), invalid(&["ownerId"]), "{owner}");
        let given = give(&app.admin, &wallet.id, Some(owner)).await;
        assert_eq!(rejection(given), invalid(&["ownerId"]), "{owner}");
    }
    let removed = give(&app.admin, &wallet.id, None).await;
    assert_eq!(removed.unwrap(), None);
    let given = give(&app.admin, &wallet.id, Some(ANN)).await;
    assert_eq!(given.unwrap().as_deref(), Some(ANN));
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn owners_are_checked_only_where_identity_svc_is_not_the_caller(pool: PgPool) {
    // identity-svc is away.
    let app = TestApp::new(pool).await;
    let created = result(app.admin.wallets().create_wallet(owned(ANN)).await);
    assert_eq!(rejection(created).code, Code::Unavailable);
    let wallet = app.new_wallet().await;
    let given = give(&app.admin, &wallet, Some(ANN)).await;
    assert_eq!(rejection(given).code, Code::Unavailable);
    let given = give(&app.as_service("identity-svc"), &wallet, Some(ANN)).await;
    assert_eq!(given.unwrap().as_deref(), Some(ANN));
    let given = give(&app.as_service("orders-svc"), &wallet, Some(BEN)).await;
    assert_eq!(rejection(given).code, Code::Forbidden);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn the_owner_of_a_primary_or_default_wallet_never_changes(pool: PgPool) {
    let identity = serve_users(&[ANN, BEN]).await;
    let app = TestApp::with_flags(pool, &["--identity-grpc-url", &identity]).await;
    let identity_svc = app.as_service("identity-svc");
    let fixed = Rejection::new(Code::InvalidState, &["ownerId"]);

    let primary = wire::CreateWalletRequest {
        operation_id: Some(format!("user:{ANN}:wallet")),
        ..owned(ANN)
    };
    let created = result(identity_svc.wallets().create_wallet(primary).await).unwrap();
    let adopted = app.new_wallet().await;
    give(&identity_svc, &adopted, Some(ANN)).await.unwrap();
    for wallet in [created.wallet.unwrap().id, adopted] {
        for owner in [Some(BEN), None] {
            let given = give(&app.admin, &wallet, owner).await;
            assert_eq!(rejection(given), fixed);
        }
        let given = give(&identity_svc, &wallet, Some(BEN)).await;
        assert_eq!(rejection(given), fixed);
        let same = give(&app.admin, &wallet, Some(ANN)).await;
        assert_eq!(same.unwrap().as_deref(), Some(ANN));
    }

    let default = app.settings().await.default_wallet_id;
    for client in [&app.admin, &identity_svc] {
        let given = give(client, &default, Some(ANN)).await;
        assert_eq!(rejection(given), fixed);
    }
    assert_eq!(give(&app.admin, &default, None).await.unwrap(), None);

    // A wallet that got an owner meanwhile becomes nobody's primary wallet.
    let taken = app.new_wallet().await;
    give(&app.admin, &taken, Some(BEN)).await.unwrap();
    let given = give(&identity_svc, &taken, Some(ANN)).await;
    assert_eq!(rejection(given), fixed);
    let given = give(&app.admin, &taken, Some(ANN)).await;
    assert_eq!(given.unwrap().as_deref(), Some(ANN));
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn invalid_wallets_are_refused_by_field(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let long = || Some("x".repeat(256));
    let bad = wire::CreateWalletRequest {
        name: long(),
        owner_id: Some("x".to_owned()),
        ..wire::CreateWalletRequest::default()
    };
    let created = result(app.admin.wallets().create_wallet(bad).await);
    assert_eq!(rejection(created), invalid(&["name", "ownerId"]));
    let bad = wire::UpdateWalletRequest {
        id: app.new_wallet().await,
        name: long(),
        owner_id: Some("x".to_owned()),
        update_mask: Some(mask(&["name", "owner_id", "locked", "custom_data"])),
        ..wire::UpdateWalletRequest::default()
    };
    let updated = result(app.admin.wallets().update_wallet(bad).await);
    let fields = ["name", "ownerId", "locked", "customData"];
    assert_eq!(rejection(updated), invalid(&fields));
    for id in [UNKNOWN, "x", ""] {
        let update = wire::UpdateWalletRequest {
            id: id.to_owned(),
            ..wire::UpdateWalletRequest::default()
        };
        let updated = result(app.admin.wallets().update_wallet(update).await);
        assert_eq!(rejection(updated).code, Code::WalletNotFound, "{id}");
    }
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_wallet_can_be_created_locked(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let request = wire::CreateWalletRequest {
        locked: true,
        ..wire::CreateWalletRequest::default()
    };
    let created = result(app.admin.wallets().create_wallet(request).await).unwrap();
    let wallet = created.wallet.unwrap();
    assert!(wallet.locked);
    let deposit = app.deposit(&wallet.id, "1", "usd").await;
    assert_eq!(rejection(deposit).code, Code::WalletLocked);
    assert!(app.balances(&wallet.id).await.is_empty());
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn concurrent_creates_with_one_operation_id_create_one_wallet(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let replica = app.replica().await;
    let request = || wire::CreateWalletRequest {
        operation_id: Some("o".to_owned()),
        ..wire::CreateWalletRequest::default()
    };
    let calls = (0..20).map(|n| {
        let app = if n % 2 == 0 { &app } else { &replica };
        async { app.admin.wallets().create_wallet(request()).await }
    });
    let wallets: Vec<_> = join_all(calls).await.into_iter().map(result).collect();
    let first = wallets[0].as_ref().unwrap();
    for wallet in &wallets {
        assert_eq!(wallet.as_ref().unwrap(), first);
    }
    let created = "select count(*) from wallet.wallets where operation_id = 'o'";
    assert_eq!(app.count(created).await, 1);
    replica.finish().await;
    app.finish().await;
}
