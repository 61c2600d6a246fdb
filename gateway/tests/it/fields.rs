//! What is refused about the fields of a body, by name.

use serde_json::{Value, json};

use crate::harness::{ID, TestApp};

/// Sends bodies that are refused for one field, and compares the field.
async fn assert_refused(method: &str, path: &str, cases: &[(Value, &str, &str, &str)]) {
    let app = TestApp::start().await;
    for (body, field, code, message) in cases {
        let exchange = app.exchange(app.admin(method, path).json(body)).await;
        let document = exchange.problem(422, "validation_failed");
        let expected = json!({"field": field, "code": code, "message": message});
        assert_eq!(document["errors"], json!([expected]), "{body}");
        let detail = format!("{field}: {message}");
        assert_eq!(document["detail"], detail, "{body}");
        assert!(exchange.calls.is_empty(), "{body}");
    }
}

#[tokio::test]
async fn fields_of_a_new_category() {
    let object = "must be a JSON object";
    assert_refused(
        "POST",
        "/categories",
        &[
            (json!({}), "title", "required", "is required"),
            (
                json!({"title": 1}),
                "title",
                "type",
                "invalid type: integer `1`, expected a string",
            ),
            (
                json!({"title": true}),
                "title",
                "type",
                "invalid type: boolean `true`, expected a string",
            ),
            (
                json!({"title": ["x"]}),
                "title",
                "type",
                "invalid type: sequence, expected a string",
            ),
            (
                json!({"title": {"x": 1}}),
                "title",
                "type",
                "invalid type: map, expected a string",
            ),
            (json!({"title": null}), "title", "required", "is required"),
            (
                json!({"title": "x", "titel": "x"}),
                "titel",
                "unknown_field",
                "there is no such field",
            ),
            (
                json!({"title": "x", "Title": "x"}),
                "Title",
                "unknown_field",
                "there is no such field",
            ),
            (
                json!({"title": "x", "image_url": "x"}),
                "image_url",
                "unknown_field",
                "there is no such field",
            ),
            (
                json!({"title": "x", "id": ID}),
                "id",
                "unknown_field",
                "there is no such field",
            ),
            (
                json!({"title": "x", "customData": []}),
                "customData",
                "type",
                object,
            ),
            (
                json!({"title": "x", "customData": "{}"}),
                "customData",
                "type",
                object,
            ),
            (
                json!({"title": "x", "customData": 5}),
                "customData",
                "type",
                object,
            ),
            (
                json!({"title": "x", "description": 5}),
                "description",
                "type",
                "invalid type: integer `5`, expected a string",
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn fields_of_a_new_order() {
    let unknown = "there is no such field";
    assert_refused(
        "POST",
        "/orders",
        &[
            (
                json!({"lines": [{"productId": ID}]}),
                "userId",
                "required",
                "is required",
            ),
            (json!({"userId": ID}), "lines", "required", "is required"),
            (
                json!({"userId": ID, "lines": []}),
                "lines",
                "length",
                "must have 1 to 200 items",
            ),
            (
                json!({"userId": ID, "lines": {}}),
                "lines",
                "type",
                "invalid type: map, expected a sequence",
            ),
            (
                json!({"userId": ID, "lines": [{}]}),
                "lines[0].productId",
                "required",
                "is required",
            ),
            (
                json!({"userId": ID, "lines": [{"productId": ID}, {"productId": ID, "qty": 1}]}),
                "lines[1].qty",
                "unknown_field",
                unknown,
            ),
            (
                json!({"userId": ID, "lines": [{"productId": ID, "quantity": 1.5}]}),
                "lines[0].quantity",
                "type",
                "invalid type: floating point `1.5`, expected a whole number",
            ),
            (
                json!({"userId": ID, "lines": [{"productId": ID, "quantity": -1}]}),
                "lines[0].quantity",
                "range",
                "must be 1 to 1000000",
            ),
            (
                json!({"userId": ID, "lines": [{"productId": ID, "quantity": 4_294_967_296_u64}]}),
                "lines[0].quantity",
                "range",
                "must be 1 to 1000000",
            ),
            (
                json!({"userId": ID, "lines": [{"productId": ID, "quantity": "1"}]}),
                "lines[0].quantity",
                "type",
                "invalid type: string \"1\", expected a whole number",
            ),
            (
                json!({"userId": ID, "lines": [{"productId": ID, "productQuestionsResult": []}]}),
                "lines[0].productQuestionsResult",
                "type",
                "must be a JSON object",
            ),
            (
                json!({"userId": ID, "lines": [{"productId": ID}], "deliveryMethod": "drone"}),
                "deliveryMethod",
                "enum",
                "unknown variant `drone`, expected `shipping` or `pickup`",
            ),
            (
                json!({"userId": ID, "lines": [{"productId": ID}], "dryRun": "yes"}),
                "dryRun",
                "type",
                "invalid type: string \"yes\", expected a boolean",
            ),
        ],
    )
    .await;
}

/// Sends a body and returns `field code` of each error.
async fn faults(app: &TestApp, path: &str, body: &Value) -> Vec<String> {
    let exchange = app.post(path, body).await;
    let document = exchange.problem(422, "validation_failed");
    let errors = document["errors"].as_array().expect("a list").iter();
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let faults = errors.map(|error| format!("{} {}", text(&error["field"]), text(&error["code"])));
    faults.collect()
}

#[tokio::test]
async fn all_fields_at_fault_are_named() {
    let app = TestApp::start().await;
    for (path, body, expected) in [
        (
            "/products",
            json!({}),
            &["categoryId required", "price required"][..],
        ),
        (
            "/products",
            json!({"price": 5, "nmae": "x", "typeCode": "x", "customData": [], "categoryId": null,
                "visible": null, "order": {}}),
            &[
                "categoryId required",
                "price type",
                "typeCode enum",
                "order type",
                "customData type",
                "nmae unknown_field",
            ],
        ),
        (
            "/orders",
            json!({"lines": [
                {"productId": ID},
                {"quantity": "2", "productQuestionsResult": 5},
                null,
                7,
                {"productId": ID, "x": 1, "quantity": null},
            ], "dryRun": 1}),
            &[
                "userId required",
                "lines[1].productId required",
                "lines[1].quantity type",
                "lines[1].productQuestionsResult type",
                "lines[2] type",
                "lines[3] type",
                "lines[4].x unknown_field",
                "dryRun type",
            ],
        ),
        (
            "/questions",
            json!({"text": 1, "configurations": 5}),
            &[
                "title required",
                "typeCode required",
                "productTypeCode required",
                "configurations type",
                "text unknown_field",
            ],
        ),
    ] {
        assert_eq!(faults(&app, path, &body).await, expected, "{body}");
    }
    assert!(
        app.services.take_calls().is_empty(),
        "no service was called"
    );
}

#[tokio::test]
async fn a_refusal_names_at_most_a_hundred_faults() {
    let app = TestApp::start().await;
    let lines: Vec<_> = (0..50_000).map(|number| json!(number)).collect();
    let body = json!({"userId": ID, "lines": lines});
    assert_eq!(faults(&app, "/orders", &body).await.len(), 100);
    let unknown: serde_json::Map<_, _> =
        (0..50_000).map(|key| (key.to_string(), json!(1))).collect();
    assert_eq!(
        faults(&app, "/orders", &Value::Object(unknown)).await.len(),
        100
    );
    // A list is looked through up to a bound; for what is behind it, the list is at fault.
    let mut lines = vec![json!({"productId": ID}); 12_000];
    lines.push(json!({}));
    let body = json!({"userId": 5, "lines": lines});
    assert_eq!(
        faults(&app, "/orders", &body).await,
        ["userId type", "lines type"]
    );
}

#[tokio::test]
async fn amounts_are_texts() {
    let number = |body: Value, field| {
        (
            body,
            field,
            "type",
            "invalid type: floating point `1.5`, expected a string",
        )
    };
    let deposit = json!({"amount": 1.5, "assetCode": "usd", "code": "internal", "data": {},
        "destinationWalletId": ID});
    assert_refused(
        "POST",
        "/transactions/deposit",
        &[number(deposit, "amount")],
    )
    .await;
    let pair = json!({"baseAssetCode": "points", "quoteAssetCode": "usd", "rate": 1.5});
    assert_refused("POST", "/rates", &[number(pair, "rate")]).await;
    let product = json!({"categoryId": ID, "price": 1.5});
    assert_refused("POST", "/products", &[number(product, "price")]).await;
    let payment = json!({"amount": 1.5});
    let path = format!("/orders/{ID}/pay");
    assert_refused("POST", &path, &[number(payment, "amount")]).await;
}

#[tokio::test]
async fn fields_of_assets() {
    let unknown = "there is no such field";
    assert_refused(
        "POST",
        "/assets",
        &[
            (json!({"name": "Gold"}), "code", "required", "is required"),
            (json!({"code": "gold"}), "name", "required", "is required"),
            (
                json!({"code": "g", "name": "g", "type": "x"}),
                "type",
                "enum",
                "unknown variant `x`, expected one of `crypto`, `custom`, `fiat`",
            ),
            (
                json!({"code": "g", "name": "g", "decimalPlaces": -1}),
                "decimalPlaces",
                "range",
                "must be 0 to 8",
            ),
            (
                json!({"code": "g", "name": "g", "contract": []}),
                "contract",
                "type",
                "must be a JSON object",
            ),
            (
                json!({"code": "g", "name": "g", "system": true}),
                "system",
                "unknown_field",
                unknown,
            ),
        ],
    )
    .await;
    assert_refused(
        "PATCH",
        "/assets/gold",
        &[
            (json!({"code": "tin"}), "code", "unknown_field", unknown),
            (
                json!({"decimalPlaces": "2"}),
                "decimalPlaces",
                "type",
                "invalid type: string \"2\", expected a whole number",
            ),
            (
                json!({"type": "stone"}),
                "type",
                "enum",
                "unknown variant `stone`, expected one of `crypto`, `custom`, `fiat`",
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn fields_of_rates() {
    assert_refused(
        "POST",
        "/rates",
        &[
            (
                json!({"baseAssetCode": "points", "quoteAssetCode": "usd"}),
                "rate",
                "required",
                "is required",
            ),
            (
                json!({"rate": "1", "quoteAssetCode": "usd"}),
                "baseAssetCode",
                "required",
                "is required",
            ),
        ],
    )
    .await;
    assert_refused(
        "PATCH",
        "/rates/points/usd",
        &[(
            json!({"baseAssetCode": "gold"}),
            "baseAssetCode",
            "unknown_field",
            "there is no such field",
        )],
    )
    .await;
}

#[tokio::test]
async fn roles_and_flags_of_users() {
    assert_refused(
        "POST",
        "/users",
        &[
            (
                json!({"email": "a@example.com"}),
                "password",
                "required",
                "is required",
            ),
            (
                json!({"email": "e", "password": "p", "roles": "admin"}),
                "roles",
                "type",
                "invalid type: string \"admin\", expected a sequence",
            ),
            (
                json!({"email": "e", "password": "p", "roles": [1]}),
                "roles[0]",
                "type",
                "invalid type: integer `1`, expected a string",
            ),
            (
                json!({"email": "e", "password": "p", "approved": "true"}),
                "approved",
                "type",
                "invalid type: string \"true\", expected a boolean",
            ),
        ],
    )
    .await;
}
