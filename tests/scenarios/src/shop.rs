//! What the scenarios begin with: buyers with money, and products.

use serde_json::{Value, json};

use crate::client::{Client, text};

/// A user with a wallet.
#[derive(Debug, Clone)]
pub(crate) struct Buyer {
    pub(crate) id: String,
    pub(crate) wallet: String,
}

/// Creates an approved user with this much usd, if any.
pub(crate) async fn create_buyer(client: &Client, name: &str, usd: u32) -> anyhow::Result<Buyer> {
    let user = json!({
        "email": format!("{name}@example.com"), "password": "Correct1Horse", "approved": true,
    });
    let user = client.create("/users", &user).await?;
    let buyer = Buyer {
        id: text(&user, "id")?,
        wallet: text(&user, "primaryWalletId")?,
    };
    if usd > 0 {
        deposit(client, &buyer, usd, "usd").await?;
    }
    Ok(buyer)
}

/// Puts this much of an asset into a buyer's wallet.
pub(crate) async fn deposit(
    client: &Client,
    buyer: &Buyer,
    amount: u32,
    asset: &str,
) -> anyhow::Result<()> {
    let deposit = json!({
        "amount": amount.to_string(), "assetCode": asset, "code": "internal", "data": {},
        "commit": true, "destinationWalletId": buyer.wallet,
    });
    let deposit = client.create("/transactions/deposit", &deposit).await?;
    let path = format!("/transactions/{}/confirm", text(&deposit, "id")?);
    client.create(&path, &json!({})).await?;
    Ok(())
}

/// Creates a category for products.
pub(crate) async fn create_category(client: &Client) -> anyhow::Result<String> {
    let category = json!({ "title": "All" });
    text(&client.create("/categories", &category).await?, "id")
}

/// Creates a product of 10.00 usd without tax, with a bonus of 1.00.
pub(crate) async fn create_product(client: &Client) -> anyhow::Result<String> {
    let product = json!({
        "name": "Tea", "price": "10", "bonus": "1", "assetCode": "usd",
        "categoryId": create_category(client).await?, "allowChoosingQuantity": true,
    });
    text(&client.create("/products", &product).await?, "id")
}

/// Returns a cart of one unit.
pub(crate) fn cart(buyer: &Buyer, product: &str) -> Value {
    json!({ "userId": buyer.id, "lines": [{ "productId": product }] })
}

/// Creates an order of one unit, paid if so wanted, and returns its path.
pub(crate) async fn create_order(
    client: &Client,
    buyer: &Buyer,
    product: &str,
    paid: bool,
) -> anyhow::Result<String> {
    let mut cart = cart(buyer, product);
    if paid {
        cart["walletId"] = json!(buyer.wallet);
    }
    let order = client.create("/orders", &cart).await?;
    Ok(format!("/orders/{}", text(&order, "id")?))
}
