//! A client of a running stack, with the steps that many tests begin with.

use std::{
    future::Future,
    time::{Duration, Instant},
};

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use stack::{Stack, StackOptions};

/// How long anything that happens by itself may take.
const PATIENCE: Duration = Duration::from_mins(1);
const POLL: Duration = Duration::from_millis(25);

/// A stack and its REST API.
#[derive(Debug)]
pub struct Shop {
    /// The processes.
    pub stack: Stack,
    base: String,
    client: reqwest::Client,
    headers: Vec<(&'static str, String)>,
}

/// Status and body of an answer.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: reqwest::header::HeaderMap,
    /// The body, `null` where there is none.
    pub body: Value,
}

/// Dollars as answers show them: `usd("1.50")` is `1.50000000`.
pub fn usd(amount: &str) -> String {
    format!("{amount}000000")
}

impl Shop {
    /// Starts a stack.
    pub async fn open(options: StackOptions) -> Self {
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

    /// Where the API is.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// The same shop with a header on every request.
    #[must_use]
    pub fn with_header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// Sends a request.
    pub async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Answer {
        self.try_send(method, path, body)
            .await
            .expect("the gateway answers")
    }

    async fn try_send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> reqwest::Result<Answer> {
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
        Ok(Answer {
            status,
            headers,
            body,
        })
    }

    /// GET.
    pub async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, None).await
    }

    /// POST.
    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(Method::POST, path, Some(&body)).await
    }

    /// The `data` of a POST that must succeed.
    pub async fn make(&self, path: &str, body: Value) -> Value {
        let answer = self.post(path, body).await;
        assert!(answer.status.is_success(), "POST {path}: {answer:?}");
        answer.body["data"].clone()
    }

    /// The `data` of a GET that must succeed.
    pub async fn read(&self, path: &str) -> Value {
        let answer = self.get(path).await;
        assert_eq!(answer.status, StatusCode::OK, "GET {path}: {answer:?}");
        answer.body["data"].clone()
    }

    /// Asks until the check passes.
    ///
    /// # Panics
    /// After a minute, with the last thing that was wrong.
    pub async fn until<F: Future<Output = Result<(), String>>>(&self, check: impl Fn() -> F) {
        let end = Instant::now() + PATIENCE;
        let mut ticks = tokio::time::interval(POLL);
        loop {
            ticks.tick().await;
            match check().await {
                Ok(()) => return,
                Err(wrong) => assert!(Instant::now() < end, "{wrong}"),
            }
        }
    }

    /// What a wallet holds of usd.
    pub async fn balance(&self, wallet: &Value) -> String {
        let path = format!("/wallets/{}/balance?filter[assetCode]=usd", text(wallet));
        let entries = self.read(&path).await;
        entries[0]["amount"]
            .as_str()
            .unwrap_or("0.00000000")
            .to_owned()
    }

    /// Waits until a wallet holds so much usd.
    pub async fn until_balance(&self, wallet: &Value, amount: &str) {
        self.until(|| async {
            let held = self.balance(wallet).await;
            if held == amount {
                Ok(())
            } else {
                Err(format!("holds {held}, not {amount}"))
            }
        })
        .await;
    }

    /// An approved user with a primary wallet.
    pub async fn user(&self, name: &str) -> Value {
        let body = json!({
            "email": format!("{name}@example.com"), "name": name, "password": "Correct1Horse",
            "approved": true,
        });
        self.make("/users", body).await
    }

    /// Brings so much usd into a wallet.
    pub async fn fund(&self, wallet: &Value, amount: &str) {
        let body = json!({
            "amount": amount, "assetCode": "usd", "code": "internal", "data": {}, "commit": true,
            "destinationWalletId": wallet,
        });
        let deposit = self.make("/transactions/deposit", body).await;
        let path = format!("/transactions/{}/confirm", text(&deposit["id"]));
        assert_eq!(self.make(&path, json!({})).await["status"], "confirmed");
    }

    /// A product with a bonus, taxed at 20 %.
    pub async fn product(&self, name: &str, price: &str, bonus: &str) -> Value {
        let category = self
            .make("/categories", json!({ "title": format!("{name}s") }))
            .await;
        let tax = self
            .make("/tax-rates", json!({ "name": "VAT", "rate": "20" }))
            .await;
        let body = json!({
            "name": name, "price": price, "bonus": bonus, "assetCode": "usd",
            "categoryId": category["id"], "taxRateId": tax["id"], "allowChoosingQuantity": true,
        });
        self.make("/products", body).await
    }

    /// Asserts that a request is refused with this status and code, and gives the document.
    pub async fn refused(&self, path: &str, body: Value, status: u16, code: &str) -> Value {
        let answer = self.post(path, body).await;
        assert_eq!(answer.status.as_u16(), status, "{path}: {answer:?}");
        assert_eq!(answer.body["code"], code, "{path}: {answer:?}");
        answer.body
    }

    /// Asserts that money is conserved and nothing was left unpublished: what must hold after any
    /// test, whatever was killed in it.
    pub async fn check_books(&self) {
        let program = self.stack.program("wallet-svc").expect("it is built");
        let url = self
            .stack
            .wiring()
            .app_url(stack::Service::Wallet)
            .expect("a url");
        let verify = tokio::process::Command::new(program)
            .arg("verify")
            .env("WALLET_DATABASE_URL", url)
            .env("SERVICE_SECRET", "unused")
            .output();
        let output = verify.await.expect("wallet-svc runs");
        assert!(output.status.success(), "{output:?}");
        self.until(|| async {
            let unpublished = self.unpublished().await;
            if unpublished == 0 {
                Ok(())
            } else {
                Err(format!("{unpublished} runs of events wait"))
            }
        })
        .await;
    }

    async fn unpublished(&self) -> i64 {
        let url = self.stack.wiring().admin_url().expect("a url");
        let mut connection = <sqlx::PgConnection as sqlx::Connection>::connect(&url).await;
        let count = "select (select count(*) from catalog.outbox_pending)
                          + (select count(*) from orders.outbox_pending)
                          + (select count(*) from wallet.outbox_pending)
                          + (select count(*) from identity.outbox_pending)";
        let connection = connection.as_mut().expect("Postgres answers");
        sqlx::query_scalar(count)
            .fetch_one(connection)
            .await
            .expect("a count")
    }
}

/// An id out of a body.
pub fn text(value: &Value) -> &str {
    value
        .as_str()
        .unwrap_or_else(|| panic!("{value} is no text"))
}
