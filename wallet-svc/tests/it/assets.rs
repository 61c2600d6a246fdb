//! Assets: made, changed, used, disabled.

use futures::future::join_all;
use platform::{
    error::{Code, Failure},
    grpc::client::Client,
    idempotency::is_replay,
};
use proto::wallet::v1::{
    self as wire, AssetType, CreateAssetRequest, UpdateAssetRequest,
    asset_service_client::AssetServiceClient,
};
use sqlx::PgPool;

use crate::harness::{
    ANN, Rejection, TestApp, deposit, invalid, keyed, mask, rejection, result, usd,
};

fn assets(app: &TestApp) -> AssetServiceClient<Client> {
    app.admin.assets()
}

fn named(code: &str) -> CreateAssetRequest {
    CreateAssetRequest {
        code: code.to_owned(),
        name: "Gold".to_owned(),
        ..CreateAssetRequest::default()
    }
}

async fn create(app: &TestApp, request: CreateAssetRequest) -> Result<wire::Asset, Failure> {
    let made = result(assets(app).create_asset(request).await)?;
    Ok(made.asset.unwrap())
}

async fn get(app: &TestApp, code: &str) -> Result<wire::Asset, Failure> {
    let code = code.to_owned();
    let found = result(assets(app).get_asset(wire::GetAssetRequest { code }).await)?;
    Ok(found.asset.unwrap())
}

fn patch(code: &str, paths: &[&str]) -> UpdateAssetRequest {
    UpdateAssetRequest {
        code: code.to_owned(),
        update_mask: Some(mask(paths)),
        ..UpdateAssetRequest::default()
    }
}

async fn update(app: &TestApp, request: UpdateAssetRequest) -> Result<wire::Asset, Failure> {
    let changed = result(assets(app).update_asset(request).await)?;
    Ok(changed.asset.unwrap())
}

async fn set_places(app: &TestApp, code: &str, places: u32) -> Result<wire::Asset, Failure> {
    let request = UpdateAssetRequest {
        decimal_places: Some(places),
        ..patch(code, &["decimal_places"])
    };
    update(app, request).await
}

async fn events(app: &TestApp, code: &str) -> Vec<String> {
    let sql = "select id::text from wallet.assets where code = $1";
    let id: String = sqlx::query_scalar(sql)
        .bind(code)
        .fetch_one(&app.pool)
        .await
        .unwrap();
    app.event_types(&id).await
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn the_first_are_told_of_once(pool: PgPool) {
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
async fn two_things_make_an_asset(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let made = create(&app, named("Gold")).await.unwrap();
    let expected = wire::Asset {
        code: "Gold".to_owned(),
        name: "Gold".to_owned(),
        r#type: AssetType::Custom.into(),
        decimal_places: 8,
        enabled: true,
        contract: "{}".to_owned(),
        custom_data: "{}".to_owned(),
        metadata: "{}".to_owned(),
        created_at: made.created_at,
        updated_at: made.created_at,
        ..wire::Asset::default()
    };
    assert_eq!(made, expected);
    assert_eq!(get(&app, "gOLD").await.unwrap(), made);
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
    let made = create(&app, full.clone()).await.unwrap();
    assert_eq!((made.r#type(), made.decimal_places), (AssetType::Fiat, 0));
    assert!(!made.enabled && !made.system);
    assert_eq!(made.symbol, full.symbol);
    assert_eq!(Some(made.custom_data), full.custom_data);
    assert_eq!(Some(made.contract), full.contract);
    let wallet = app.new_wallet().await;
    let rejected = app.deposit(&wallet, "1", "jpy").await;
    assert_eq!(rejection(rejected).code, Code::AssetDisabled);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn bad_fields_are_named_together(pool: PgPool) {
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
async fn codes_differ_in_more_than_case(pool: PgPool) {
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
async fn a_key_makes_one_asset(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let mut assets = assets(&app);
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
async fn a_patch_changes_what_it_names(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let before = CreateAssetRequest {
        symbol: Some("G".to_owned()),
        logo: Some("gold.png".to_owned()),
        ..named("gold")
    };
    let before = create(&app, before).await.unwrap();
    let same = [
        patch("GOLD", &[]),
        UpdateAssetRequest {
            name: Some("Gold".to_owned()),
            enabled: Some(true),
            ..patch("gold", &["name", "enabled"])
        },
    ];
    for same in same {
        assert_eq!(update(&app, same).await.unwrap(), before);
    }
    assert_eq!(events(&app, "gold").await, ["AssetChanged"]);
    let change = UpdateAssetRequest {
        name: Some("Aurum".to_owned()),
        r#type: Some(AssetType::Crypto.into()),
        decimal_places: Some(3),
        contract: Some(r#"{"a":1}"#.to_owned()),
        custom_data: Some(r#"{"b":2}"#.to_owned()),
        ..patch(
            "gold",
            &[
                "name",
                "symbol",
                "type",
                "decimal_places",
                "logo",
                "contract",
                "custom_data",
            ],
        )
    };
    let after = update(&app, change).await.unwrap();
    let expected = wire::Asset {
        name: "Aurum".to_owned(),
        symbol: None,
        r#type: AssetType::Crypto.into(),
        decimal_places: 3,
        logo: None,
        contract: r#"{"a":1}"#.to_owned(),
        custom_data: r#"{"b":2}"#.to_owned(),
        updated_at: after.updated_at,
        ..before
    };
    assert_eq!(after, expected);
    assert_eq!(events(&app, "gold").await, ["AssetChanged"; 2]);

    let kept = [
        "name",
        "type",
        "decimal_places",
        "enabled",
        "contract",
        "custom_data",
    ];
    let shown = [
        "name",
        "type",
        "decimalPlaces",
        "enabled",
        "contract",
        "customData",
    ];
    assert_eq!(
        rejection(update(&app, patch("gold", &kept)).await),
        invalid(&shown)
    );
    let rejected = set_places(&app, "gold", 9).await;
    assert_eq!(rejection(rejected), invalid(&["decimalPlaces"]));
    let rejected = update(&app, patch("nope", &[])).await;
    assert_eq!(rejection(rejected).code, Code::AssetNotFound);
    assert_eq!(get(&app, "gold").await.unwrap(), after);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn system_assets_are_read_only_but_for_three_fields(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let before = get(&app, "usd").await.unwrap();
    let renamed = UpdateAssetRequest {
        name: Some("Dollar".to_owned()),
        enabled: Some(false),
        ..patch("usd", &["name", "enabled"])
    };
    assert_eq!(
        rejection(update(&app, renamed).await).code,
        Code::AssetReadOnly
    );
    let rejected = update(&app, patch("usd", &["symbol"])).await;
    assert_eq!(rejection(rejected).code, Code::AssetReadOnly);
    let rejected = set_places(&app, "usd", 3).await;
    assert_eq!(rejection(rejected).code, Code::AssetReadOnly);
    assert_eq!(get(&app, "usd").await.unwrap(), before);
    let allowed = UpdateAssetRequest {
        name: Some(before.name.clone()),
        enabled: Some(false),
        logo: Some("usd.png".to_owned()),
        custom_data: Some(r#"{"a":1}"#.to_owned()),
        ..patch("USD", &["name", "enabled", "logo", "custom_data"])
    };
    let after = update(&app, allowed).await.unwrap();
    assert_eq!(after.logo.as_deref(), Some("usd.png"));
    assert!(!after.enabled);
    assert_eq!(events(&app, "usd").await, ["AssetChanged"; 2]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn only_admins_write(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let mut ann = app.as_user(ANN).assets();
    let rejected = ann.create_asset(named("gold")).await;
    assert_eq!(rejection(result(rejected)).code, Code::Forbidden);
    let rejected = ann.update_asset(patch("usd", &[])).await;
    assert_eq!(rejection(result(rejected)).code, Code::Forbidden);
    let list = ann.list_assets(wire::ListAssetsRequest::default()).await;
    assert_eq!(result(list).unwrap().assets.len(), 4);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn decimals_of_a_used_asset_only_grow(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let four = CreateAssetRequest {
        decimal_places: Some(4),
        ..named("gold")
    };
    create(&app, four).await.unwrap();
    let wallet = app.new_wallet().await;
    let rejected = app.deposit(&wallet, "0.00001", "gold").await;
    assert_eq!(rejection(rejected).code, Code::AmountPrecision);
    // The balance row that was made for the rejection one is no use.
    set_places(&app, "gold", 3).await.unwrap();
    let open = app.deposit(&wallet, "0.001", "gold").await.unwrap();
    let in_use = Rejection::new(Code::DecimalPlacesInUse, &["decimalPlaces"]);
    assert_eq!(rejection(set_places(&app, "gold", 2).await), in_use);
    app.confirm(&open.id).await.unwrap();
    assert_eq!(rejection(set_places(&app, "gold", 0).await), in_use);
    set_places(&app, "gold", 5).await.unwrap();
    app.fund(&wallet, "0.00001", "gold").await;
    assert_eq!(rejection(set_places(&app, "gold", 3).await), in_use);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn of_a_first_use_and_coarser_decimals_one_wins(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let replica = app.replica().await;
    let wallet = app.new_wallet().await;
    for round in 0..20 {
        let code = format!("gold{round}");
        create(&app, named(&code)).await.unwrap();
        let (used, lowered) = tokio::join!(
            app.deposit(&wallet, "0.5", &code),
            set_places(&replica, &code, 0)
        );
        assert_ne!(used.is_ok(), lowered.is_ok(), "{used:?} {lowered:?}");
        if used.is_ok() {
            assert_eq!(rejection(lowered).code, Code::DecimalPlacesInUse);
        } else {
            assert_eq!(rejection(used).code, Code::AmountPrecision);
        }
    }
    replica.finish().await;
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn nothing_is_accepted_after_disabled_is_answered(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let replica = app.replica().await;
    let (wallet, other) = (app.funded_wallet("1000").await, app.new_wallet().await);
    let accepted = "select count(*) from wallet.transactions";
    for _ in 0..10 {
        let disabled = async {
            replica.enable("usd", false).await;
            app.count(accepted).await
        };
        let transfers = join_all((0..20).map(|_| app.transfer(&wallet, &other, "1", true)));
        let (at_answer, transfers) = tokio::join!(disabled, transfers);
        for rejected in transfers.into_iter().filter(Result::is_err) {
            assert_eq!(rejection(rejected).code, Code::AssetDisabled);
        }
        assert_eq!(app.count(accepted).await, at_answer);
        app.enable("usd", true).await;
    }
    replica.finish().await;
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn what_was_under_way_is_settled_in_a_disabled_asset(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (wallet, other) = (app.funded_wallet("10").await, app.new_wallet().await);
    let confirmed = app.transfer(&wallet, &other, "1", false).await.unwrap();
    let canceled = app.transfer(&wallet, &other, "2", false).await.unwrap();
    app.enable("usd", false).await;
    let rejected = app.transfer(&wallet, &other, "3", false).await;
    assert_eq!(rejection(rejected).code, Code::AssetDisabled);
    app.confirm(&confirmed.id).await.unwrap();
    app.reject(&canceled.id).await.unwrap();
    assert_eq!(app.balances(&wallet).await, [usd("9")]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn every_replica_knows_the_type_of_now(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let replica = app.replica().await;
    create(&app, named("gold")).await.unwrap();
    let wallet = app.new_wallet().await;
    for (kind, allowed) in [
        (AssetType::Custom, false),
        (AssetType::Crypto, true),
        (AssetType::Fiat, false),
    ] {
        let change = UpdateAssetRequest {
            r#type: Some(kind.into()),
            ..patch("gold", &["type"])
        };
        update(&app, change).await.unwrap();
        for replica in [&app, &replica] {
            let mut deposit = deposit(&wallet, "1", "GOLD");
            "crypto:chain".clone_into(&mut deposit.code);
            let answer = replica.admin.transactions().create_deposit(deposit).await;
            assert_eq!(answer.is_ok(), allowed, "{kind:?}");
        }
    }
    replica.finish().await;
    app.finish().await;
}
