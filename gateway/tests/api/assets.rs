//! What the gateway itself says about assets and rates.

use serde_json::{Value, json};

use crate::support::{Running, problem, start};

async fn refused_fields(gateway: &Running, method: &str, path: &str, body: &Value) -> Vec<String> {
    let answer = gateway
        .admin(method, path)
        .json(body)
        .send()
        .await
        .expect("answers");
    let document = problem(answer, 422, "validation_failed").await;
    let errors = document["errors"].as_array().expect("a list").iter();
    errors
        .map(|error| error["field"].as_str().expect("text").to_owned())
        .collect()
}

#[tokio::test]
async fn fields_of_assets_are_checked_by_name() {
    let gateway = start(&[]).await;
    for (method, path, body, field) in [
        ("POST", "/assets", json!({"name": "Gold"}), "code"),
        ("POST", "/assets", json!({"code": "gold"}), "name"),
        (
            "POST",
            "/assets",
            json!({"code": "g", "name": "g", "type": "x"}),
            "type",
        ),
        (
            "POST",
            "/assets",
            json!({"code": "g", "name": "g", "decimalPlaces": -1}),
            "decimalPlaces",
        ),
        (
            "POST",
            "/assets",
            json!({"code": "g", "name": "g", "contract": []}),
            "contract",
        ),
        (
            "POST",
            "/assets",
            json!({"code": "g", "name": "g", "system": true}),
            "system",
        ),
        ("PATCH", "/assets/gold", json!({"code": "tin"}), "code"),
        (
            "PATCH",
            "/assets/gold",
            json!({"decimalPlaces": "2"}),
            "decimalPlaces",
        ),
    ] {
        let fields = refused_fields(&gateway, method, path, &body).await;
        assert_eq!(fields, [field], "{body}");
    }
    let nulls = json!({"name": null, "type": null, "decimalPlaces": null, "enabled": null,
        "contract": null, "customData": null, "symbol": null, "logo": null});
    let fields = refused_fields(&gateway, "PATCH", "/assets/gold", &nulls).await;
    let kept = [
        "name",
        "type",
        "decimalPlaces",
        "enabled",
        "contract",
        "customData",
    ];
    assert_eq!(fields, kept);
}

#[tokio::test]
async fn fields_of_rates_are_checked_by_name() {
    let gateway = start(&[]).await;
    let pair = json!({"baseAssetCode": "points", "quoteAssetCode": "usd"});
    assert_eq!(
        refused_fields(&gateway, "POST", "/rates", &pair).await,
        ["rate"]
    );
    let number = json!({"baseAssetCode": "points", "quoteAssetCode": "usd", "rate": 1.5});
    assert_eq!(
        refused_fields(&gateway, "POST", "/rates", &number).await,
        ["rate"]
    );
    let nulls = json!({"rate": null, "customData": null});
    let fields = refused_fields(&gateway, "PATCH", "/rates/points/usd", &nulls).await;
    assert_eq!(fields, ["rate", "customData"]);
    let literal = gateway
        .admin("POST", "/rates")
        .header("content-type", "application/json")
        .body(r#"{"baseAssetCode":"points","quoteAssetCode":"usd","rate":NaN}"#);
    problem(literal.send().await.unwrap(), 400, "malformed_json").await;
}
