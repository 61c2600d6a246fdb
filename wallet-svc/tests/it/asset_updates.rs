//! Updates of assets, and what they mean for postings.

use futures::future::join_all;
use platform::{
    error::{Code, Failure},
    grpc::precondition::{IF_VERSION, Versions},
};
use proto::wallet::v1::{self as wire, AssetType, CreateAssetRequest, UpdateAssetRequest};
use sqlx::PgPool;

use crate::{
    assets::{create, events, get, named},
    harness::{Rejection, TestApp, deposit, invalid, mask, rejection, result, stable, usd},
};

fn patch(code: &str, paths: &[&str]) -> UpdateAssetRequest {
    UpdateAssetRequest {
        code: code.to_owned(),
        update_mask: Some(mask(paths)),
        ..UpdateAssetRequest::default()
    }
}

async fn update(app: &TestApp, request: UpdateAssetRequest) -> Result<wire::Asset, Failure> {
    let changed = result(app.admin.assets().update_asset(request).await)?;
    Ok(changed.asset.unwrap())
}

fn with_places(code: &str, places: u32) -> CreateAssetRequest {
    CreateAssetRequest {
        decimal_places: Some(places),
        ..named(code)
    }
}

async fn set_places(app: &TestApp, code: &str, places: u32) -> Result<wire::Asset, Failure> {
    let request = UpdateAssetRequest {
        decimal_places: Some(places),
        ..patch(code, &["decimal_places"])
    };
    update(app, request).await
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn an_update_changes_the_fields_of_its_mask(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let before = CreateAssetRequest {
        symbol: Some("G".to_owned()),
        logo: Some("gold.png".to_owned()),
        ..with_places("gold", 2)
    };
    create(&app, before).await.unwrap();
    let paths = [
        "name",
        "symbol",
        "type",
        "decimal_places",
        "logo",
        "contract",
        "custom_data",
    ];
    let change = UpdateAssetRequest {
        name: Some("Aurum".to_owned()),
        r#type: Some(AssetType::Crypto.into()),
        decimal_places: Some(3),
        contract: Some(r#"{"a":1}"#.to_owned()),
        custom_data: Some(r#"{"b":2}"#.to_owned()),
        ..patch("GOLD", &paths)
    };
    let after = update(&app, change).await.unwrap();
    insta::assert_snapshot!(stable(&after, &[]), @r#"
    Asset {
        code: "gold",
        name: "Aurum",
        symbol: None,
        r#type: Crypto,
        decimal_places: 3,
        enabled: true,
        system: false,
        logo: None,
        contract: "{\"a\":1}",
        custom_data: "{\"b\":2}",
        metadata: "{}",
        created_at: Some(<time>),
        updated_at: Some(<time>),
        version: 2,
    }
    "#);
    assert_eq!(get(&app, "gold").await.unwrap(), after);
    assert_eq!(events(&app, "gold").await, ["AssetChanged"; 2]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn an_update_without_a_change_publishes_nothing(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let before = create(&app, named("gold")).await.unwrap();
    let same = UpdateAssetRequest {
        name: Some("Gold".to_owned()),
        enabled: Some(true),
        ..patch("gold", &["name", "enabled"])
    };
    for same in [patch("GOLD", &[]), same] {
        assert_eq!(update(&app, same).await.unwrap(), before);
    }
    assert_eq!(events(&app, "gold").await, ["AssetChanged"]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn invalid_updates_are_refused_by_field(pool: PgPool) {
    let app = TestApp::new(pool).await;
    create(&app, named("gold")).await.unwrap();
    let cleared = [
        "name",
        "type",
        "decimal_places",
        "enabled",
        "contract",
        "custom_data",
    ];
    let fields = [
        "name",
        "type",
        "decimalPlaces",
        "enabled",
        "contract",
        "customData",
    ];
    let rejected = update(&app, patch("gold", &cleared)).await;
    assert_eq!(rejection(rejected), invalid(&fields));
    let long = UpdateAssetRequest {
        symbol: Some("x".repeat(17)),
        logo: Some("x".repeat(2_049)),
        ..patch("gold", &["symbol", "logo"])
    };
    let rejected = update(&app, long).await;
    assert_eq!(rejection(rejected), invalid(&["symbol", "logo"]));
    let rejected = set_places(&app, "gold", 9).await;
    assert_eq!(rejection(rejected), invalid(&["decimalPlaces"]));
    let rejected = update(&app, patch("nope", &[])).await;
    assert_eq!(rejection(rejected).code, Code::AssetNotFound);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn system_assets_change_only_in_three_fields(pool: PgPool) {
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
async fn decimal_places_are_raised_and_never_lowered(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let before = create(&app, with_places("gold", 4)).await.unwrap();
    let refused = Rejection::new(Code::DecimalPlacesInUse, &["decimalPlaces"]);
    for places in 0..4 {
        // Nothing uses it: a price in the catalogue may.
        assert_eq!(rejection(set_places(&app, "gold", places).await), refused);
    }
    assert_eq!(get(&app, "gold").await.unwrap(), before);
    assert_eq!(set_places(&app, "GOLD", 4).await.unwrap(), before);

    let wallet = app.new_wallet().await;
    let rejected = app.deposit(&wallet, "0.00001", "gold").await;
    assert_eq!(rejection(rejected).code, Code::AmountPrecision);
    set_places(&app, "gold", 5).await.unwrap();
    app.fund(&wallet, "0.00001", "gold").await;
    assert_eq!(rejection(set_places(&app, "gold", 4).await), refused);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn no_transaction_is_accepted_after_the_response_that_disables_its_asset(pool: PgPool) {
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
async fn open_transactions_in_a_disabled_asset_can_be_settled(pool: PgPool) {
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
async fn every_replica_uses_the_current_type_of_an_asset(pool: PgPool) {
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
            let response = replica.admin.transactions().create_deposit(deposit).await;
            assert_eq!(response.is_ok(), allowed, "{kind:?}");
        }
    }
    replica.finish().await;
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn an_update_for_another_version_is_refused(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let gold = create(&app, named("gold")).await.unwrap();
    let only = |version: i64, name: &str| {
        let mut request = tonic::Request::new(UpdateAssetRequest {
            name: Some(name.to_owned()),
            ..patch("gold", &["name"])
        });
        let versions = Versions::new(vec![version]).unwrap();
        let metadata = request.metadata_mut();
        metadata.insert(IF_VERSION, versions.metadata());
        request
    };
    let changes = ["a", "b", "c", "d"].map(|name| {
        let request = only(gold.version, name);
        let mut assets = app.admin.assets();
        async move { assets.update_asset(request).await }
    });
    let (changed, refused): (Vec<_>, Vec<_>) =
        join_all(changes).await.into_iter().partition(Result::is_ok);
    assert_eq!(changed.len(), 1);
    for refusal in refused {
        assert_eq!(rejection(result(refusal)).code, Code::PreconditionFailed);
    }
    let now = get(&app, "gold").await.unwrap();
    assert_eq!(now.version, gold.version + 1);
    app.finish().await;
}
