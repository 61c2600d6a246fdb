//! `cargo stack up --seed demo`: the shop to play with.

use e2e::{Shop, text, usd};
use reqwest::Method;
use serde_json::Value;
use stack::{
    Auth, StackOptions,
    demo::{self, Tally},
};

async fn seed(shop: &Shop, key: &str) -> Result<Tally, String> {
    let (base, key) = (shop.base().to_owned(), key.to_owned());
    let seed = tokio::task::spawn_blocking(move || demo::seed(&base, &key));
    seed.await
        .expect("no panic")
        .map_err(|error| format!("{error:#}"))
}

async fn total(shop: &Shop, list: &str) -> u64 {
    let answer = shop.get(list).await;
    answer.body["total"]
        .as_u64()
        .unwrap_or_else(|| panic!("{list}: {answer:?}"))
}

async fn user(shop: &Shop, email: &str) -> Value {
    let mut users = shop.read(&format!("/users?filter[email]={email}")).await;
    users[0].take()
}

/// All that nothing but the seed writes.
async fn everything(shop: &Shop) -> Vec<Value> {
    let mut lists = Vec::new();
    for list in [
        "/categories?page[size]=100",
        "/tax-rates?page[size]=100",
        "/questions?page[size]=100",
        "/products?page[size]=100&include=questions",
        "/users?page[size]=100",
        "/tasks?page[size]=100",
        "/orders?page[size]=100&include=lines",
        "/transactions?page[size]=100&filter[code]=in:bank:wire,pay,refund",
    ] {
        lists.push(shop.read(list).await);
    }
    lists
}

#[tokio::test(flavor = "multi_thread")]
async fn the_demo_shop_is_made_once() {
    let options = StackOptions {
        auth: Auth::Required,
        ..StackOptions::for_test("demo").expect("options")
    };
    let shop = Shop::open(options).await;
    let key = shop.stack.wiring().secrets.api_key.clone();
    let shop = shop.with_header("apikey", &key);

    let refused = seed(&shop, "gk_wrong").await.expect_err("a wrong key");
    let request = "GET /tax-rates?filter[name]=Standard was refused: 401 unauthenticated";
    assert!(refused.contains(request), "{refused}");

    let made = seed(&shop, &key).await.expect("the shop is made");
    for (list, kind, count) in [
        ("/tax-rates", "tax rates", 3),
        ("/categories", "categories", 5),
        ("/questions", "questions", 5),
        ("/products", "products", 30),
        ("/users", "users", 4),
        ("/tasks", "tasks", 4),
        ("/orders", "orders", 7),
    ] {
        assert_eq!(made.made(kind) as u64, count, "{made}");
        assert_eq!(total(&shop, list).await, count, "{list}");
    }
    assert_eq!(made.made("deposits"), 5, "{made}");
    orders_are_in_all_states(&shop).await;

    // 290.00 came in; two orders (97.68 and 86.90) earned 8.20, two tasks 4.50.
    let ada = user(&shop, "ada@demo.example").await;
    shop.until_balance(&ada["primaryWalletId"], &usd("118.12"))
        .await;
    // 80.00 came in; a refunded order left nothing behind, a gift card cost 25.00.
    let chiara = user(&shop, "chiara@demo.example").await;
    shop.until_balance(&chiara["primaryWalletId"], &usd("55.00"))
        .await;

    let before = everything(&shop).await;
    let again = seed(&shop, &key).await.expect("the shop is there");
    assert!(again.is_empty(), "{again}");
    assert_eq!(everything(&shop).await, before);

    let throw = shop.read("/products?filter[name]=Wool%20Throw").await;
    let path = format!("/products/{}", text(&throw[0]["id"]));
    assert_eq!(
        shop.send(Method::DELETE, &path, None).await.status.as_u16(),
        204
    );
    let mended = seed(&shop, &key).await.expect("the shop is mended");
    assert_eq!(mended.to_string(), "1 products made");
    shop.check_books().await;
}

async fn orders_are_in_all_states(shop: &Shop) {
    for (filter, count) in [
        ("filter[paymentStatus]=unpaid", 2),
        ("filter[paymentStatus]=paid", 1),
        ("filter[paymentStatus]=fully_paid", 3),
        ("filter[paymentStatus]=fully_refunded", 1),
        ("filter[orderStatus]=fulfilled", 2),
        ("filter[orderStatus]=canceled", 1),
    ] {
        let orders = format!("/orders?{filter}");
        assert_eq!(total(shop, &orders).await, count, "{filter}");
    }
    let linked = shop
        .read("/products?include=questions&filter[name]=Latte%20Art%20Course")
        .await;
    let questions = linked[0]["questions"].as_array().expect("questions");
    assert_eq!(questions.len(), 2, "{linked}");
}
