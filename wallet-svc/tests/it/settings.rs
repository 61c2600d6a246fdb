//! Settings, and configurations with which the service does not start.

use proto::wallet::v1 as wire;
use sqlx::PgPool;

use crate::harness::{ANN, TestApp, result, stable};

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn settings_name_the_default_wallet_and_the_configured_assets(pool: PgPool) {
    let flags = [
        "--default-asset-code",
        "EUR",
        "--bonus-asset-code",
        "POINTS",
    ];
    let app = TestApp::with_flags(pool, &flags).await;
    let settings = app.settings().await;
    insta::assert_snapshot!(stable(&settings, &[]), @r#"
    Settings {
        default_wallet_id: "<id>",
        default_asset_code: "eur",
        bonus_asset_code: Some("points"),
    }
    "#);
    let request = wire::GetSettingsRequest {};
    let read = app.as_user(ANN).settings().get_settings(request).await;
    assert_eq!(result(read).unwrap().settings, Some(settings.clone()));
    let wallet = wire::GetWalletRequest {
        id: settings.default_wallet_id,
    };
    let wallet = result(app.admin.wallets().get_wallet(wallet).await).unwrap();
    insta::assert_snapshot!(stable(&wallet.wallet.unwrap(), &[]), @r#"
    Wallet {
        id: "<id>",
        name: Some("Default wallet"),
        description: None,
        owner_id: None,
        locked: false,
        reference: <reference>,
        custom_data: "{}",
        metadata: "{}",
        created_at: Some(<time>),
        updated_at: Some(<time>),
    }
    "#);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn an_invalid_setting_stops_the_start(pool: PgPool) {
    // The root key of BIP 84's test vectors, which is no account's.
    let root = "zpub6jftahH18ngZxLmXaKw3GSZzZsszmt9WqedkyZdezFtWRFBZqsQH5hyUmb4pCEeZGmVfQuP5bedXTB8is6fTv19U1GQRyQUKQGUTzyHACMF";
    let key = format!("btc={root}");
    for (flags, messages) in [
        (
            ["--default-asset-code", "gold"],
            ["DEFAULT_ASSET_CODE", "asset gold not found"],
        ),
        (
            ["--bonus-asset-code", "gold"],
            ["BONUS_ASSET_CODE", "asset gold not found"],
        ),
        (
            ["--hd-public-keys", &key],
            ["HD_PUBLIC_KEYS", "the key of an account"],
        ),
        (
            ["--payment-methods-file", "/nowhere/methods.toml"],
            ["PAYMENT_METHODS_FILE", "/nowhere/methods.toml"],
        ),
    ] {
        let error = TestApp::start_error(&pool, &flags).await;
        for message in messages {
            assert!(error.contains(message), "{error}");
        }
        assert!(!error.contains(root), "{error}");
    }
    TestApp::new(pool).await.finish().await;
}
