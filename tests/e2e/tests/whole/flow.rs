//! The main flow: products, deposits, orders, payments, fulfilment, refunds, rewards, lists.

use e2e::{TestApp, text, usd};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use stack::StackOptions;

#[tokio::test(flavor = "multi_thread")]
async fn an_order_is_paid_fulfilled_canceled_and_rewarded() {
    let app = TestApp::start(StackOptions::for_test("flow").expect("options")).await;
    let buyer = app.create_user("ada").await;
    let wallet = &buyer["primaryWalletId"];
    app.create_user("bob").await;
    deposit_in_steps(&app, wallet).await;

    let coffee = app.create_product("Coffee", "12.50", "1.25").await;
    let tea = app.create_product("Tea", "8", "0.8").await;
    let cart = json!({ "userId": buyer["id"], "lines": [
        { "productId": coffee["id"], "quantity": 2 }, { "productId": tea["id"] },
    ]});
    let order = dry_run_then_order(&app, cart).await;
    pay_in_two_parts(&app, &order).await;
    app.wait_for_balance(wallet, &usd("63.70")).await;
    app.publish_again("guerdon.orders.v1.OrderPaid").await;
    assert_eq!(app.balance(wallet).await, usd("63.70"));

    fulfil_order(&app, &order).await;
    pay_at_creation_then_cancel(&app, &buyer, &tea).await;
    complete_task(&app, &buyer).await;
    filter_and_page_lists(&app, &buyer).await;
    owe_a_spent_bonus(&app, &tea).await;
    assert_movements_sum_to_zero(&app).await;
    app.assert_settled().await;
}

async fn deposit_in_steps(app: &TestApp, wallet: &Value) {
    let body = json!({
        "amount": "100.00", "assetCode": "usd", "code": "internal", "data": { "note": "cash" },
        "destinationWalletId": wallet,
    });
    let deposit = app.create("/transactions/deposit", body).await;
    assert_eq!(deposit["status"], "pending");
    assert_eq!(deposit["originWalletId"], Value::Null);
    assert_eq!(deposit["metadata"]["data"]["note"], "cash");
    let path = format!("/transactions/{}", text(&deposit["id"]));
    let approved = app.create(&format!("{path}/approve"), json!({})).await;
    assert_eq!(approved["status"], "processing");
    assert_eq!(app.balance(wallet).await, "0.00000000");
    let confirmed = app.create(&format!("{path}/confirm"), json!({})).await;
    assert_eq!(confirmed["status"], "confirmed");
    assert_eq!(app.balance(wallet).await, usd("100.00"));
    assert_eq!(app.get_data(&path).await, confirmed);
}

async fn dry_run_then_order(app: &TestApp, mut cart: Value) -> Value {
    cart["dryRun"] = json!(true);
    let response = app.post("/orders", cart.clone()).await;
    assert_eq!(response.status, StatusCode::OK);
    let quote = response.body["data"].clone();
    assert_eq!(quote["id"], Value::Null);
    assert_eq!(app.get("/orders").await.body["total"], 0);

    cart["dryRun"] = json!(false);
    let response = app.post("/orders", cart).await;
    assert_eq!(response.status, StatusCode::CREATED, "{response:?}");
    let order = response.body["data"].clone();
    assert_eq!(
        response.headers["location"],
        format!("/orders/{}", text(&order["id"]))
    );
    for money in [&quote, &order] {
        assert_eq!(money["amount"], usd("39.60"));
        assert_eq!(money["taxesAmount"], usd("6.60"));
        assert_eq!(money["amountWithoutTaxes"], usd("33.00"));
        assert_eq!(money["shippingAmount"], usd("0.00"));
        assert_eq!(money["bonus"], usd("3.30"));
        assert_eq!(money["unpaidAmount"], usd("39.60"));
        assert_eq!(money["paymentStatus"], "unpaid");
    }
    assert_eq!(order["user"]["email"], "ada@example.com");
    assert_eq!(order["lines"][0]["product"]["name"], "Coffee");
    order
}

async fn pay_in_two_parts(app: &TestApp, order: &Value) {
    let path = format!("/orders/{}/pay", text(&order["id"]));
    let part = app.create(&path, json!({ "amount": "10" })).await;
    assert_eq!(part["paymentStatus"], "paid");
    assert_eq!(part["paidAmount"], usd("10.00"));
    assert_eq!(part["unpaidAmount"], usd("29.60"));
    assert_eq!(part["paidAt"], Value::Null);
    let too_much = json!({ "amount": "29.61" });
    app.expect_error(&path, too_much, 422, "payment_exceeds_unpaid")
        .await;
    let whole = app.create(&path, json!({})).await;
    assert_eq!(whole["paymentStatus"], "fully_paid");
    assert_eq!(whole["unpaidAmount"], usd("0.00"));
    assert_eq!(
        text(&whole["paidAt"]).len(),
        "2026-01-31T10:00:00.000Z".len()
    );
    app.expect_error(&path, json!({}), 409, "invalid_state")
        .await;
}

async fn fulfil_order(app: &TestApp, order: &Value) {
    let path = format!("/orders/{}", text(&order["id"]));
    let line = format!("{path}/lines/{}", text(&order["lines"][0]["id"]));
    let one = app
        .create(&format!("{line}/fulfill"), json!({ "quantity": 1 }))
        .await;
    assert_eq!(one["orderStatus"], "unfulfilled");
    assert_eq!(app.get_data(&line).await["status"], "partially_fulfilled");
    app.expect_error(
        &format!("{line}/fulfill"),
        json!({ "quantity": 2 }),
        422,
        "validation_failed",
    )
    .await;
    let all = app.create(&format!("{path}/fulfill"), json!({})).await;
    assert_eq!(all["orderStatus"], "fulfilled");
    assert_ne!(all["fulfilledAt"], Value::Null);
    let detail = app.get_data(&line).await;
    assert_eq!(detail["product"]["category"]["title"], "Coffees");
    assert_eq!(detail["order"]["id"], order["id"]);
    app.expect_error(&format!("{path}/cancel"), json!({}), 409, "invalid_state")
        .await;
}

async fn pay_at_creation_then_cancel(app: &TestApp, buyer: &Value, tea: &Value) {
    let wallet = &buyer["primaryWalletId"];
    let order = app.order(buyer, tea).await;
    assert_eq!(order["orderStatus"], "unfulfilled");
    app.wait_for_balance(wallet, &usd("54.90")).await;
    let path = format!("/orders/{}/cancel", text(&order["id"]));
    let too_much = json!({ "refundAmount": "9.61" });
    app.expect_error(&path, too_much, 422, "refund_exceeds_paid")
        .await;
    let half = json!({ "refundAmount": "4.80", "reason": ["late"] });
    let canceled = app.create(&path, half).await;
    assert_eq!(canceled["orderStatus"], "canceled");
    assert_eq!(canceled["paymentStatus"], "partially_refunded");
    assert_eq!(canceled["paidAmount"], usd("4.80"));
    assert_eq!(canceled["metadata"]["cancelReason"], json!(["late"]));
    app.wait_for_balance(wallet, &usd("59.30")).await;
    app.expect_error(&path, json!({}), 409, "invalid_state")
        .await;
}

/// The refund goes to the wallet that paid, so that the one with the bonus stays empty.
async fn owe_a_spent_bonus(app: &TestApp, tea: &Value) {
    let buyer = app.create_user("eve").await;
    let bonus = &buyer["primaryWalletId"];
    let payer = app
        .create("/wallets", json!({ "ownerId": buyer["id"] }))
        .await;
    app.deposit(&payer["id"], "9.60").await;
    let body = json!({
        "userId": buyer["id"], "lines": [{ "productId": tea["id"] }], "walletId": payer["id"],
    });
    let order = app.create("/orders", body).await;
    app.wait_for_balance(bonus, &usd("0.80")).await;
    let body = json!({
        "amount": "0.80", "assetCode": "usd", "code": "internal", "commit": true,
        "originWalletId": bonus, "destinationWalletId": payer["id"],
    });
    app.create("/transactions/transfer", body).await;
    let path = format!("/orders/{}", text(&order["id"]));
    app.create(&format!("{path}/cancel"), json!({})).await;
    app.eventually(|| async {
        let order = app.get_data(&path).await;
        let is_shown = order["metadata"]["bonusShortfall"] == usd("0.80");
        is_shown.then_some(()).ok_or_else(|| order.to_string())
    })
    .await;
}

async fn complete_task(app: &TestApp, buyer: &Value) {
    let body = json!({ "name": "Survey", "description": "Two questions", "type": "survey",
        "amount": "5.00" });
    let task = app.create("/tasks", body).await;
    let path = format!("/tasks/{}/complete", text(&task["id"]));
    let completion = app.create(&path, json!({ "userId": buyer["id"] })).await;
    app.wait_for_balance(&buyer["primaryWalletId"], &usd("64.30"))
        .await;
    let reward = format!("/transactions/{}", text(&completion["transactionId"]));
    let reward = app.get_data(&reward).await;
    assert_eq!(reward["status"], "confirmed");
    assert_eq!(reward["metadata"]["reason"], "task");
    let again = json!({ "userId": buyer["id"] });
    app.expect_error(&path, again, 409, "task_already_completed")
        .await;
}

async fn filter_and_page_lists(app: &TestApp, buyer: &Value) {
    let (user, wallet) = (text(&buyer["id"]), text(&buyer["primaryWalletId"]));
    let path = format!("/orders?filter[userId]={user}&sort=-createdAt&include=lines");
    let orders = app.get(&path).await.body;
    assert_eq!(orders["total"], 2);
    assert_eq!(orders["data"][0]["orderStatus"], "canceled");
    assert_eq!(
        orders["data"][1]["lines"].as_array().expect("lines").len(),
        2
    );
    assert_eq!(orders["data"][1]["user"]["name"], "ada");

    let page = app.get("/orders?page[size]=1&sort=createdAt").await.body;
    let cursor = text(&page["nextCursor"]);
    let path = format!("/orders?page[size]=1&sort=createdAt&page[after]={cursor}");
    let next = app.get(&path).await.body;
    assert_eq!(next["data"][0]["id"], orders["data"][0]["id"]);
    assert_eq!(next["nextCursor"], Value::Null);

    let paid = format!("/transactions?filter[walletId]={wallet}&filter[code]=in:pay,refund");
    assert_eq!(app.get(&paid).await.body["total"], 4);
    let movements =
        format!("/wallets/{wallet}/movements?include=transaction&sort=amount&page[size]=1");
    let movements = app.get(&movements).await.body;
    assert_eq!(movements["data"][0]["amount"], "-29.60000000");
    assert_eq!(movements["data"][0]["transaction"]["code"], "pay");
    let head = app.send(Method::HEAD, "/orders", None).await;
    assert_eq!(head.status, StatusCode::OK);
}

/// Includes the system wallets, which the API shows only by name.
async fn assert_movements_sum_to_zero(app: &TestApp) {
    let unbalanced: i64 = sqlx::query_scalar(
        "select count(*) from (
             select asset_code from wallet.movements group by asset_code having sum(amount) <> 0
         ) as unbalanced",
    )
    .fetch_one(&mut app.connect().await)
    .await
    .expect("a count");
    assert_eq!(unbalanced, 0);
    let total = app.get_data("/wallets/balance?filter[assetCode]=usd").await;
    // 109.60 of deposits, 3.30 + 0.80 - 0.40 + 0.80 of bonuses and 5.00 of rewards.
    assert_eq!(total[0]["amount"], usd("119.10"));
}
