//! Rates between assets, and the conversions they allow.

use futures::future::join_all;
use platform::{
    error::{Code, Failure},
    grpc::client::Client,
    idempotency::is_replay,
};
use prost::Message as _;
use proto::{
    common::v1::{Filter, ListRequest, Operator, Sort},
    events::v1::RateChanged,
    wallet::v1::{self as wire, rate_service_client::RateServiceClient},
};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::bed::{Bed, admin, keyed, refused, result, user};

const ANN: &str = "01920000-0000-7000-8000-00000000000a";

fn rates(bed: &Bed) -> RateServiceClient<Client> {
    RateServiceClient::new(bed.client(&admin()))
}

fn new(base: &str, quote: &str, rate: &str) -> wire::CreateRateRequest {
    wire::CreateRateRequest {
        base_asset_code: base.to_owned(),
        quote_asset_code: quote.to_owned(),
        rate: rate.to_owned(),
        custom_data: None,
    }
}

async fn create(bed: &Bed, base: &str, quote: &str, rate: &str) -> Result<wire::Rate, Failure> {
    let made = result(rates(bed).create_rate(new(base, quote, rate)).await)?;
    Ok(made.rate.unwrap())
}

async fn get(bed: &Bed, base: &str, quote: &str) -> Result<wire::Rate, Failure> {
    let request = wire::GetRateRequest {
        base_asset_code: base.to_owned(),
        quote_asset_code: quote.to_owned(),
    };
    Ok(result(rates(bed).get_rate(request).await)?.rate.unwrap())
}

async fn delete(bed: &Bed, base: &str, quote: &str) -> Result<(), Failure> {
    let request = wire::DeleteRateRequest {
        base_asset_code: base.to_owned(),
        quote_asset_code: quote.to_owned(),
    };
    result(rates(bed).delete_rate(request).await).map(drop)
}

/// Writes what is given of `points` to `usd`; what the mask names beside it is null.
async fn update(
    bed: &Bed,
    rate: Option<&str>,
    custom_data: Option<&str>,
    mask: &[&str],
) -> Result<wire::Rate, Failure> {
    let request = wire::UpdateRateRequest {
        base_asset_code: "POINTS".to_owned(),
        quote_asset_code: "usd".to_owned(),
        rate: rate.map(str::to_owned),
        custom_data: custom_data.map(str::to_owned),
        update_mask: Some(prost_types::FieldMask {
            paths: mask.iter().map(|path| (*path).to_owned()).collect(),
        }),
    };
    Ok(result(rates(bed).update_rate(request).await)?.rate.unwrap())
}

async fn conversion(bed: &Bed, from: &str, to: &str) -> Result<(String, bool), Failure> {
    let request = wire::FindConversionRequest {
        from_asset_code: from.to_owned(),
        to_asset_code: to.to_owned(),
    };
    let found = result(rates(bed).find_conversion(request).await)?;
    Ok((found.rate, found.inverse))
}

/// `version rate deleted` of every event of rates, with the aggregate, in order.
async fn events(bed: &Bed) -> Vec<(String, String)> {
    let sql = "select aggregate_id::text, body from wallet.outbox
               where event_type = 'guerdon.wallet.v1.RateChanged' order by position";
    let rows: Vec<(String, Vec<u8>)> = sqlx::query_as(sql).fetch_all(&bed.pool).await.unwrap();
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

fn fields(fields: &[&str]) -> (Code, Vec<String>) {
    let fields = fields.iter().map(|field| (*field).to_owned());
    (Code::ValidationFailed, fields.collect())
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_pair_has_one_rate(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let made = create(&bed, "POINTS", "Usd", "0.01").await.unwrap();
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
    assert_eq!(get(&bed, "Points", "USD").await.unwrap(), made);
    let refusal = create(&bed, "points", "usd", "0.02").await;
    assert_eq!(refused(refusal).0, Code::RateExists);
    // The inverse is another pair.
    create(&bed, "usd", "points", "99").await.unwrap();
    let many = join_all((0..8).map(|_| create(&bed, "btc", "usd", "60000"))).await;
    let (won, lost): (Vec<_>, Vec<_>) = many.into_iter().partition(Result::is_ok);
    assert_eq!((won.len(), lost.len()), (1, 7));
    for refusal in lost {
        assert_eq!(refused(refusal).0, Code::RateExists);
    }
    bed.end().await;
}

/// RATES-01, DECIMAL-11.
#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn rates_are_positive_decimals(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
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
        let refusal = create(&bed, "points", "usd", rate).await;
        assert_eq!(refused(refusal), fields(&["rate"]), "{rate:?}");
    }
    for rate in ["NaN", "0", "-1"] {
        let sql = "insert into wallet.rates
                (id, base_asset_code, quote_asset_code, rate, version, created_at, updated_at)
             values (gen_random_uuid(), 'points', 'usd', $1::numeric, 1, now(), now())";
        let error = sqlx::query(sql)
            .bind(rate.parse::<f64>().unwrap())
            .execute(&bed.pool)
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
        let made = create(&bed, "points", quote, rate).await.unwrap();
        assert_eq!(made.rate, shown);
        assert_eq!(conversion(&bed, quote, "points").await.unwrap().0, shown);
    }
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn both_assets_exist_and_differ(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    for (base, quote, named) in [
        ("nope", "usd", &["baseAssetCode"][..]),
        ("usd", "nul\0", &["quoteAssetCode"]),
        ("", "", &["baseAssetCode", "quoteAssetCode"]),
        ("usd", "USD", &["quoteAssetCode"]),
    ] {
        let refusal = create(&bed, base, quote, "1").await;
        assert_eq!(refused(refusal), fields(named), "{base} {quote}");
    }
    let bad = wire::CreateRateRequest {
        custom_data: Some("[]".to_owned()),
        ..new("usd", "nope", "x")
    };
    let refusal = result(rates(&bed).create_rate(bad).await);
    assert_eq!(
        refused(refusal),
        fields(&["quoteAssetCode", "rate", "customData"])
    );
    assert_eq!(bed.count("select count(*) from wallet.rates").await, 0);
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_key_makes_one_rate(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let mut rates = rates(&bed);
    let request = || keyed(new("points", "usd", "0.01"), "k", "00");
    let first = rates.create_rate(request()).await.unwrap();
    let again = rates.create_rate(request()).await.unwrap();
    assert!(!is_replay(first.metadata()) && is_replay(again.metadata()));
    assert_eq!(first.into_inner(), again.into_inner());
    assert_eq!(events(&bed).await.len(), 1);
    bed.end().await;
}

/// RATES-06.
#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_patch_changes_what_it_names(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let before = create(&bed, "points", "usd", "0.01").await.unwrap();
    let refusal = update(&bed, Some("0"), None, &["rate"]).await;
    assert_eq!(refused(refusal), fields(&["rate"]));
    let refusal = update(&bed, None, None, &["rate", "custom_data"]).await;
    assert_eq!(refused(refusal), fields(&["rate", "customData"]));
    let same = update(&bed, Some("0.5"), Some("{}"), &[]).await.unwrap();
    assert_eq!(same, before);
    let same = update(&bed, Some("0.010"), None, &["rate"]).await.unwrap();
    assert_eq!(same, before);
    assert_eq!(get(&bed, "points", "usd").await.unwrap(), before);

    let noted = update(&bed, None, Some(r#"{"a":1.10}"#), &["custom_data"]).await;
    let noted = noted.unwrap();
    assert_eq!(
        (&*noted.rate, &*noted.custom_data),
        ("0.01000000", r#"{"a":1.10}"#)
    );
    let raised = update(&bed, Some("0.02"), None, &["rate"]).await.unwrap();
    assert_eq!(
        (&*raised.rate, raised.custom_data),
        ("0.02000000", noted.custom_data)
    );

    delete(&bed, "points", "usd").await.unwrap();
    let refusal = update(&bed, Some("0.03"), None, &["rate"]).await;
    assert_eq!(refused(refusal).0, Code::RateNotFound);
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_rate_made_again_is_another(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    create(&bed, "points", "usd", "0.01").await.unwrap();
    update(&bed, Some("0.02"), None, &["rate"]).await.unwrap();
    delete(&bed, "Points", "USD").await.unwrap();
    assert_eq!(
        refused(delete(&bed, "points", "usd").await).0,
        Code::RateNotFound
    );
    assert_eq!(
        refused(get(&bed, "points", "usd").await).0,
        Code::RateNotFound
    );
    assert_eq!(
        refused(get(&bed, "nope", "nul\0").await).0,
        Code::RateNotFound
    );
    create(&bed, "points", "usd", "0.03").await.unwrap();
    let events = events(&bed).await;
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
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn conversions_prefer_the_pairs_own_rate(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let none = conversion(&bed, "points", "usd").await;
    assert_eq!(refused(none).0, Code::NoRate);
    assert_eq!(
        refused(conversion(&bed, "points", "x").await).0,
        Code::NoRate
    );
    create(&bed, "points", "usd", "0.01").await.unwrap();
    let direct = ("0.01000000".to_owned(), false);
    let inverse = ("0.01000000".to_owned(), true);
    assert_eq!(conversion(&bed, "points", "USD").await.unwrap(), direct);
    assert_eq!(conversion(&bed, "usd", "POINTS").await.unwrap(), inverse);
    create(&bed, "usd", "points", "99").await.unwrap();
    let own = ("99.00000000".to_owned(), false);
    assert_eq!(conversion(&bed, "usd", "points").await.unwrap(), own);
    assert_eq!(conversion(&bed, "points", "usd").await.unwrap(), direct);
    delete(&bed, "points", "usd").await.unwrap();
    let inverse = ("99.00000000".to_owned(), true);
    assert_eq!(conversion(&bed, "points", "usd").await.unwrap(), inverse);
    bed.end().await;
}

async fn list(bed: &Bed, request: ListRequest) -> Vec<String> {
    let request = wire::ListRatesRequest {
        list: Some(request),
    };
    let page = result(rates(bed).list_rates(request).await).unwrap();
    let show = |rate: wire::Rate| format!("{}/{}", rate.base_asset_code, rate.quote_asset_code);
    page.rates.into_iter().map(show).collect()
}

fn filter(field: &str, operator: Operator, value: &str) -> ListRequest {
    ListRequest {
        filters: vec![Filter {
            field: field.to_owned(),
            operator: operator.into(),
            values: vec![value.to_owned()],
        }],
        ..ListRequest::default()
    }
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn lists_come_by_pair(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    for (base, quote, rate) in [
        ("usd", "eur", "0.9"),
        ("btc", "usd", "60000"),
        ("btc", "eur", "55000"),
    ] {
        create(&bed, base, quote, rate).await.unwrap();
    }
    let all = list(&bed, ListRequest::default()).await;
    assert_eq!(all, ["btc/eur", "btc/usd", "usd/eur"]);
    let of_btc = list(&bed, filter("baseAssetCode", Operator::Eq, "BTC")).await;
    assert_eq!(of_btc, ["btc/eur", "btc/usd"]);
    let to_usd = list(&bed, filter("quoteAssetCode", Operator::Nin, "eur")).await;
    assert_eq!(to_usd, ["btc/usd"]);
    let high = list(&bed, filter("rate", Operator::Gt, "55000")).await;
    assert_eq!(high, ["btc/usd"]);
    let by_rate = ListRequest {
        sort: vec![Sort {
            field: "rate".to_owned(),
            descending: true,
        }],
        ..ListRequest::default()
    };
    assert_eq!(list(&bed, by_rate).await, ["btc/usd", "btc/eur", "usd/eur"]);
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn only_admins_write(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    create(&bed, "points", "usd", "0.01").await.unwrap();
    let mut ann = RateServiceClient::new(bed.client(&user(ANN)));
    let refusal = ann.create_rate(new("usd", "eur", "1")).await;
    assert_eq!(refused(result(refusal)).0, Code::Forbidden);
    let refusal = ann.update_rate(wire::UpdateRateRequest::default()).await;
    assert_eq!(refused(result(refusal)).0, Code::Forbidden);
    let refusal = ann.delete_rate(wire::DeleteRateRequest::default()).await;
    assert_eq!(refused(result(refusal)).0, Code::Forbidden);
    let seen = ann.list_rates(wire::ListRatesRequest::default()).await;
    assert_eq!(result(seen).unwrap().rates.len(), 1);
    bed.end().await;
}
