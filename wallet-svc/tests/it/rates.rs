//! Exchange rates: created, updated, deleted.

use futures::future::join_all;
use platform::{
    error::{Code, Failure},
    idempotency::is_replay,
};
use prost::Message as _;
use proto::{events::v1::RateChanged, wallet::v1 as wire};
use sqlx::PgPool;

use crate::harness::{self, ANN, TestApp, invalid, keyed, rate, rejection, result, stable};

pub(crate) async fn create(
    app: &TestApp,
    base: &str,
    quote: &str,
    rate: &str,
) -> Result<wire::Rate, Failure> {
    let request = harness::rate(base, quote, rate);
    let created = result(app.admin.rates().create_rate(request).await)?;
    Ok(created.rate.unwrap())
}

async fn get(app: &TestApp, base: &str, quote: &str) -> Result<wire::Rate, Failure> {
    let request = wire::GetRateRequest {
        base_asset_code: base.to_owned(),
        quote_asset_code: quote.to_owned(),
    };
    Ok(result(app.admin.rates().get_rate(request).await)?
        .rate
        .unwrap())
}

pub(crate) async fn delete(app: &TestApp, base: &str, quote: &str) -> Result<(), Failure> {
    let request = wire::DeleteRateRequest {
        base_asset_code: base.to_owned(),
        quote_asset_code: quote.to_owned(),
    };
    result(app.admin.rates().delete_rate(request).await).map(drop)
}

/// Updates the rate of `points` to `usd`.
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
    Ok(result(app.admin.rates().update_rate(request).await)?
        .rate
        .unwrap())
}

/// A published change with the id of its aggregate.
struct Published {
    aggregate: String,
    change: RateChanged,
}

/// Returns all published changes of rates, in order.
async fn published(app: &TestApp) -> Vec<Published> {
    let sql = "select aggregate_id::text, body from wallet.outbox
               where event_type = 'guerdon.wallet.v1.RateChanged' order by position";
    let rows: Vec<(String, Vec<u8>)> = sqlx::query_as(sql).fetch_all(&app.pool).await.unwrap();
    rows.into_iter()
        .map(|(aggregate, body)| Published {
            aggregate,
            change: RateChanged::decode(&*body).unwrap(),
        })
        .collect()
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_pair_has_one_rate(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let created = create(&app, "POINTS", "Usd", "0.01").await.unwrap();
    insta::assert_snapshot!(stable(&created, &[]), @r#"
    Rate {
        base_asset_code: "points",
        quote_asset_code: "usd",
        rate: "0.01000000",
        custom_data: "{}",
        metadata: "{}",
        created_at: Some(<time>),
        updated_at: Some(<time>),
        version: 1,
    }
    "#);
    assert_eq!(get(&app, "Points", "USD").await.unwrap(), created);
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

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_rate_needs_two_different_existing_assets(pool: PgPool) {
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
        ..rate("usd", "nope", "x")
    };
    let rejected = result(app.admin.rates().create_rate(bad).await);
    assert_eq!(
        rejection(rejected),
        invalid(&["quoteAssetCode", "rate", "customData"])
    );
    assert_eq!(app.count("select count(*) from wallet.rates").await, 0);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_replayed_create_returns_the_same_rate(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let mut rates = app.admin.rates();
    let request = || keyed(rate("points", "usd", "0.01"), "k", "00");
    let first = rates.create_rate(request()).await.unwrap();
    let again = rates.create_rate(request()).await.unwrap();
    assert!(!is_replay(first.metadata()) && is_replay(again.metadata()));
    assert_eq!(first.into_inner(), again.into_inner());
    assert_eq!(published(&app).await.len(), 1);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn an_update_changes_the_fields_of_its_mask(pool: PgPool) {
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
async fn a_recreated_rate_is_a_new_aggregate(pool: PgPool) {
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
    let published = published(&app).await;
    let change = |version, rate: &str, deleted| RateChanged {
        base_asset_code: "points".to_owned(),
        quote_asset_code: "usd".to_owned(),
        version,
        rate: rate.to_owned(),
        deleted,
    };
    let expected = [
        change(1, "0.01000000", false),
        change(2, "0.02000000", false),
        change(3, "0.02000000", true),
        change(1, "0.03000000", false),
    ];
    assert!(published.iter().map(|one| &one.change).eq(&expected));
    assert_eq!(published[0].aggregate, published[2].aggregate);
    assert_ne!(published[0].aggregate, published[3].aggregate);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn only_admins_create_update_and_delete(pool: PgPool) {
    let app = TestApp::new(pool).await;
    create(&app, "points", "usd", "0.01").await.unwrap();
    let mut ann = app.as_user(ANN).rates();
    let rejected = ann.create_rate(rate("usd", "eur", "1")).await;
    assert_eq!(rejection(result(rejected)).code, Code::Forbidden);
    let rejected = ann.update_rate(wire::UpdateRateRequest::default()).await;
    assert_eq!(rejection(result(rejected)).code, Code::Forbidden);
    let rejected = ann.delete_rate(wire::DeleteRateRequest::default()).await;
    assert_eq!(rejection(result(rejected)).code, Code::Forbidden);
    let seen = ann.list_rates(wire::ListRatesRequest::default()).await;
    assert_eq!(result(seen).unwrap().rates.len(), 1);
    app.finish().await;
}
