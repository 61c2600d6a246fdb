//! Values of rates, conversions, and lists of rates.

use platform::error::{Code, Failure};
use proto::{
    common::v1::{ListRequest, Operator},
    wallet::v1 as wire,
};
use sqlx::PgPool;

use crate::{
    harness::{self, TestApp, invalid, rejection, result, sort},
    rates::{create, delete},
};

async fn conversion(
    app: &TestApp,
    from: &str,
    to: &str,
) -> Result<wire::FindConversionResponse, Failure> {
    let request = wire::FindConversionRequest {
        from_asset_code: from.to_owned(),
        to_asset_code: to.to_owned(),
    };
    result(app.admin.rates().find_conversion(request).await)
}

fn at(rate: &str, inverse: bool) -> wire::FindConversionResponse {
    wire::FindConversionResponse {
        rate: rate.to_owned(),
        inverse,
    }
}

async fn list(app: &TestApp, request: ListRequest) -> Vec<String> {
    let request = wire::ListRatesRequest {
        list: Some(request),
    };
    let page = result(app.admin.rates().list_rates(request).await).unwrap();
    let show = |rate: wire::Rate| format!("{}/{}", rate.base_asset_code, rate.quote_asset_code);
    page.rates.into_iter().map(show).collect()
}

fn filter(field: &str, operator: Operator, value: &str) -> ListRequest {
    harness::list(vec![harness::filter(field, operator, value)])
}

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
        let created = create(&app, "points", quote, rate).await.unwrap();
        assert_eq!(created.rate, shown);
        assert_eq!(conversion(&app, quote, "points").await.unwrap().rate, shown);
    }
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
    let direct = at("0.01000000", false);
    let inverse = at("0.01000000", true);
    assert_eq!(conversion(&app, "points", "USD").await.unwrap(), direct);
    assert_eq!(conversion(&app, "usd", "POINTS").await.unwrap(), inverse);
    create(&app, "usd", "points", "99").await.unwrap();
    let own = at("99.00000000", false);
    assert_eq!(conversion(&app, "usd", "points").await.unwrap(), own);
    assert_eq!(conversion(&app, "points", "usd").await.unwrap(), direct);
    delete(&app, "points", "usd").await.unwrap();
    let inverse = at("99.00000000", true);
    assert_eq!(conversion(&app, "points", "usd").await.unwrap(), inverse);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn rates_are_sorted_by_pair_and_filtered(pool: PgPool) {
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
