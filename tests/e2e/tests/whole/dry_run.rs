//! The dry run of an order equals the order that follows, over random carts: refusals of the ledger
//! included, which decides both.

use std::collections::BTreeMap;

use e2e::{ApiResponse, TestApp, text};
use futures::{StreamExt as _, stream};
use rand::{Rng as _, SeedableRng as _, rngs::StdRng, seq::IndexedRandom as _};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::PgConnection;
use stack::StackOptions;

const CARTS: usize = 1_000;
/// The carts of one buyer are ordered one after the other, so that nothing comes between a dry run and
/// its order. More buyers than cores would wait for each other, on a slow machine beyond a call's timeout.
const BUYERS: usize = 2;
const UNKNOWN: &str = "01920000-0000-7000-8000-000000000000";

/// What carts are made of.
struct Fixture {
    app: TestApp,
    products: Vec<Value>,
}

/// A buyer with two wallets, one of which may be locked.
struct Buyer {
    id: Value,
    wallets: Vec<Value>,
    random: StdRng,
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_equals_the_order_that_follows() {
    let app = TestApp::start(StackOptions::for_test("dry-run").expect("options")).await;
    let mut database = app.connect().await;
    let fixture = stock(app, &mut database).await;
    let mut buyers: Vec<_> = stream::iter(0..BUYERS)
        .then(|number| create_buyer(&fixture.app, number))
        .collect()
        .await;
    patch(&fixture.app, "/assets/gem", json!({ "enabled": false })).await;
    let mut outcomes = order_all(&fixture, &mut buyers, CARTS * 9 / 10).await;
    let default_wallet = default_wallet(&mut database).await;
    lock(&fixture.app, &default_wallet, true).await;
    for (code, count) in order_all(&fixture, &mut buyers, CARTS / 10).await {
        *outcomes.entry(code).or_default() += count;
    }

    let accepted = outcomes["accepted"];
    assert_eq!(fixture.app.get("/orders").await.body["total"], accepted);
    assert_eq!(outcomes.values().sum::<usize>(), CARTS);
    for code in [
        "accepted",
        "insufficient_funds",
        "wallet_locked",
        "asset_disabled",
        "amount_precision",
        "validation_failed",
        "mixed_assets",
        "product_unavailable",
    ] {
        assert!(outcomes.get(code) > Some(&9), "{code}: {outcomes:?}");
    }
    fixture.app.assert_settled().await;
}

async fn default_wallet(database: &mut PgConnection) -> Value {
    let id: String = sqlx::query_scalar("select value from wallet.settings")
        .fetch_one(database)
        .await
        .expect("one setting");
    json!(id)
}

/// Creates products in usd, in an asset that is disabled afterwards, and in one that loses decimals,
/// which only a repair by hand can do to it.
async fn stock(app: TestApp, database: &mut PgConnection) -> Fixture {
    for code in ["gem", "dust"] {
        app.create("/assets", json!({ "code": code, "name": code }))
            .await;
    }
    let category = app.create("/categories", json!({ "title": "All" })).await;
    let tax = app
        .create("/tax-rates", json!({ "name": "VAT", "rate": "7.5" }))
        .await;
    let mut products = Vec::new();
    for (asset, price, available, choice) in [
        ("usd", "0.33", true, true),
        ("usd", "3", true, true),
        ("usd", "12.5", true, false),
        ("usd", "0", true, true),
        ("usd", "1", false, true),
        ("gem", "1", true, true),
        ("dust", "0.12345678", true, true),
        ("dust", "0.5", true, true),
    ] {
        let body = json!({
            "name": format!("{asset} {price}"), "price": price, "assetCode": asset,
            "categoryId": category["id"], "taxRateId": tax["id"],
            "available": available, "allowChoosingQuantity": choice,
        });
        products.push(app.create("/products", body).await["id"].clone());
    }
    sqlx::query(
        "update wallet.assets set decimal_places = 2, version = version + 1 where code = 'dust'",
    )
    .execute(database)
    .await
    .expect("the asset changes");
    Fixture { app, products }
}

async fn create_buyer(app: &TestApp, number: usize) -> Buyer {
    let user = app.create_user(&format!("buyer{number}")).await;
    let second = app
        .create("/wallets", json!({ "ownerId": user["id"] }))
        .await;
    let wallets = vec![user["primaryWalletId"].clone(), second["id"].clone()];
    for (asset, amount) in [("usd", "150"), ("dust", "5"), ("gem", "100")] {
        for wallet in &wallets {
            deposit(app, wallet, asset, amount).await;
        }
    }
    Buyer {
        id: user["id"].clone(),
        wallets,
        random: StdRng::seed_from_u64(number as u64),
    }
}

async fn deposit(app: &TestApp, wallet: &Value, asset: &str, amount: &str) {
    let body = json!({
        "amount": amount, "assetCode": asset, "code": "internal", "data": {}, "commit": true,
        "destinationWalletId": wallet,
    });
    let deposit = app.create("/transactions/deposit", body).await;
    let path = format!("/transactions/{}/confirm", text(&deposit["id"]));
    app.create(&path, json!({})).await;
}

async fn lock(app: &TestApp, wallet: &Value, locked: bool) {
    let path = format!("/wallets/{}", text(wallet));
    patch(app, &path, json!({ "locked": locked })).await;
}

async fn patch(app: &TestApp, path: &str, body: Value) {
    let response = app.send(Method::PATCH, path, Some(&body)).await;
    assert_eq!(response.status, StatusCode::OK, "{response:?}");
}

/// Orders so many carts, and counts how it ended by code.
async fn order_all(
    fixture: &Fixture,
    buyers: &mut [Buyer],
    carts: usize,
) -> BTreeMap<String, usize> {
    let buying = buyers.iter_mut().enumerate().map(async |(number, buyer)| {
        let mut outcomes = Vec::new();
        for _ in (number..carts).step_by(BUYERS) {
            outcomes.push(order_one(fixture, buyer).await);
        }
        outcomes
    });
    let mut counts = BTreeMap::new();
    for code in futures::future::join_all(buying).await.concat() {
        *counts.entry(code).or_default() += 1;
    }
    counts
}

/// Orders a random cart, first as a dry run.
async fn order_one(fixture: &Fixture, buyer: &mut Buyer) -> String {
    let app = &fixture.app;
    if buyer.random.random_bool(0.1) {
        let locked = buyer.random.random_bool(0.5);
        lock(app, &buyer.wallets[0], locked).await;
    }
    let cart = cart(fixture, buyer);
    let mut dry_run = cart.clone();
    dry_run["dryRun"] = json!(true);
    let dry_run = app.post("/orders", dry_run).await;
    let order = app.post("/orders", cart.clone()).await;
    assert_eq!(
        outcome(&dry_run),
        outcome(&order),
        "{cart} {dry_run:?} {order:?}"
    );
    assert_eq!(without_ids(&dry_run), without_ids(&order), "{cart}");
    outcome(&order)
}

fn cart(fixture: &Fixture, buyer: &mut Buyer) -> Value {
    let random = &mut buyer.random;
    // Products in one asset are next to each other, so that few carts mix them.
    let start = random.random_range(0..fixture.products.len());
    let lines: Vec<_> = (0..random.random_range(1..=3))
        .map(|_| {
            let end = (start + 2).min(fixture.products.len());
            let product = random.random_range(start..end);
            let mut line = json!({ "productId": fixture.products[product] });
            if random.random_bool(0.5) {
                line["quantity"] = json!(random.random_range(1..=3));
            }
            line
        })
        .collect();
    let mut cart = json!({ "userId": buyer.id, "lines": lines });
    match random.random_range(0..20) {
        0 => {}
        1 => cart["walletId"] = json!(UNKNOWN),
        _ => cart["walletId"] = buyer.wallets.choose(random).cloned().into(),
    }
    if random.random_bool(0.2) {
        cart["useBonus"] = json!(true);
    }
    if random.random_bool(0.2) {
        cart["deliveryMethod"] = json!("shipping");
        cart["shippingAddressId"] = json!("home");
    }
    cart
}

fn outcome(response: &ApiResponse) -> String {
    match response.status {
        StatusCode::OK | StatusCode::CREATED => "accepted".to_owned(),
        _ => text(&response.body["code"]).to_owned(),
    }
}

/// Returns the body without what differs between any two requests.
fn without_ids(response: &ApiResponse) -> Value {
    let mut body = response.body.clone();
    for name in ["requestId", "traceId"] {
        body[name] = Value::Null;
    }
    if body["data"].is_object() {
        let order = &mut body["data"];
        for name in ["id", "reference", "createdAt", "updatedAt", "paidAt"] {
            order[name] = Value::Null;
        }
        for line in order["lines"].as_array_mut().into_iter().flatten() {
            for name in ["id", "orderId", "createdAt", "updatedAt"] {
                line[name] = Value::Null;
            }
        }
    }
    body
}
