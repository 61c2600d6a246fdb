//! Real things for the paths and bodies of requests. A route with a new kind of thing fails until it is
//! made here.

use std::sync::atomic::{AtomicUsize, Ordering};

use e2e::{TestApp, text};
use reqwest::Method;
use serde_json::{Value, json};

/// Two users and what one of them owns.
pub(crate) struct Samples {
    /// A user with money and an order.
    pub(crate) owner: Value,
    /// A user who owns nothing else than an empty wallet.
    pub(crate) other: Value,
    /// The email of a user who gets money from the owner, and so sees the owner's wallet.
    recipient: Value,
    product: Value,
    /// A wallet of nobody.
    shop_wallet: Value,
    /// The number of users made for single requests.
    users: AtomicUsize,
}

impl Samples {
    pub(crate) async fn create(app: &TestApp) -> Self {
        let owner = app.create_user("Owner1").await;
        let other = app.create_user("other").await;
        let recipient = app.create_user("recipient").await;
        app.deposit(&owner["primaryWalletId"], "1000").await;
        let product = app.create_product("Coffee", "1", "0.1").await;
        let samples = Self {
            owner,
            other,
            recipient: recipient["email"].clone(),
            product,
            shop_wallet: app.create("/wallets", json!({"name": "Shop"})).await,
            users: AtomicUsize::new(0),
        };
        samples.address(app, "owned-address").await;
        samples.order(app).await;
        samples
    }

    /// Tells whether a response shows something of the owner.
    pub(crate) fn is_named_in(&self, response: &str) -> bool {
        let own = [&self.owner["id"], &self.owner["primaryWalletId"]];
        own.into_iter().any(|id| response.contains(text(id)))
    }

    /// Returns a path with real ids, of the owner's things, and a body if the method takes one.
    /// `is_owners`: the owner may do it.
    pub(crate) async fn request(
        &self,
        app: &TestApp,
        method: &Method,
        route: &str,
        is_owners: bool,
    ) -> (String, Option<Value>) {
        let body = (method == Method::POST || method == Method::PATCH).then(|| self.body(route));
        (self.path(app, route, is_owners).await, body)
    }

    /// Returns a body of which the ownership is checked; `{}` where the path says what is meant.
    pub(crate) fn body(&self, route: &str) -> Value {
        let wallet = &self.owner["primaryWalletId"];
        let debit = |more: Value| {
            let mut body = json!({"amount": "1", "assetCode": "usd", "originWalletId": wallet});
            for (name, value) in more.as_object().into_iter().flatten() {
                body[name] = value.clone();
            }
            body
        };
        match route {
            "/orders" => json!({"userId": self.owner["id"],
                "lines": [{"productId": self.product["id"]}]}),
            "/transactions/pay" => debit(json!({})),
            "/transactions/send" => debit(json!({
                "destinationEmail": self.recipient})),
            "/transactions/transfer" => debit(json!({"code": "internal",
                "destinationWalletId": self.shop_wallet["id"]})),
            "/transactions/withdrawal" => debit(json!({"code": "internal"})),
            "/transactions/exchange" => json!({"walletId": wallet, "baseAssetCode": "usd",
                "quoteAssetCode": "eur", "baseAmount": "1"}),
            "/orders/{id}/refund" => json!({"amount": "1"}),
            "/invites" => json!({"inviterUserId": self.owner["id"]}),
            "/invites/send" => json!({"inviterUserId": self.owner["id"],
                "email": ["friend@example.com"]}),
            "/users/{id}/change-email" => json!({"email": self.owner["email"]}),
            // Made of the email, and so refused: a changed password would end the owner's tokens.
            "/users/{id}/change-password" => json!({"password": self.owner["email"]}),
            _ => json!({}),
        }
    }

    pub(crate) async fn path(&self, app: &TestApp, route: &str, is_owners: bool) -> String {
        let mut segments: Vec<String> = Vec::new();
        let mut parent = "";
        for segment in route.split('/').skip(1) {
            let name = segment
                .strip_prefix('{')
                .and_then(|name| name.strip_suffix('}'));
            match name {
                Some(_) if parent == "users" => {
                    let user = self.user(app, is_owners).await;
                    segments.push(text(&user["id"]).to_owned());
                }
                Some(name) => segments.push(self.value(app, parent, name, &segments).await),
                None => {
                    parent = segment;
                    segments.push(segment.to_owned());
                }
            }
        }
        format!("/{}", segments.join("/"))
    }

    /// Creates the thing that a parameter below `parent` names.
    async fn value(&self, app: &TestApp, parent: &str, name: &str, before: &[String]) -> String {
        let created = match (parent, name) {
            ("addresses", _) => return "owned-address".to_owned(),
            ("api-keys", _) => {
                let key = json!({"name": "Sample", "roles": ["user"]});
                app.create("/api-keys", key).await
            }
            ("assets", _) => return "points".to_owned(),
            ("payment-methods", _) => {
                let methods = app.get_data("/payment-methods").await;
                return text(&methods[0]["slug"]).to_owned();
            }
            ("rates", "baseAssetCode") => return "usd".to_owned(),
            ("rates", _) => {
                let rate = json!({"baseAssetCode": "usd", "quoteAssetCode": "eur", "rate": "0.9"});
                app.post("/rates", rate).await;
                return "eur".to_owned();
            }
            ("invites", _) => {
                let invite = json!({"inviterUserId": self.owner["id"]});
                let invite = app.create("/invites", invite).await;
                return text(&invite["code"]).to_owned();
            }
            ("categories", _) => app.create("/categories", json!({"title": "Sample"})).await,
            ("movements", _) => {
                let wallet = text(&self.owner["primaryWalletId"]);
                let path = format!("/wallets/{wallet}/movements");
                app.get_data(&path).await[0].clone()
            }
            ("order" | "orders", _) => self.order(app).await,
            ("lines", _) => {
                let path = format!("/orders/{}/lines", before[1]);
                app.get_data(&path).await[0].clone()
            }
            ("products", _) => app.create_product("Sample", "1", "0").await,
            ("questions", _) => self.question(app, before).await,
            ("tasks", _) => {
                let task = json!({"name": "Survey", "description": "Two questions",
                    "type": "survey", "amount": "1"});
                app.create("/tasks", task).await
            }
            ("tax-rates", _) => {
                app.create("/tax-rates", json!({"name": "VAT", "rate": "5"}))
                    .await
            }
            ("transactions", _) => {
                let deposit = json!({"amount": "1", "assetCode": "usd", "code": "internal",
                    "data": {}, "destinationWalletId": self.owner["primaryWalletId"]});
                app.create("/transactions/deposit", deposit).await
            }
            ("webhooks", _) => {
                let webhook = json!({"url": "https://shop.example/hook", "events": ["*"]});
                app.create("/webhooks", webhook).await
            }
            ("deliveries", _) => self.delivery(app, &before[1]).await,
            ("wallets", _) => {
                let wallet = json!({"name": "Sample", "ownerId": self.owner["id"]});
                app.create("/wallets", wallet).await
            }
            _ => panic!("no sample of {{{name}}} below /{parent}: add one"),
        };
        text(&created["id"]).to_owned()
    }

    async fn order(&self, app: &TestApp) -> Value {
        let cart = json!({"userId": self.owner["id"],
            "lines": [{"productId": self.product["id"]}]});
        app.create("/orders", cart).await
    }

    /// Makes an event and waits until it is queued for the webhook.
    async fn delivery(&self, app: &TestApp, webhook: &str) -> Value {
        self.user(app, false).await;
        let path = format!("/webhooks/{webhook}/deliveries");
        app.eventually(|| async {
            let is_queued = app.get_data(&path).await[0].is_object();
            is_queued
                .then_some(())
                .ok_or("nothing is queued".to_owned())
        })
        .await;
        app.get_data(&path).await[0].clone()
    }

    async fn address(&self, app: &TestApp, address: &str) {
        let address = json!({"address": address, "walletId": self.owner["primaryWalletId"]});
        app.create("/addresses", address).await;
    }

    /// Returns the owner, or a user whom the request may block or delete.
    async fn user(&self, app: &TestApp, is_owners: bool) -> Value {
        if is_owners {
            return self.owner.clone();
        }
        let number = self.users.fetch_add(1, Ordering::Relaxed);
        app.create_user(&format!("sample-{number}")).await
    }

    /// Creates a question; below a product, one of its own.
    async fn question(&self, app: &TestApp, before: &[String]) -> Value {
        let question = json!({"title": "Engraving", "typeCode": "text",
            "productTypeCode": "physical"});
        let question = app.create("/questions", question).await;
        if let [products, product, ..] = before
            && products == "products"
        {
            let path = format!("/products/{product}/questions");
            app.create(&path, json!({"questionId": question["id"]}))
                .await;
        }
        question
    }
}
