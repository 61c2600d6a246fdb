//! Assets: created and read.

use futures::future::join_all;
use platform::{
    error::{Code, Failure},
    idempotency::is_replay,
};
use proto::wallet::v1::{self as wire, AssetType, CreateAssetRequest};
use sqlx::PgPool;

use crate::harness::{ANN, Rejection, TestApp, invalid, keyed, rejection, result, stable};

pub(crate) fn named(code: &str) -> CreateAssetRequest {
    CreateAssetRequest {
        code: code.to_owned(),
        name: "Gold".to_owned(),
        ..CreateAssetRequest::default()
    }
}

pub(crate) async fn create(
    app: &TestApp,
    request: CreateAssetRequest,
) -> Result<wire::Asset, Failure> {
    let created = result(app.admin.assets().create_asset(request).await)?;
    Ok(created.asset.unwrap())
}

pub(crate) async fn get(app: &TestApp, code: &str) -> Result<wire::Asset, Failure> {
    let code = code.to_owned();
    let found = result(
        app.admin
            .assets()
            .get_asset(wire::GetAssetRequest { code })
            .await,
    )?;
    Ok(found.asset.unwrap())
}

/// Returns the internal id, which events carry.
pub(crate) async fn id_of(app: &TestApp, code: &str) -> String {
    sqlx::query_scalar("select id::text from wallet.assets where code = $1")
        .bind(code)
        .fetch_one(&app.pool)
        .await
        .unwrap()
}

pub(crate) async fn events(app: &TestApp, code: &str) -> Vec<String> {
    app.event_types(&id_of(app, code).await).await
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn system_assets_are_published_once(pool: PgPool) {
    let mut app = TestApp::new(pool).await;
    app.stop().await;
    app.start(4).await;
    let replica = app.replica().await;
    for code in ["usd", "eur", "btc", "points"] {
        assert_eq!(events(&app, code).await, ["AssetChanged"], "{code}");
        assert!(get(&app, code).await.unwrap().system);
    }
    replica.finish().await;
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn code_and_name_create_an_asset_with_defaults(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let created = create(&app, named("Gold")).await.unwrap();
    insta::assert_snapshot!(stable(&created, &[]), @r#"
    Asset {
        code: "Gold",
        name: "Gold",
        symbol: None,
        r#type: Custom,
        decimal_places: 8,
        enabled: true,
        system: false,
        logo: None,
        contract: "{}",
        custom_data: "{}",
        metadata: "{}",
        created_at: Some(<time>),
        updated_at: Some(<time>),
        version: 1,
    }
    "#);
    assert_eq!(get(&app, "gOLD").await.unwrap(), created);
    assert_eq!(events(&app, "Gold").await, ["AssetChanged"]);

    let full = CreateAssetRequest {
        symbol: Some("₿₿₿₿₿₿₿₿₿₿₿₿₿₿₿₿".to_owned()),
        r#type: AssetType::Fiat.into(),
        decimal_places: Some(0),
        enabled: Some(false),
        logo: Some("x.png".to_owned()),
        contract: Some(r#"{"address":"0x1"}"#.to_owned()),
        custom_data: Some(r#"{ "n": 1.10 }"#.to_owned()),
        ..named("JPY")
    };
    let created = create(&app, full).await.unwrap();
    insta::assert_snapshot!(stable(&created, &[]), @r#"
    Asset {
        code: "JPY",
        name: "Gold",
        symbol: Some("₿₿₿₿₿₿₿₿₿₿₿₿₿₿₿₿"),
        r#type: Fiat,
        decimal_places: 0,
        enabled: false,
        system: false,
        logo: Some("x.png"),
        contract: "{\"address\":\"0x1\"}",
        custom_data: "{ \"n\": 1.10 }",
        metadata: "{}",
        created_at: Some(<time>),
        updated_at: Some(<time>),
        version: 1,
    }
    "#);
    let wallet = app.new_wallet().await;
    let rejected = app.deposit(&wallet, "1", "jpy").await;
    assert_eq!(rejection(rejected).code, Code::AssetDisabled);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn all_invalid_fields_are_reported_together(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let rejected = create(&app, CreateAssetRequest::default()).await;
    assert_eq!(rejection(rejected), invalid(&["code", "name"]));
    let bad = CreateAssetRequest {
        code: "a-b".to_owned(),
        name: "x".repeat(256),
        symbol: Some("x".repeat(17)),
        r#type: 77,
        decimal_places: Some(9),
        logo: Some("x".repeat(2_049)),
        contract: Some("[]".to_owned()),
        custom_data: Some("{".to_owned()),
        ..CreateAssetRequest::default()
    };
    let all = [
        "code",
        "name",
        "symbol",
        "type",
        "decimalPlaces",
        "logo",
        "contract",
        "customData",
    ];
    assert_eq!(rejection(create(&app, bad).await), invalid(&all));
    for code in ["", "a b", "nul\0", "abcdefghij1234567", "é"] {
        let rejected = create(&app, named(code)).await;
        assert_eq!(rejection(rejected), invalid(&["code"]), "{code:?}");
        assert_eq!(rejection(get(&app, code).await).code, Code::AssetNotFound);
    }
    assert_eq!(app.count("select count(*) from wallet.assets").await, 4);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn codes_are_unique_regardless_of_case(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let replica = app.replica().await;
    for code in ["usd", "USD"] {
        let rejected = create(&app, named(code)).await;
        let taken = Rejection::new(Code::CodeTaken, &["code"]);
        assert_eq!(rejection(rejected), taken);
    }
    let codes = ["gold", "GOLD", "Gold", "gOLD", "goLD", "golD"];
    let both = codes.iter().enumerate().map(|(n, code)| {
        let app = if n % 2 == 0 { &app } else { &replica };
        create(app, named(code))
    });
    let (won, lost): (Vec<_>, Vec<_>) = join_all(both).await.into_iter().partition(Result::is_ok);
    assert_eq!((won.len(), lost.len()), (1, 5));
    for rejected in lost {
        assert_eq!(rejection(rejected).code, Code::CodeTaken);
    }
    replica.finish().await;
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_replayed_create_returns_the_same_asset(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let mut assets = app.admin.assets();
    let request = || keyed(named("gold"), "k", "00");
    let first = assets.create_asset(request()).await.unwrap();
    let again = assets.create_asset(request()).await.unwrap();
    assert!(!is_replay(first.metadata()) && is_replay(again.metadata()));
    assert_eq!(first.into_inner(), again.into_inner());
    let other = assets.create_asset(keyed(named("tin"), "k", "01")).await;
    assert_eq!(rejection(result(other)).code, Code::IdempotencyKeyReused);
    assert_eq!(events(&app, "gold").await, ["AssetChanged"]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn only_admins_create_and_update(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let mut ann = app.as_user(ANN).assets();
    let rejected = ann.create_asset(named("gold")).await;
    assert_eq!(rejection(result(rejected)).code, Code::Forbidden);
    let rejected = ann.update_asset(wire::UpdateAssetRequest::default()).await;
    assert_eq!(rejection(result(rejected)).code, Code::Forbidden);
    let list = ann.list_assets(wire::ListAssetsRequest::default()).await;
    assert_eq!(result(list).unwrap().assets.len(), 4);
    app.finish().await;
}
