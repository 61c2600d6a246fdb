//! One order, from product to paid, fulfilled and rewarded.

use e2e::{Shop, text, usd};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use stack::StackOptions;

#[tokio::test(flavor = "multi_thread")]
async fn an_order_from_product_to_reward() {
    let shop = Shop::open(StackOptions::for_test("flow").expect("options")).await;
    let buyer = shop.user("ada").await;
    let wallet = &buyer["primaryWalletId"];
    shop.user("bob").await;
    deposit_step_by_step(&shop, wallet).await;

    let coffee = shop.product("Coffee", "12.50", "1.25").await;
    let tea = shop.product("Tea", "8", "0.8").await;
    let cart = json!({ "userId": buyer["id"], "lines": [
        { "productId": coffee["id"], "quantity": 2 }, { "productId": tea["id"] },
    ]});
    let order = dry_run_then_order(&shop, cart).await;
    pay_in_two_parts(&shop, &order).await;
    shop.until_balance(wallet, &usd("63.70")).await;
    deliver_again(&shop, "guerdon.orders.v1.OrderPaid").await;
    assert_eq!(shop.balance(wallet).await, usd("63.70"));

    fulfil(&shop, &order).await;
    second_order_paid_at_once_and_canceled(&shop, &buyer, &tea).await;
    task(&shop, &buyer).await;
    lists(&shop, &buyer).await;
    movements_sum_to_zero(&shop).await;
    shop.check_books().await;
}

async fn deposit_step_by_step(shop: &Shop, wallet: &Value) {
    let body = json!({
        "amount": "100.00", "assetCode": "usd", "code": "internal", "data": { "note": "cash" },
        "destinationWalletId": wallet,
    });
    let deposit = shop.make("/transactions/deposit", body).await;
    assert_eq!(deposit["status"], "pending");
    assert_eq!(deposit["originWalletId"], Value::Null);
    assert_eq!(deposit["metadata"]["data"]["note"], "cash");
    let path = format!("/transactions/{}", text(&deposit["id"]));
    let approved = shop.make(&format!("{path}/approve"), json!({})).await;
    assert_eq!(approved["status"], "processing");
    assert_eq!(shop.balance(wallet).await, "0.00000000");
    let confirmed = shop.make(&format!("{path}/confirm"), json!({})).await;
    assert_eq!(confirmed["status"], "confirmed");
    assert_eq!(shop.balance(wallet).await, usd("100.00"));
    assert_eq!(shop.read(&path).await, confirmed);
}

async fn dry_run_then_order(shop: &Shop, mut cart: Value) -> Value {
    cart["dryRun"] = json!(true);
    let answer = shop.post("/orders", cart.clone()).await;
    assert_eq!(answer.status, StatusCode::OK);
    let quote = answer.body["data"].clone();
    assert_eq!(quote["id"], Value::Null);
    assert_eq!(shop.get("/orders").await.body["total"], 0);

    cart["dryRun"] = json!(false);
    let answer = shop.post("/orders", cart).await;
    assert_eq!(answer.status, StatusCode::CREATED, "{answer:?}");
    let order = answer.body["data"].clone();
    assert_eq!(
        answer.headers["location"],
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

async fn pay_in_two_parts(shop: &Shop, order: &Value) {
    let path = format!("/orders/{}/pay", text(&order["id"]));
    let part = shop.make(&path, json!({ "amount": "10" })).await;
    assert_eq!(part["paymentStatus"], "paid");
    assert_eq!(part["paidAmount"], usd("10.00"));
    assert_eq!(part["unpaidAmount"], usd("29.60"));
    assert_eq!(part["paidAt"], Value::Null);
    let too_much = json!({ "amount": "29.61" });
    shop.refused(&path, too_much, 422, "payment_exceeds_unpaid")
        .await;
    let whole = shop.make(&path, json!({})).await;
    assert_eq!(whole["paymentStatus"], "fully_paid");
    assert_eq!(whole["unpaidAmount"], usd("0.00"));
    assert_eq!(
        text(&whole["paidAt"]).len(),
        "2026-01-31T10:00:00.000Z".len()
    );
    shop.refused(&path, json!({}), 409, "invalid_state").await;
}

/// Publishes the last event of a subject once more, as a new message, and waits until every
/// consumer of its stream is through with it.
async fn deliver_again(shop: &Shop, subject: &str) {
    let client = async_nats::connect(&shop.stack.wiring().nats_url)
        .await
        .expect("NATS answers");
    let jetstream = async_nats::jetstream::new(client);
    let stream = jetstream
        .get_stream("GUERDON_ORDERS")
        .await
        .expect("the stream");
    let message = stream
        .get_last_raw_message_by_subject(subject)
        .await
        .expect("an event");
    // JetStream's own headers tell of the batch that it came in.
    let mut headers = async_nats::HeaderMap::new();
    for (name, values) in message.headers.iter() {
        if let (false, Some(value)) = (name.to_string().starts_with("Nats-"), values.first()) {
            headers.insert(name.clone(), value.clone());
        }
    }
    headers.insert("Nats-Msg-Id", "delivered-again");
    let publish = jetstream.publish_with_headers(subject.to_owned(), headers, message.payload);
    let published = publish.await.expect("sent").await.expect("stored").sequence;
    shop.until(|| async {
        let mut names = stream.consumer_names();
        let mut waiting = Vec::new();
        while let Some(name) = futures::StreamExt::next(&mut names).await {
            let name = name.map_err(|error| error.to_string())?;
            let info = stream
                .consumer_info(&name)
                .await
                .map_err(|error| error.to_string())?;
            if info.num_pending > 0 || info.num_ack_pending > 0 {
                waiting.push(name);
            }
        }
        if waiting.is_empty() {
            Ok(())
        } else {
            Err(format!("{published} waits for {waiting:?}"))
        }
    })
    .await;
}

async fn fulfil(shop: &Shop, order: &Value) {
    let path = format!("/orders/{}", text(&order["id"]));
    let line = format!("{path}/lines/{}", text(&order["lines"][0]["id"]));
    let one = shop
        .make(&format!("{line}/fulfill"), json!({ "quantity": 1 }))
        .await;
    assert_eq!(one["orderStatus"], "unfulfilled");
    assert_eq!(shop.read(&line).await["status"], "partially_fulfilled");
    shop.refused(
        &format!("{line}/fulfill"),
        json!({ "quantity": 2 }),
        422,
        "validation_failed",
    )
    .await;
    let all = shop.make(&format!("{path}/fulfill"), json!({})).await;
    assert_eq!(all["orderStatus"], "fulfilled");
    assert_ne!(all["fulfilledAt"], Value::Null);
    let detail = shop.read(&line).await;
    assert_eq!(detail["product"]["category"]["title"], "Coffees");
    assert_eq!(detail["order"]["id"], order["id"]);
    shop.refused(&format!("{path}/cancel"), json!({}), 409, "invalid_state")
        .await;
}

async fn second_order_paid_at_once_and_canceled(shop: &Shop, buyer: &Value, tea: &Value) {
    let wallet = &buyer["primaryWalletId"];
    let body = json!({
        "userId": buyer["id"], "lines": [{ "productId": tea["id"] }], "walletId": wallet,
    });
    let order = shop.make("/orders", body).await;
    assert_eq!(order["paymentStatus"], "fully_paid");
    assert_eq!(order["orderStatus"], "unfulfilled");
    shop.until_balance(wallet, &usd("54.90")).await;
    let path = format!("/orders/{}/cancel", text(&order["id"]));
    let too_much = json!({ "refundAmount": "9.61" });
    shop.refused(&path, too_much, 422, "refund_exceeds_paid")
        .await;
    let half = json!({ "refundAmount": "4.80", "reason": ["late"] });
    let canceled = shop.make(&path, half).await;
    assert_eq!(canceled["orderStatus"], "canceled");
    assert_eq!(canceled["paymentStatus"], "partially_refunded");
    assert_eq!(canceled["paidAmount"], usd("4.80"));
    assert_eq!(canceled["metadata"]["cancelReason"], json!(["late"]));
    shop.until_balance(wallet, &usd("59.30")).await;
    shop.refused(&path, json!({}), 409, "invalid_state").await;
}

async fn task(shop: &Shop, buyer: &Value) {
    let body = json!({ "name": "Survey", "description": "Two questions", "type": "survey",
        "amount": "5.00" });
    let task = shop.make("/tasks", body).await;
    let path = format!("/tasks/{}/complete", text(&task["id"]));
    let completion = shop.make(&path, json!({ "userId": buyer["id"] })).await;
    shop.until_balance(&buyer["primaryWalletId"], &usd("64.30"))
        .await;
    let reward = format!("/transactions/{}", text(&completion["transactionId"]));
    let reward = shop.read(&reward).await;
    assert_eq!(reward["status"], "confirmed");
    assert_eq!(reward["metadata"]["reason"], "task");
    let again = json!({ "userId": buyer["id"] });
    shop.refused(&path, again, 409, "task_already_completed")
        .await;
}

async fn lists(shop: &Shop, buyer: &Value) {
    let (user, wallet) = (text(&buyer["id"]), text(&buyer["primaryWalletId"]));
    let path = format!("/orders?filter[userId]={user}&sort=-createdAt&include=lines");
    let orders = shop.get(&path).await.body;
    assert_eq!(orders["total"], 2);
    assert_eq!(orders["data"][0]["orderStatus"], "canceled");
    assert_eq!(
        orders["data"][1]["lines"].as_array().expect("lines").len(),
        2
    );
    assert_eq!(orders["data"][1]["user"]["name"], "ada");

    let page = shop.get("/orders?page[size]=1&sort=createdAt").await.body;
    let cursor = text(&page["nextCursor"]);
    let path = format!("/orders?page[size]=1&sort=createdAt&page[after]={cursor}");
    let next = shop.get(&path).await.body;
    assert_eq!(next["data"][0]["id"], orders["data"][0]["id"]);
    assert_eq!(next["nextCursor"], Value::Null);

    let paid = format!("/transactions?filter[walletId]={wallet}&filter[code]=in:pay,refund");
    assert_eq!(shop.get(&paid).await.body["total"], 4);
    let movements =
        format!("/wallets/{wallet}/movements?include=transaction&sort=amount&page[size]=1");
    let movements = shop.get(&movements).await.body;
    assert_eq!(movements["data"][0]["amount"], "-29.60000000");
    assert_eq!(movements["data"][0]["transaction"]["code"], "pay");
    let head = shop.send(Method::HEAD, "/orders", None).await;
    assert_eq!(head.status, StatusCode::OK);
}

/// Over all wallets, the system's too: those are shown only by name.
async fn movements_sum_to_zero(shop: &Shop) {
    let url = shop.stack.wiring().admin_url().expect("a url");
    let mut connection = <sqlx::PgConnection as sqlx::Connection>::connect(&url)
        .await
        .expect("Postgres answers");
    let uneven: i64 = sqlx::query_scalar(
        "select count(*) from (
             select asset_code from wallet.movements group by asset_code having sum(amount) <> 0
         ) as uneven",
    )
    .fetch_one(&mut connection)
    .await
    .expect("a count");
    assert_eq!(uneven, 0);
    let total = shop.read("/wallets/balance?filter[assetCode]=usd").await;
    // 100.00 came in, 3.30 + 0.80 - 0.40 of bonus and 5.00 of reward were granted.
    assert_eq!(total[0]["amount"], usd("108.70"));
}
