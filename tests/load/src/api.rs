//! A client of the public REST API.

use anyhow::ensure;
use reqwest::{Client, RequestBuilder, StatusCode};
use serde_json::Value;

use crate::environment::Environment;

/// A client with the stack's API key. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Api {
    client: Client,
    base: String,
    key: String,
}

impl Api {
    /// Makes a client of the environment's gateway.
    pub fn new(environment: &Environment) -> Self {
        let wiring = environment.stack.wiring();
        Self {
            client: Client::new(),
            base: wiring.rest_url(),
            key: wiring.secrets.api_key.clone(),
        }
    }

    /// Returns a client of another gateway.
    pub fn at(&self, base: String) -> Self {
        Self {
            base,
            ..self.clone()
        }
    }

    /// Returns a client with another API key.
    pub fn with_key(&self, key: String) -> Self {
        Self {
            key,
            ..self.clone()
        }
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// Begins a GET.
    pub fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(self.url(path)).header("apikey", &self.key)
    }

    /// Begins a POST.
    pub fn post(&self, path: &str) -> RequestBuilder {
        self.client.post(self.url(path)).header("apikey", &self.key)
    }

    /// Creates a resource and returns it.
    pub async fn create(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        let response = self.post(path).json(body).send().await?;
        let status = response.status();
        let mut body: Value = response.json().await?;
        ensure!(status.is_success(), "POST {path}: {status} {body}");
        Ok(body["data"].take())
    }
}

/// Why a request has failed.
#[derive(Debug)]
pub struct Failure {
    /// The status of the response, if there was one.
    pub status: Option<StatusCode>,
    /// The status with the code and detail of the problem, or why there is no response.
    pub reason: String,
}

/// Sends a request, and returns the body of the response.
pub async fn send(request: RequestBuilder) -> Result<String, Failure> {
    let sent = async {
        let response = request.send().await?;
        Ok((response.status(), response.text().await?))
    };
    let (status, body) = sent.await.map_err(|error: reqwest::Error| Failure {
        status: None,
        reason: format!("{:#}", anyhow::Error::from(error)),
    })?;
    if status.is_success() {
        return Ok(body);
    }
    let problem: Value = serde_json::from_str(&body).unwrap_or_default();
    let (code, detail) = (&problem["code"], &problem["detail"]);
    Err(Failure {
        status: Some(status),
        reason: format!("{} {code} {detail}", status.as_u16()),
    })
}
