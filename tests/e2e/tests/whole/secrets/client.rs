//! A client that keeps every response, to search them for secrets.

use e2e::TestApp;
use reqwest::{Method, RequestBuilder};
use serde_json::Value;

/// A client of one stack.
pub(super) struct Client {
    base: String,
    http: reqwest::Client,
    /// A key with the role admin.
    admin_key: String,
    kept: String,
}

impl Client {
    pub(super) fn new(app: &TestApp) -> Self {
        Self {
            base: app.base().to_owned(),
            http: reqwest::Client::new(),
            admin_key: app.stack.wiring().secrets.api_key.clone(),
            kept: String::new(),
        }
    }

    /// Returns the responses that were kept.
    pub(super) fn into_kept(self) -> String {
        self.kept
    }

    /// Begins a request without credentials.
    pub(super) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base))
    }

    pub(super) fn post(&self, path: &str) -> RequestBuilder {
        self.request(Method::POST, path)
    }

    pub(super) fn admin(&self, method: Method, path: &str) -> RequestBuilder {
        self.request(method, path).header("apikey", &self.admin_key)
    }

    /// Sends a request and expects one of these statuses. Keeps the response.
    pub(super) async fn expect(&mut self, request: RequestBuilder, statuses: &[u16]) -> Value {
        let (response, text) = self.send(request, statuses).await;
        self.kept += &response;
        self.kept += &text;
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Sends a request whose response gives its caller a secret or a mail address, which is right.
    pub(super) async fn receive(&self, request: RequestBuilder, status: u16) -> Value {
        let (_, text) = self.send(request, &[status]).await;
        let mut body: Value = serde_json::from_str(&text).expect("JSON");
        body["data"].take()
    }

    /// Sends a request whose error quotes it, as it should.
    pub(super) async fn refuse(&self, request: RequestBuilder, status: u16) {
        self.send(request, &[status]).await;
    }

    /// Returns the head of the response, and its body.
    async fn send(&self, request: RequestBuilder, statuses: &[u16]) -> (String, String) {
        let response = request.send().await.expect("the gateway responds");
        let (status, url) = (response.status().as_u16(), response.url().path().to_owned());
        let head = format!("\n{status} {url} {:?} ", response.headers());
        let text = response.text().await.expect("a body");
        assert!(statuses.contains(&status), "{head}{text}");
        (head, text)
    }
}
