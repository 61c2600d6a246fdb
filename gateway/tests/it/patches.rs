//! PATCH: left out stays, `null` clears, a value is set.

use serde_json::{Value, json};

use crate::harness::{ID, TestApp};

/// A PATCH route: path, fields that `null` clears, fields that it does not.
type Route = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

const ROUTES: [Route; 10] = [
    (
        "/products/{id}",
        &[
            "description",
            "taxRateId",
            "bonus",
            "buttonLabel",
            "listLabel",
            "url",
            "image",
            "thumbnail",
        ],
        &[
            "name",
            "categoryId",
            "assetCode",
            "price",
            "typeCode",
            "allowChoosingQuantity",
            "available",
            "featured",
            "visible",
            "requiresIdentity",
            "order",
            "customData",
        ],
    ),
    (
        "/categories/{id}",
        &["description", "image"],
        &["title", "order", "customData"],
    ),
    ("/tax-rates/{id}", &[], &["name", "rate"]),
    (
        "/questions/{id}",
        &["description"],
        &[
            "title",
            "typeCode",
            "productTypeCode",
            "configurations",
            "required",
            "customData",
        ],
    ),
    (
        "/tasks/{id}",
        &["buttonLabel", "surveyUrl", "image", "thumbnail"],
        &[
            "name",
            "description",
            "type",
            "amount",
            "order",
            "enabled",
            "featured",
            "customData",
        ],
    ),
    ("/orders/{id}", &["trackingId"], &[]),
    ("/users/{id}", &["name", "locale"], &["customData"]),
    (
        "/wallets/{id}",
        &["ownerId"],
        &["name", "locked", "customData"],
    ),
    (
        "/webhooks/{id}",
        &["description"],
        &["url", "events", "enabled"],
    ),
    (
        "/assets/{id}",
        &["symbol", "logo"],
        &[
            "name",
            "type",
            "decimalPlaces",
            "enabled",
            "contract",
            "customData",
        ],
    ),
];

fn url(path: &str) -> String {
    path.replace("{id}", ID)
}

/// The wire name of a field.
fn wire_name(field: &str) -> String {
    let mut name = String::new();
    for letter in field
        .replace("typeCode", "type")
        .replace("imageUrl", "image")
        .chars()
    {
        if letter.is_uppercase() {
            name.push('_');
        }
        name.extend(letter.to_lowercase());
    }
    name
}

#[tokio::test]
async fn an_empty_patch_names_no_field() {
    let app = TestApp::start().await;
    for (path, ..) in ROUTES {
        let exchange = app.patch(&url(path), &json!({})).await;
        assert_eq!(exchange.status, 200, "{path}");
        assert_eq!(exchange.calls[0].message["update_mask"], "", "{path}");
    }
}

#[tokio::test]
async fn null_names_a_nullable_field_without_a_value() {
    let app = TestApp::start().await;
    for (path, nullable, _) in ROUTES {
        for field in nullable {
            let exchange = app.patch(&url(path), &json!({ *field: null })).await;
            assert_eq!(exchange.status, 200, "{path} {field}: {}", exchange.body);
            let message = &exchange.calls[0].message;
            // In JSON, masks are written in camel case.
            assert_eq!(message["update_mask"], *field, "{path}");
            assert_eq!(message[wire_name(field)], Value::Null, "{path} {field}");
        }
    }
}

#[tokio::test]
async fn null_is_refused_where_a_field_must_keep_a_value() {
    let app = TestApp::start().await;
    for (path, _, required) in ROUTES {
        let nulls = required
            .iter()
            .map(|field| ((*field).to_owned(), Value::Null));
        let nulls = Value::Object(nulls.collect());
        if required.is_empty() {
            continue;
        }
        let exchange = app.patch(&url(path), &nulls).await;
        let document = exchange.problem(422, "validation_failed");
        let errors = document["errors"].as_array().expect("a list");
        // All of them at once.
        let mut refused: Vec<_> = errors.iter().map(|error| &error["field"]).collect();
        refused.sort_by_key(std::string::ToString::to_string);
        let mut expected = required.to_vec();
        expected.sort_unstable();
        assert_eq!(refused, expected, "{path}");
        assert!(
            errors.iter().all(|error| error["code"] == "required"),
            "{path}"
        );
        assert!(
            errors
                .iter()
                .all(|error| error["message"] == "cannot be cleared"),
            "{path}"
        );
        assert!(exchange.calls.is_empty(), "{path}");
    }
}

#[tokio::test]
async fn a_value_is_named_and_sent() {
    let app = TestApp::start().await;
    for (path, body, message) in [
        (
            "/products/{id}",
            json!({"name": "Tea"}),
            json!({"name": "Tea", "update_mask": "name"}),
        ),
        (
            "/products/{id}",
            json!({"typeCode": "service", "visible": false}),
            json!({"type": "PRODUCT_TYPE_SERVICE", "visible": false, "update_mask": "type,visible"}),
        ),
        (
            "/products/{id}",
            json!({"price": "1.00", "bonus": null}),
            json!({"price": "1.00", "update_mask": "price,bonus"}),
        ),
        (
            "/categories/{id}",
            json!({"customData": {"a": 1.50}}),
            json!({"custom_data": "{\"a\":1.5}", "update_mask": "customData"}),
        ),
        (
            "/tax-rates/{id}",
            json!({"rate": "7"}),
            json!({"rate": "7", "update_mask": "rate"}),
        ),
        (
            "/questions/{id}",
            json!({"required": false, "typeCode": "text"}),
            json!({"type_code": "text", "required": false, "update_mask": "typeCode,required"}),
        ),
        (
            "/tasks/{id}",
            json!({"type": "system", "enabled": false, "surveyUrl": null}),
            json!({"type": "TASK_TYPE_SYSTEM", "enabled": false, "update_mask": "type,surveyUrl,enabled"}),
        ),
        (
            "/orders/{id}",
            json!({"trackingId": ID}),
            json!({"tracking_id": ID, "update_mask": "trackingId"}),
        ),
        (
            "/order/{id}",
            json!({"trackingId": ID}),
            json!({"tracking_id": ID, "update_mask": "trackingId"}),
        ),
        (
            "/wallets/{id}",
            json!({"locked": false, "ownerId": ID}),
            json!({"owner_id": ID, "locked": false, "update_mask": "ownerId,locked"}),
        ),
    ] {
        let exchange = app.patch(&url(path), &body).await;
        assert_eq!(exchange.status, 200, "{path} {body}: {}", exchange.body);
        let mut expected = message;
        expected["id"] = json!(ID);
        assert_eq!(exchange.calls[0].message, expected, "{path} {body}");
    }
}

#[tokio::test]
async fn patches_of_assets_and_rates_name_their_codes() {
    let app = TestApp::start().await;
    let asset = app
        .patch("/assets/Gold", &json!({"decimalPlaces": 0, "type": "fiat"}))
        .await;
    insta::assert_json_snapshot!(asset.call(), @r#"
    {
      "rpc": "AssetService/UpdateAsset",
      "message": {
        "code": "Gold",
        "decimal_places": 0,
        "type": "ASSET_TYPE_FIAT",
        "update_mask": "type,decimalPlaces"
      }
    }
    "#);
    let rate = app
        .patch("/rates/Points/usd", &json!({"rate": "0.1"}))
        .await;
    insta::assert_json_snapshot!(rate.call(), @r#"
    {
      "rpc": "RateService/UpdateRate",
      "message": {
        "base_asset_code": "Points",
        "quote_asset_code": "usd",
        "rate": "0.1",
        "update_mask": "rate"
      }
    }
    "#);
    let nulls = app
        .patch(
            "/rates/points/usd",
            &json!({"rate": null, "customData": null}),
        )
        .await;
    let document = nulls.problem(422, "validation_failed");
    assert_eq!(document["errors"][0]["field"], "rate");
    assert_eq!(document["errors"][1]["field"], "customData");
}

#[tokio::test]
async fn a_patch_needs_a_body() {
    let app = TestApp::start().await;
    for (path, ..) in ROUTES {
        let exchange = app.exchange(app.admin("PATCH", &url(path))).await;
        exchange.problem(400, "malformed_json");
    }
}
