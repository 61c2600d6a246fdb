//! A client of the REST API.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use reqwest::Method;
use serde_json::Value;
use stack::{Instance, Stack};
use tokio::time::interval;

const POLL_INTERVAL: Duration = Duration::from_millis(25);
/// How long a request is repeated.
const REPEAT_TIMEOUT: Duration = Duration::from_mins(1);

/// A client of a gateway, with the stack's API key. Cloning is cheap.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    base: String,
    api_key: String,
}

/// A response.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Reply {
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Returns whether the outcome is unknown, so that the request may be repeated.
    pub(crate) fn is_transient(&self) -> bool {
        matches!(self.status, 503 | 504) || self.body["code"] == "idempotency_key_in_use"
    }

    pub(crate) fn data(&self) -> &Value {
        &self.body["data"]
    }

    /// Returns the status, and the code of an error: `409 order_busy`.
    pub(crate) fn outcome(&self) -> String {
        match self.body["code"].as_str() {
            Some(code) if !self.is_success() => format!("{} {code}", self.status),
            _ => self.status.to_string(),
        }
    }
}

impl Client {
    /// Makes a client of the stack's gateway.
    pub(crate) fn new(stack: &Stack) -> Self {
        let wiring = stack.wiring();
        Self {
            http: reqwest::Client::new(),
            base: wiring.rest_url(),
            api_key: wiring.secrets.api_key.clone(),
        }
    }

    /// Returns a client of another gateway.
    pub(crate) fn of(&self, gateway: &Instance) -> Self {
        Self {
            base: format!("http://127.0.0.1:{}", gateway.port),
            ..self.clone()
        }
    }

    /// Sends a request, with an idempotency key if one is given.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        key: Option<&str>,
    ) -> anyhow::Result<Reply> {
        let mut request = self
            .http
            .request(method, format!("{}{path}", self.base))
            .header("apikey", &self.api_key);
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = request.send().await?;
        let status = response.status().as_u16();
        let text = response.text().await?;
        let body = serde_json::from_str(&text).unwrap_or(Value::Null);
        Ok(Reply { status, body })
    }

    /// Sends a request until it is answered for good, as clients should: on a busy machine, an answer may
    /// be that it was not possible in time.
    async fn request(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> anyhow::Result<Reply> {
        let key = (method == Method::POST).then(|| format!("{:032x}", rand::random::<u128>()));
        let deadline = Instant::now() + REPEAT_TIMEOUT;
        let mut polls = interval(POLL_INTERVAL);
        loop {
            polls.tick().await;
            let reply = self
                .send(method.clone(), path, body, key.as_deref())
                .await?;
            if !reply.is_transient() || Instant::now() > deadline {
                return Ok(reply);
            }
        }
    }

    /// Sends a POST.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> anyhow::Result<Reply> {
        self.request(Method::POST, path, Some(body)).await
    }

    /// Returns the `data` of a POST that must succeed.
    pub(crate) async fn create(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        let answer = self.post(path, body).await?;
        ensure!(answer.is_success(), "POST {path}: {answer:?}");
        Ok(answer.data().clone())
    }

    /// Sends a PATCH that must succeed.
    pub(crate) async fn update(&self, path: &str, body: &Value) -> anyhow::Result<()> {
        let answer = self.request(Method::PATCH, path, Some(body)).await?;
        ensure!(answer.is_success(), "PATCH {path}: {answer:?}");
        Ok(())
    }

    /// Sends a DELETE that must succeed. A repeated one may find nothing left.
    pub(crate) async fn delete(&self, path: &str) -> anyhow::Result<()> {
        let answer = self.request(Method::DELETE, path, None).await?;
        let is_done = answer.is_success() || answer.status == 404;
        ensure!(is_done, "DELETE {path}: {answer:?}");
        Ok(())
    }

    /// Returns the `data` of a GET that must succeed.
    pub(crate) async fn get(&self, path: &str) -> anyhow::Result<Value> {
        let answer = self.request(Method::GET, path, None).await?;
        ensure!(answer.is_success(), "GET {path}: {answer:?}");
        Ok(answer.data().clone())
    }
}

/// Returns the text of a field.
pub(crate) fn text(value: &Value, field: &str) -> anyhow::Result<String> {
    let text = value[field].as_str();
    let text = text.with_context(|| format!("no text {field} in {value}"))?;
    Ok(text.to_owned())
}

/// Repeats a check until it returns no reason to wait, and fails with the last reason at the deadline.
pub(crate) async fn until<F: Future<Output = anyhow::Result<Option<String>>>>(
    deadline: Instant,
    check: impl Fn() -> F,
) -> anyhow::Result<()> {
    let mut polls = interval(POLL_INTERVAL);
    loop {
        polls.tick().await;
        let Some(reason) = check().await? else {
            return Ok(());
        };
        ensure!(Instant::now() < deadline, "{reason}");
    }
}
