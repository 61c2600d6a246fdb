//! A client of a running stack, with the steps that many tests share.

use std::{
    future::Future,
    time::{Duration, Instant},
};

use platform::{auth::TokenIssuer, testing};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::{Connection as _, PgConnection};
use stack::{Service, Stack, StackOptions};

/// The limit for effects of background work.
const EVENTUALLY_TIMEOUT: Duration = Duration::from_mins(1);
const POLL_INTERVAL: Duration = Duration::from_millis(25);

/// A running stack and a client of its REST API.
#[derive(Debug)]
pub struct TestApp {
    /// The processes.
    pub stack: Stack,
    base: String,
    client: reqwest::Client,
    headers: Vec<(&'static str, String)>,
}

/// A response of the REST API.
#[derive(Debug)]
pub struct ApiResponse {
    /// The HTTP status.
    pub status: StatusCode,
    /// The HTTP headers.
    pub headers: reqwest::header::HeaderMap,
    /// The JSON body, `null` where there is none.
    pub body: Value,
}

/// Formats dollars like a response: `usd("1.50")` is `1.50000000`.
pub fn usd(amount: &str) -> String {
    format!("{amount}000000")
}

impl TestApp {
    /// Starts a stack.
    pub async fn start(options: StackOptions) -> Self {
        let start = tokio::task::spawn_blocking(|| Stack::start(options));
        let stack = start.await.expect("no panic").expect("the stack starts");
        let base = stack.wiring().rest_url();
        Self {
            stack,
            base,
            client: reqwest::Client::new(),
            headers: Vec::new(),
        }
    }

    /// Returns the address of the REST API.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Returns those variables of `.stack/env` that lead to the APIs.
    pub fn shell_variables(&self) -> Vec<(String, String)> {
        let wiring = self.stack.wiring();
        let mut variables = vec![
            ("GUERDON_URL".to_owned(), self.base.clone()),
            ("GUERDON_API_KEY".to_owned(), wiring.secrets.api_key.clone()),
            (
                "GUERDON_MAIL_DIR".to_owned(),
                wiring.mails.display().to_string(),
            ),
        ];
        variables.extend(Service::ALL.map(|service| {
            let context = service.context().to_uppercase();
            (format!("{context}_GRPC_URL"), wiring.grpc_url(service))
        }));
        variables
    }

    /// Starts a process again with these settings.
    pub fn restart_with(&self, process: &str, settings: &[(&str, &str)]) {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let settings: Vec<_> = settings.iter().map(owned).collect();
        self.stack.stop(process).expect("it runs");
        let started = self.stack.start_again(process, &settings);
        started.expect("it starts again");
    }

    /// Adds a header to every request.
    #[must_use]
    pub fn with_header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// Sends a request.
    pub async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> ApiResponse {
        self.try_send(method, path, body)
            .await
            .expect("the gateway responds")
    }

    async fn try_send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> reqwest::Result<ApiResponse> {
        let mut request = self.client.request(method, format!("{}{path}", self.base));
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = request.send().await?;
        let (status, headers) = (response.status(), response.headers().clone());
        let text = response.text().await?;
        let body = serde_json::from_str(&text).unwrap_or(Value::Null);
        Ok(ApiResponse {
            status,
            headers,
            body,
        })
    }

    /// Sends a GET.
    pub async fn get(&self, path: &str) -> ApiResponse {
        self.send(Method::GET, path, None).await
    }

    /// Sends a POST.
    pub async fn post(&self, path: &str, body: Value) -> ApiResponse {
        self.send(Method::POST, path, Some(&body)).await
    }

    /// Sends a DELETE.
    pub async fn delete(&self, path: &str) -> ApiResponse {
        self.send(Method::DELETE, path, None).await
    }

    /// Returns the `data` of a POST that must succeed.
    pub async fn create(&self, path: &str, body: Value) -> Value {
        let response = self.post(path, body).await;
        assert!(response.status.is_success(), "POST {path}: {response:?}");
        response.body["data"].clone()
    }

    /// Returns the `data` of a GET that must succeed.
    pub async fn get_data(&self, path: &str) -> Value {
        let response = self.get(path).await;
        assert_eq!(response.status, StatusCode::OK, "GET {path}: {response:?}");
        response.body["data"].clone()
    }

    /// Repeats the check until it passes.
    ///
    /// # Panics
    /// After a minute, with the last error.
    pub async fn eventually<F: Future<Output = Result<(), String>>>(&self, check: impl Fn() -> F) {
        let deadline = Instant::now() + EVENTUALLY_TIMEOUT;
        let mut interval = tokio::time::interval(POLL_INTERVAL);
        loop {
            interval.tick().await;
            match check().await {
                Ok(()) => return,
                Err(error) => assert!(Instant::now() < deadline, "{error}"),
            }
        }
    }

    /// Returns the usd balance of a wallet.
    pub async fn balance(&self, wallet: &Value) -> String {
        let path = format!("/wallets/{}/balance?filter[assetCode]=usd", text(wallet));
        let entries = self.get_data(&path).await;
        entries[0]["amount"]
            .as_str()
            .unwrap_or("0.00000000")
            .to_owned()
    }

    /// Waits until a wallet has this usd balance.
    pub async fn wait_for_balance(&self, wallet: &Value, expected: &str) {
        self.eventually(|| async {
            let balance = self.balance(wallet).await;
            let message = || format!("the balance is {balance}, not {expected}");
            (balance == expected).then_some(()).ok_or_else(message)
        })
        .await;
    }

    /// Creates an approved user with a primary wallet.
    pub async fn create_user(&self, name: &str) -> Value {
        let body = json!({
            "email": format!("{name}@example.com"), "name": name, "password": "Correct1Horse",
            "approved": true,
        });
        self.create("/users", body).await
    }

    /// Confirms a usd deposit to a wallet.
    pub async fn deposit(&self, wallet: &Value, amount: &str) {
        let body = json!({
            "amount": amount, "assetCode": "usd", "code": "internal", "data": {}, "commit": true,
            "destinationWalletId": wallet,
        });
        let deposit = self.create("/transactions/deposit", body).await;
        let path = format!("/transactions/{}/confirm", text(&deposit["id"]));
        assert_eq!(self.create(&path, json!({})).await["status"], "confirmed");
    }

    /// Creates a product with a bonus, taxed at 20 %.
    pub async fn create_product(&self, name: &str, price: &str, bonus: &str) -> Value {
        let category = self
            .create("/categories", json!({ "title": format!("{name}s") }))
            .await;
        let tax = self
            .create("/tax-rates", json!({ "name": "VAT", "rate": "20" }))
            .await;
        let body = json!({
            "name": name, "price": price, "bonus": bonus, "assetCode": "usd",
            "categoryId": category["id"], "taxRateId": tax["id"], "allowChoosingQuantity": true,
        });
        self.create("/products", body).await
    }

    /// Orders a unit of a product, paid from the buyer's primary wallet.
    pub async fn order(&self, buyer: &Value, product: &Value) -> Value {
        let body = json!({
            "userId": buyer["id"], "lines": [{ "productId": product["id"] }],
            "walletId": buyer["primaryWalletId"],
        });
        let order = self.create("/orders", body).await;
        assert_eq!(order["paymentStatus"], "fully_paid");
        order
    }

    /// Asserts that a POST fails with this status and code, and returns the problem document.
    pub async fn expect_error(&self, path: &str, body: Value, status: u16, code: &str) -> Value {
        let response = self.post(path, body).await;
        assert_eq!(response.status.as_u16(), status, "{path}: {response:?}");
        assert_eq!(response.body["code"], code, "{path}: {response:?}");
        response.body
    }

    /// Asserts that the ledger is consistent, every event is published, and no two events of an aggregate
    /// have one version, as after any test, whatever was killed in it.
    pub async fn assert_settled(&self) {
        let verified = self.stack.verify_ledger();
        verified.expect("the ledger is consistent");
        assert_eq!(self.repeated_versions().await, Vec::<String>::new());
        self.eventually(|| async {
            let unpublished = self.unpublished().await;
            let message = || format!("{unpublished} ranges of events are not published");
            (unpublished == 0).then_some(()).ok_or_else(message)
        })
        .await;
    }

    /// Returns an issuer with the key of the stack's identity-svc.
    pub async fn token_issuer(&self) -> TokenIssuer {
        let key = &self.stack.wiring().secrets.key_encryption_key;
        let issuer = testing::stored_issuer(&mut self.connect().await, key).await;
        issuer.expect("identity-svc has stored its key")
    }

    async fn unpublished(&self) -> i64 {
        let count = "select (select count(*) from catalog.outbox_pending)
                          + (select count(*) from orders.outbox_pending)
                          + (select count(*) from wallet.outbox_pending)
                          + (select count(*) from identity.outbox_pending)";
        sqlx::query_scalar(count)
            .fetch_one(&mut self.connect().await)
            .await
            .expect("a count")
    }

    /// Returns the versions that several events of an aggregate have. No index prevents them, and consumers
    /// that keep the newest state would skip one of the events.
    async fn repeated_versions(&self) -> Vec<String> {
        let repeated = "select aggregate_kind || ' ' || aggregate_id || ' ' || aggregate_version
             from (select 'catalog', * from catalog.outbox
                   union all select 'orders', * from orders.outbox
                   union all select 'wallet', * from wallet.outbox
                   union all select 'identity', * from identity.outbox) as events (schema)
             group by schema, aggregate_kind, aggregate_id, aggregate_version
             having count(*) > 1";
        sqlx::query_scalar(repeated)
            .fetch_all(&mut self.connect().await)
            .await
            .expect("versions")
    }

    /// Returns a superuser's connection to the database.
    pub async fn connect(&self) -> PgConnection {
        let url = self.stack.wiring().admin_url().expect("a url");
        let connection = PgConnection::connect(&url).await;
        connection.expect("Postgres responds")
    }
}

/// Returns the string in a JSON value.
pub fn text(value: &Value) -> &str {
    value
        .as_str()
        .unwrap_or_else(|| panic!("{value} is not a string"))
}
