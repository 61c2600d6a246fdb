//! Bad input and bad credentials: the right problem document, and nothing changed.

use e2e::{Shop, usd};
use reqwest::Method;
use serde_json::json;
use stack::{Auth, StackOptions};

#[tokio::test(flavor = "multi_thread")]
async fn bad_input_changes_nothing() {
    let mut options = StackOptions::for_test("refusals").expect("options");
    options.auth = Auth::Required;
    let shop = Shop::open(options).await;
    let key = shop.stack.wiring().secrets.api_key.clone();

    let anonymous = shop.get("/products").await;
    assert_eq!(anonymous.status.as_u16(), 401);
    let shop = shop.with_header("apikey", &key);
    credentials(&shop).await;

    let (ada, bob) = (shop.user("ada").await, shop.user("bob").await);
    shop.fund(&ada["primaryWalletId"], "10.00").await;
    let coffee = shop.product("Coffee", "12.50", "0").await;

    let transfer = |amount: &str| {
        json!({
            "amount": amount, "assetCode": "usd", "code": "internal", "commit": true,
            "originWalletId": ada["primaryWalletId"], "destinationWalletId": bob["primaryWalletId"],
        })
    };
    for amount in [
        "1e3", "+5", "-5", "0", "0.00", ".5", "5.", "1_000", " 5", "0x10", "00005", "",
    ] {
        let document = shop
            .refused(
                "/transactions/transfer",
                transfer(amount),
                422,
                "validation_failed",
            )
            .await;
        assert_eq!(document["errors"][0]["field"], "amount", "{amount}");
    }
    shop.refused(
        "/transactions/transfer",
        transfer("1.001"),
        422,
        "amount_precision",
    )
    .await;
    shop.refused(
        "/transactions/transfer",
        transfer("10.01"),
        422,
        "insufficient_funds",
    )
    .await;
    let mut to_itself = transfer("1");
    to_itself["destinationWalletId"] = ada["primaryWalletId"].clone();
    shop.refused(
        "/transactions/transfer",
        to_itself,
        422,
        "validation_failed",
    )
    .await;

    let order = |line: serde_json::Value| json!({ "userId": ada["id"], "lines": [line] });
    let line = json!({ "productId": bob["id"] });
    let document = shop
        .refused("/orders", order(line), 422, "validation_failed")
        .await;
    assert_eq!(document["errors"][0]["field"], "lines[0].productId");
    for line in [
        json!({ "productId": coffee["id"], "quantity": 0 }),
        json!({ "productId": coffee["id"], "qty": 1 }),
    ] {
        shop.refused("/orders", order(line), 422, "validation_failed")
            .await;
    }
    let mut unaffordable = order(json!({ "productId": coffee["id"] }));
    unaffordable["walletId"] = ada["primaryWalletId"].clone();
    shop.refused("/orders", unaffordable, 422, "insufficient_funds")
        .await;

    for query in [
        "filter[nope]=1",
        "sort=password",
        "page[size]=0",
        "include=everything",
    ] {
        let answer = shop.get(&format!("/products?{query}")).await;
        assert_eq!(answer.body["code"], "invalid_query", "{query}: {answer:?}");
    }
    assert_eq!(shop.get("/orders").await.body["total"], 0);
    assert_eq!(shop.balance(&ada["primaryWalletId"]).await, usd("10.00"));
    assert_eq!(shop.balance(&bob["primaryWalletId"]).await, "0.00000000");
    shop.check_books().await;
}

async fn credentials(shop: &Shop) {
    assert_eq!(shop.get("/products").await.status.as_u16(), 200);
    let client = reqwest::Client::new();
    let url = format!("{}/products", shop.base());
    for wrong in ["gk_wrong", ""] {
        let request = client.request(Method::GET, &url).header("apikey", wrong);
        let answer = request.send().await.expect("an answer");
        assert_eq!(answer.status().as_u16(), 401);
        assert_eq!(answer.headers()["content-type"], "application/problem+json");
    }
    let bearer = &shop.stack.wiring().secrets.api_key;
    let answer = client
        .get(&url)
        .bearer_auth(bearer)
        .send()
        .await
        .expect("an answer");
    assert_eq!(answer.status().as_u16(), 200);
}
