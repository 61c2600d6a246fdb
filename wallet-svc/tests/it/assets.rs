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
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::bed::{Bed, admin, keyed, refused, result, user};

const ANN: &str = "01920000-0000-7000-8000-00000000000a";

fn assets(bed: &Bed) -> AssetServiceClient<Client> {
    AssetServiceClient::new(bed.client(&admin()))
}

fn named(code: &str) -> CreateAssetRequest {
    CreateAssetRequest {
        code: code.to_owned(),
        name: "Gold".to_owned(),
        ..CreateAssetRequest::default()
    }
}

async fn create(bed: &Bed, request: CreateAssetRequest) -> Result<wire::Asset, Failure> {
    let made = result(assets(bed).create_asset(request).await)?;
    Ok(made.asset.unwrap())
}

async fn get(bed: &Bed, code: &str) -> Result<wire::Asset, Failure> {
    let code = code.to_owned();
    let found = result(assets(bed).get_asset(wire::GetAssetRequest { code }).await)?;
    Ok(found.asset.unwrap())
}

fn patch(code: &str, paths: &[&str]) -> UpdateAssetRequest {
    UpdateAssetRequest {
        code: code.to_owned(),
        update_mask: Some(prost_types::FieldMask {
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        }),
        ..UpdateAssetRequest::default()
    }
}

async fn update(bed: &Bed, request: UpdateAssetRequest) -> Result<wire::Asset, Failure> {
    let changed = result(assets(bed).update_asset(request).await)?;
    Ok(changed.asset.unwrap())
}

async fn set_places(bed: &Bed, code: &str, places: u32) -> Result<wire::Asset, Failure> {
    let request = UpdateAssetRequest {
        decimal_places: Some(places),
        ..patch(code, &["decimal_places"])
    };
    update(bed, request).await
}

pub(crate) async fn enable(bed: &Bed, code: &str, enabled: bool) -> wire::Asset {
    let request = UpdateAssetRequest {
        enabled: Some(enabled),
        ..patch(code, &["enabled"])
    };
    update(bed, request).await.unwrap()
}

async fn events(bed: &Bed, code: &str) -> Vec<String> {
    let sql = "select id::text from wallet.assets where code = $1";
    let id: String = sqlx::query_scalar(sql)
        .bind(code)
        .fetch_one(&bed.pool)
        .await
        .unwrap();
    bed.events(&id).await
}

fn fields(fields: &[&str]) -> (Code, Vec<String>) {
    let fields = fields.iter().map(|field| (*field).to_owned());
    (Code::ValidationFailed, fields.collect())
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn the_first_are_told_of_once(_: PgPoolOptions, server: PgConnectOptions) {
    let mut bed = Bed::new(server).await;
    bed.stop().await;
    bed.start(4).await;
    let replica = bed.replica().await;
    for code in ["usd", "eur", "btc", "points"] {
        assert_eq!(events(&bed, code).await, ["AssetChanged"], "{code}");
        assert!(get(&bed, code).await.unwrap().system);
    }
    replica.end().await;
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn two_things_make_an_asset(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let made = create(&bed, named("Gold")).await.unwrap();
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
    assert_eq!(get(&bed, "gOLD").await.unwrap(), made);
    assert_eq!(events(&bed, "Gold").await, ["AssetChanged"]);

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
    let made = create(&bed, full.clone()).await.unwrap();
    assert_eq!((made.r#type(), made.decimal_places), (AssetType::Fiat, 0));
    assert!(!made.enabled && !made.system);
    assert_eq!(made.symbol, full.symbol);
    assert_eq!(Some(made.custom_data), full.custom_data);
    assert_eq!(Some(made.contract), full.contract);
    let wallet = bed.wallet().await;
    let refusal = bed.deposit(&wallet, "1", "jpy").await;
    assert_eq!(refused(refusal).0, Code::AssetDisabled);
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn bad_fields_are_named_together(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let refusal = create(&bed, CreateAssetRequest::default()).await;
    assert_eq!(refused(refusal), fields(&["code", "name"]));
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
    assert_eq!(refused(create(&bed, bad).await), fields(&all));
    for code in ["", "a b", "nul\0", "abcdefghij1234567", "é"] {
        let refusal = create(&bed, named(code)).await;
        assert_eq!(refused(refusal), fields(&["code"]), "{code:?}");
        assert_eq!(refused(get(&bed, code).await).0, Code::AssetNotFound);
    }
    assert_eq!(bed.count("select count(*) from wallet.assets").await, 4);
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn codes_differ_in_more_than_case(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let replica = bed.replica().await;
    for code in ["usd", "USD"] {
        let refusal = create(&bed, named(code)).await;
        assert_eq!(refused(refusal), (Code::CodeTaken, vec!["code".to_owned()]));
    }
    let codes = ["gold", "GOLD", "Gold", "gOLD", "goLD", "golD"];
    let both = codes.iter().enumerate().map(|(n, code)| {
        let bed = if n % 2 == 0 { &bed } else { &replica };
        create(bed, named(code))
    });
    let (won, lost): (Vec<_>, Vec<_>) = join_all(both).await.into_iter().partition(Result::is_ok);
    assert_eq!((won.len(), lost.len()), (1, 5));
    for refusal in lost {
        assert_eq!(refused(refusal).0, Code::CodeTaken);
    }
    replica.end().await;
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_key_makes_one_asset(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let mut assets = assets(&bed);
    let request = || keyed(named("gold"), "k", "00");
    let first = assets.create_asset(request()).await.unwrap();
    let again = assets.create_asset(request()).await.unwrap();
    assert!(!is_replay(first.metadata()) && is_replay(again.metadata()));
    assert_eq!(first.into_inner(), again.into_inner());
    let other = assets.create_asset(keyed(named("tin"), "k", "01")).await;
    assert_eq!(refused(result(other)).0, Code::IdempotencyKeyReused);
    assert_eq!(events(&bed, "gold").await, ["AssetChanged"]);
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_patch_changes_what_it_names(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let before = CreateAssetRequest {
        symbol: Some("G".to_owned()),
        logo: Some("gold.png".to_owned()),
        ..named("gold")
    };
    let before = create(&bed, before).await.unwrap();
    let same = [
        patch("GOLD", &[]),
        UpdateAssetRequest {
            name: Some("Gold".to_owned()),
            enabled: Some(true),
            ..patch("gold", &["name", "enabled"])
        },
    ];
    for same in same {
        assert_eq!(update(&bed, same).await.unwrap(), before);
    }
    assert_eq!(events(&bed, "gold").await, ["AssetChanged"]);
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
    let after = update(&bed, change).await.unwrap();
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
    assert_eq!(events(&bed, "gold").await, ["AssetChanged"; 2]);

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
        refused(update(&bed, patch("gold", &kept)).await),
        fields(&shown)
    );
    let refusal = set_places(&bed, "gold", 9).await;
    assert_eq!(refused(refusal), fields(&["decimalPlaces"]));
    let refusal = update(&bed, patch("nope", &[])).await;
    assert_eq!(refused(refusal).0, Code::AssetNotFound);
    assert_eq!(get(&bed, "gold").await.unwrap(), after);
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn system_assets_are_read_only_but_for_three_fields(
    _: PgPoolOptions,
    server: PgConnectOptions,
) {
    let bed = Bed::new(server).await;
    let before = get(&bed, "usd").await.unwrap();
    let renamed = UpdateAssetRequest {
        name: Some("Dollar".to_owned()),
        enabled: Some(false),
        ..patch("usd", &["name", "enabled"])
    };
    assert_eq!(refused(update(&bed, renamed).await).0, Code::AssetReadOnly);
    let refusal = update(&bed, patch("usd", &["symbol"])).await;
    assert_eq!(refused(refusal).0, Code::AssetReadOnly);
    let refusal = set_places(&bed, "usd", 3).await;
    assert_eq!(refused(refusal).0, Code::AssetReadOnly);
    assert_eq!(get(&bed, "usd").await.unwrap(), before);
    let allowed = UpdateAssetRequest {
        name: Some(before.name.clone()),
        enabled: Some(false),
        logo: Some("usd.png".to_owned()),
        custom_data: Some(r#"{"a":1}"#.to_owned()),
        ..patch("USD", &["name", "enabled", "logo", "custom_data"])
    };
    let after = update(&bed, allowed).await.unwrap();
    assert_eq!(after.logo.as_deref(), Some("usd.png"));
    assert!(!after.enabled);
    assert_eq!(events(&bed, "usd").await, ["AssetChanged"; 2]);
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn only_admins_write(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let mut ann = AssetServiceClient::new(bed.client(&user(ANN)));
    let refusal = ann.create_asset(named("gold")).await;
    assert_eq!(refused(result(refusal)).0, Code::Forbidden);
    let refusal = ann.update_asset(patch("usd", &[])).await;
    assert_eq!(refused(result(refusal)).0, Code::Forbidden);
    let list = ann.list_assets(wire::ListAssetsRequest::default()).await;
    assert_eq!(result(list).unwrap().assets.len(), 4);
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn decimals_of_a_used_asset_only_grow(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let four = CreateAssetRequest {
        decimal_places: Some(4),
        ..named("gold")
    };
    create(&bed, four).await.unwrap();
    let wallet = bed.wallet().await;
    let refusal = bed.deposit(&wallet, "0.00001", "gold").await;
    assert_eq!(refused(refusal).0, Code::AmountPrecision);
    // The balance row that was made for the refused one is no use.
    set_places(&bed, "gold", 3).await.unwrap();
    let open = bed.deposit(&wallet, "0.001", "gold").await.unwrap();
    let in_use = (Code::DecimalPlacesInUse, vec!["decimalPlaces".to_owned()]);
    assert_eq!(refused(set_places(&bed, "gold", 2).await), in_use);
    bed.confirm(&open.id).await.unwrap();
    assert_eq!(refused(set_places(&bed, "gold", 0).await), in_use);
    set_places(&bed, "gold", 5).await.unwrap();
    bed.fund(&wallet, "0.00001", "gold").await;
    assert_eq!(refused(set_places(&bed, "gold", 3).await), in_use);
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn of_a_first_use_and_coarser_decimals_one_wins(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let replica = bed.replica().await;
    let wallet = bed.wallet().await;
    for round in 0..20 {
        let code = format!("gold{round}");
        create(&bed, named(&code)).await.unwrap();
        let (used, lowered) = tokio::join!(
            bed.deposit(&wallet, "0.5", &code),
            set_places(&replica, &code, 0)
        );
        assert_ne!(used.is_ok(), lowered.is_ok(), "{used:?} {lowered:?}");
        if used.is_ok() {
            assert_eq!(refused(lowered).0, Code::DecimalPlacesInUse);
        } else {
            assert_eq!(refused(used).0, Code::AmountPrecision);
        }
    }
    replica.end().await;
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn nothing_is_accepted_after_disabled_is_answered(
    _: PgPoolOptions,
    server: PgConnectOptions,
) {
    let bed = Bed::new(server).await;
    let replica = bed.replica().await;
    let (wallet, other) = (bed.funded("1000").await, bed.wallet().await);
    let accepted = "select count(*) from wallet.transactions";
    for _ in 0..10 {
        let disabled = async {
            enable(&replica, "usd", false).await;
            bed.count(accepted).await
        };
        let transfers = join_all((0..20).map(|_| bed.transfer(&wallet, &other, "1", true)));
        let (at_answer, transfers) = tokio::join!(disabled, transfers);
        for refusal in transfers.into_iter().filter(Result::is_err) {
            assert_eq!(refused(refusal).0, Code::AssetDisabled);
        }
        assert_eq!(bed.count(accepted).await, at_answer);
        enable(&bed, "usd", true).await;
    }
    replica.end().await;
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn what_was_under_way_is_settled_in_a_disabled_asset(
    _: PgPoolOptions,
    server: PgConnectOptions,
) {
    let bed = Bed::new(server).await;
    let (wallet, other) = (bed.funded("10").await, bed.wallet().await);
    let confirmed = bed.transfer(&wallet, &other, "1", false).await.unwrap();
    let rejected = bed.transfer(&wallet, &other, "2", false).await.unwrap();
    enable(&bed, "usd", false).await;
    let refusal = bed.transfer(&wallet, &other, "3", false).await;
    assert_eq!(refused(refusal).0, Code::AssetDisabled);
    bed.confirm(&confirmed.id).await.unwrap();
    bed.reject(&rejected.id).await.unwrap();
    assert_eq!(bed.balance(&wallet).await, ["usd 9 9 0 0"]);
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn every_replica_knows_the_type_of_now(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let replica = bed.replica().await;
    create(&bed, named("gold")).await.unwrap();
    let wallet = bed.wallet().await;
    for (kind, allowed) in [
        (AssetType::Custom, false),
        (AssetType::Crypto, true),
        (AssetType::Fiat, false),
    ] {
        let change = UpdateAssetRequest {
            r#type: Some(kind.into()),
            ..patch("gold", &["type"])
        };
        update(&bed, change).await.unwrap();
        for bed in [&bed, &replica] {
            let deposit = wire::CreateDepositRequest {
                amount: "1".to_owned(),
                asset_code: "GOLD".to_owned(),
                code: "crypto:chain".to_owned(),
                data: "{}".to_owned(),
                destination_wallet_id: wallet.clone(),
                ..wire::CreateDepositRequest::default()
            };
            let answer = bed.transactions().create_deposit(deposit).await;
            assert_eq!(answer.is_ok(), allowed, "{kind:?}");
        }
    }
    replica.end().await;
    bed.end().await;
}
