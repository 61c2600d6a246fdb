//! Rates between assets, and the conversions they allow.

use futures::future::join_all;
use platform::{
    error::{Code, Failure},
    grpc::client::Client,
    idempotency::is_replay,
};
use prost::Message as _;
use proto::{
    common::v1::{ListRequest, Operator},
    events::v1::RateChanged,
    wallet::v1::{self as wire, rate_service_client::RateServiceClient},
};
use sqlx::PgPool;

use crate::harness::{self, ANN, TestApp, invalid, keyed, rejection, result, sort};

fn rates(app: &TestApp) -> RateServiceClient<Client> {
    app.admin.rates()
}

fn new(base: &str, quote: &str, rate: &str) -> wire::CreateRateRequest {
    wire::CreateRateRequest {
        base_asset_code: base.to_owned(),
        quote_asset_code: quote.to_owned(),
        rate: rate.to_owned(),
        custom_data: None,
    }
}

async fn create(app: &TestApp, base: &str, quote: &str, rate: &str) -> Result<wire::Rate, Failure> {
    let made = result(rates(app).create_rate(new(base, quote, rate)).await)?;
    Ok(made.rate.unwrap())
}

async fn get(app: &TestApp, base: &str, quote: &str) -> Result<wire::Rate, Failure> {
    let request = wire::GetRateRequest {
        base_asset_code: base.to_owned(),
        quote_asset_code: quote.to_owned(),
    };
    Ok(result(rates(app).get_rate(request).await)?.rate.unwrap())
}

async fn delete(app: &TestApp, base: &str, quote: &str) -> Result<(), Failure> {
    let request = wire::DeleteRateRequest {
        base_asset_code: base.to_owned(),
        quote_asset_code: quote.to_owned(),
    };
    result(rates(app).delete_rate(request).await).map(drop)
}

/// Writes what is given of `points` to `usd`; what the mask names beside it is null.
async fn update(
    app: &TestApp,
    rate: Option<&str>,
    custom_data: Option<&str>,
    mask: &[&str],
) -> Result<wire::Rate, Failure> {
    let request = wire::UpdateRateRequest {
        base_asset_code: "POINTS".to_owned(),
        quote_asset_code: "usd".to_owned(),
        rate: rate.map(str::to_owned),
        custom_data: custom_data.map(str::to_owned),
        update_mask: Some(harness::mask(mask)),
    };
    Ok(result(rates(app).update_rate(request).await)?.rate.unwrap())
}

async fn conversion(app: &TestApp, from: &str, to: &str) -> Result<(String, bool), Failure> {
    let request = wire::FindConversionRequest {
        from_asset_code: from.to_owned(),
        to_asset_code: to.to_owned(),
    };
    let found = result(rates(app).find_conversion(request).await)?;
    Ok((found.rate, found.inverse))
}

/// `version rate deleted` of every event of rates, with the aggregate, in order.
async fn events(app: &TestApp) -> Vec<(String, String)> {
    let sql = "select aggregate_id::text, body from wallet.outbox
               where event_type = 'guerdon.wallet.v1.RateChanged' order by position";
    let rows: Vec<(String, Vec<u8>)> = sqlx::query_as(sql).fetch_all(&app.pool).await.unwrap();
    let show = |(id, body): (String, Vec<u8>)| {
        let event = RateChanged::decode(body.as_slice()).unwrap();
        assert_eq!(
            (&*event.base_asset_code, &*event.quote_asset_code),
            ("points", "usd")
        );
        let deleted = if event.deleted { " deleted" } else { "" };
        (id, format!("{} {}{deleted}", event.version, event.rate))
    };
    rows.into_iter().map(show).collect()
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_pair_has_one_rate(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let made = create(&app, "POINTS", "Usd", "0.01").await.unwrap();
    let expected = wire::Rate {
        base_asset_code: "points".to_owned(),
        quote_asset_code: "usd".to_owned(),
        rate: "0.01000000".to_owned(),
        custom_data: "{}".to_owned(),
        metadata: "{}".to_owned(),
        created_at: made.created_at,
        updated_at: made.created_at,
    };
    assert_eq!(made, expected);
    assert_eq!(get(&app, "Points", "USD").await.unwrap(), made);
    let rejected = create(&app, "points", "usd", "0.02").await;
    assert_eq!(rejection(rejected).code, Code::RateExists);
    // The inverse is another pair.
    create(&app, "usd", "points", "99").await.unwrap();
    let many = join_all((0..8).map(|_| create(&app, "btc", "usd", "60000"))).await;
    let (won, lost): (Vec<_>, Vec<_>) = many.into_iter().partition(Result::is_ok);
    assert_eq!((won.len(), lost.len()), (1, 7));
    for rejected in lost {
        assert_eq!(rejection(rejected).code, Code::RateExists);
    }
    app.finish().await;
}

/// RATES-01, DECIMAL-11.
#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn rates_are_positive_decimals(pool: PgPool) {
    let app = TestApp::new(pool).await;
    for rate in [
        "0",
        "0.00000000",
        "-1",
        "0.000000001",
        "1e-3",
        "99999999999999999999",
        "NaN",
        "nan",
        "Infinity",
        "-Infinity",
        "sNaN",
        "",
        " 1",
        "1,5",
    ] {
        let rejected = create(&app, "points", "usd", rate).await;
        assert_eq!(rejection(rejected), invalid(&["rate"]), "{rate:?}");
    }
    for rate in ["NaN", "0", "-1"] {
        let sql = "insert into wallet.rates
                (id, base_asset_code, quote_asset_code, rate, version, created_at, updated_at)
             values (gen_random_uuid(), 'points', 'usd', $1::numeric, 1, now(), now())";
        let error = sqlx::query(sql)
            .bind(rate.parse::<f64>().unwrap())
            .execute(&app.pool)
            .await
            .unwrap_err();
        let error = error.into_database_error().unwrap();
        assert_eq!(error.constraint(), Some("rates_rate_check"), "{rate}");
    }
    for (quote, rate, shown) in [
        ("usd", "0.00000001", "0.00000001"),
        (
            "eur",
            "9999999999999999999.99999999",
            "9999999999999999999.99999999",
        ),
        ("btc", "1", "1.00000000"),
    ] {
        let made = create(&app, "points", quote, rate).await.unwrap();
        assert_eq!(made.rate, shown);
        assert_eq!(conversion(&app, quote, "points").await.unwrap().0, shown);
    }
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn both_assets_exist_and_differ(pool: PgPool) {
    let app = TestApp::new(pool).await;
    for (base, quote, named) in [
        ("nope", "usd", &["baseAssetCode"][..]),
        ("usd", "nul\0", &["quoteAssetCode"]),
        ("", "", &["baseAssetCode", "quoteAssetCode"]),
        ("usd", "USD", &["quoteAssetCode"]),
    ] {
        let rejected = create(&app, base, quote, "1").await;
        assert_eq!(rejection(rejected), invalid(named), "{base} {quote}");
    }
    let bad = wire::CreateRateRequest {
        custom_data: Some("[]".to_owned()),
        ..new("usd", "nope", "x")
    };
    let rejected = result(rates(&app).create_rate(bad).await);
    assert_eq!(
        rejection(rejected),
        invalid(&["quoteAssetCode", "rate", "customData"])
    );
    assert_eq!(app.count("select count(*) from wallet.rates").await, 0);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_key_makes_one_rate(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let mut rates = rates(&app);
    let request = || keyed(new("points", "usd", "0.01"), "k", "00");
    let first = rates.create_rate(request()).await.unwrap();
    let again = rates.create_rate(request()).await.unwrap();
    assert!(!is_replay(first.metadata()) && is_replay(again.metadata()));
    assert_eq!(first.into_inner(), again.into_inner());
    assert_eq!(events(&app).await.len(), 1);
    app.finish().await;
}

/// RATES-06.
#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_patch_changes_what_it_names(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let before = create(&app, "points", "usd", "0.01").await.unwrap();
    let rejected = update(&app, Some("0"), None, &["rate"]).await;
    assert_eq!(rejection(rejected), invalid(&["rate"]));
    let rejected = update(&app, None, None, &["rate", "custom_data"]).await;
    assert_eq!(rejection(rejected), invalid(&["rate", "customData"]));
    let same = update(&app, Some("0.5"), Some("{}"), &[]).await.unwrap();
    assert_eq!(same, before);
    let same = update(&app, Some("0.010"), None, &["rate"]).await.unwrap();
    assert_eq!(same, before);
    assert_eq!(get(&app, "points", "usd").await.unwrap(), before);

    let noted = update(&app, None, Some(r#"{"a":1.10}"#), &["custom_data"]).await;
    let noted = noted.unwrap();
    assert_eq!(
        (&*noted.rate, &*noted.custom_data),
        ("0.01000000", r#"{"a":1.10}"#)
    );
    let raised = update(&app, Some("0.02"), None, &["rate"]).await.unwrap();
    assert_eq!(
        (&*raised.rate, raised.custom_data),
        ("0.02000000", noted.custom_data)
    );

    delete(&app, "points", "usd").await.unwrap();
    let rejected = update(&app, Some("0.03"), None, &["rate"]).await;
    assert_eq!(rejection(rejected).code, Code::RateNotFound);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_rate_made_again_is_another(pool: PgPool) {
    let app = TestApp::new(pool).await;
    create(&app, "points", "usd", "0.01").await.unwrap();
    update(&app, Some("0.02"), None, &["rate"]).await.unwrap();
    delete(&app, "Points", "USD").await.unwrap();
    assert_eq!(
        rejection(delete(&app, "points", "usd").await).code,
        Code::RateNotFound
    );
    assert_eq!(
        rejection(get(&app, "points", "usd").await).code,
        Code::RateNotFound
    );
    assert_eq!(
        rejection(get(&app, "nope", "nul\0").await).code,
        Code::RateNotFound
    );
    create(&app, "points", "usd", "0.03").await.unwrap();
    let events = events(&app).await;
    let told: Vec<_> = events.iter().map(|(_, event)| &**event).collect();
    assert_eq!(
        told,
        [
            "1 0.01000000",
            "2 0.02000000",
            "3 0.02000000 deleted",
            "1 0.03000000"
        ]
    );
    assert!(events[0].0 == events[2].0 && events[0].0 != events[3].0);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn conversions_prefer_the_pairs_own_rate(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let none = conversion(&app, "points", "usd").await;
    assert_eq!(rejection(none).code, Code::NoRate);
    assert_eq!(
        rejection(conversion(&app, "points", "x").await).code,
        Code::NoRate
    );
    create(&app, "points", "usd", "0.01").await.unwrap();
    let direct = ("0.01000000".to_owned(), false);
    let inverse = ("0.01000000".to_owned(), true);
    assert_eq!(conversion(&app, "points", "USD").await.unwrap(), direct);
    assert_eq!(conversion(&app, "usd", "POINTS").await.unwrap(), inverse);
    create(&app, "usd", "points", "99").await.unwrap();
    let own = ("99.00000000".to_owned(), false);
    assert_eq!(conversion(&app, "usd", "points").await.unwrap(), own);
    assert_eq!(conversion(&app, "points", "usd").await.unwrap(), direct);
    delete(&app, "points", "usd").await.unwrap();
    let inverse = ("99.00000000".to_owned(), true);
    assert_eq!(conversion(&app, "points", "usd").await.unwrap(), inverse);
    app.finish().await;
}

async fn list(app: &TestApp, request: ListRequest) -> Vec<String> {
    let request = wire::ListRatesRequest {
        list: Some(request),
    };
    let page = result(rates(app).list_rates(request).await).unwrap();
    let show = |rate: wire::Rate| format!("{}/{}", rate.base_asset_code, rate.quote_asset_code);
    page.rates.into_iter().map(show).collect()
}

fn filter(field: &str, operator: Operator, value: &str) -> ListRequest {
    harness::list(vec![harness::filter(field, operator, value)])
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn lists_come_by_pair(pool: PgPool) {
    let app = TestApp::new(pool).await;
    for (base, quote, rate) in [
        ("usd", "eur", "0.9"),
        ("btc", "usd", "60000"),
        ("btc", "eur", "55000"),
    ] {
        create(&app, base, quote, rate).await.unwrap();
    }
    let all = list(&app, ListRequest::default()).await;
    assert_eq!(all, ["btc/eur", "btc/usd", "usd/eur"]);
    let of_btc = list(&app, filter("baseAssetCode", Operator::Eq, "BTC")).await;
    assert_eq!(of_btc, ["btc/eur", "btc/usd"]);
    let to_usd = list(&app, filter("quoteAssetCode", Operator::Nin, "eur")).await;
    assert_eq!(to_usd, ["btc/usd"]);
    let high = list(&app, filter("rate", Operator::Gt, "55000")).await;
    assert_eq!(high, ["btc/usd"]);
    let by_rate = ListRequest {
        sort: vec![sort("rate", true)],
        ..ListRequest::default()
    };
    assert_eq!(list(&app, by_rate).await, ["btc/usd", "btc/eur", "usd/eur"]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn only_admins_write(pool: PgPool) {
    let app = TestApp::new(pool).await;
    create(&app, "points", "usd", "0.01").await.unwrap();
    let mut ann = app.as_user(ANN).rates();
    let rejected = ann.create_rate(new("usd", "eur", "1")).await;
    assert_eq!(rejection(result(rejected)).code, Code::Forbidden);
    let rejected = ann.update_rate(wire::UpdateRateRequest::default()).await;
    assert_eq!(rejection(result(rejected)).code, Code::Forbidden);
    let rejected = ann.delete_rate(wire::DeleteRateRequest::default()).await;
    assert_eq!(rejection(result(rejected)).code, Code::Forbidden);
    let seen = ann.list_rates(wire::ListRatesRequest::default()).await;
    assert_eq!(result(seen).unwrap().rates.len(), 1);
    app.finish().await;
}
