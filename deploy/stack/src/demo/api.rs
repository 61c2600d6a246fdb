//! The client of the public REST API, with an admin's key.

use std::{
    error::Error,
    fmt::{self, Write as _},
    time::Duration,
};

use anyhow::{Context as _, Result};
use serde_json::Value;
use ureq::{Agent, Body, http::Response};

use crate::http;

const TIMEOUT: Duration = Duration::from_secs(30);
const MAX_PAGE_SIZE: &str = "1000";

pub(super) struct Api {
    client: Agent,
    base: String,
    key: String,
}

/// A response with an error status.
#[derive(Debug)]
pub(super) struct ApiError {
    pub(super) code: String,
    message: String,
}

impl ApiError {
    fn new(request: &str, status: u16, problem: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (code, detail) = (text(&problem["code"]), text(&problem["detail"]));
        let mut message = format!("{request} was refused: {status} {code}: {detail}");
        for error in problem["errors"].as_array().into_iter().flatten() {
            let (field, reason) = (text(&error["field"]), text(&error["message"]));
            let _ = write!(message, "; {field}: {reason}");
        }
        Self { code, message }
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for ApiError {}

impl Api {
    pub(super) fn new(base: &str, key: &str) -> Self {
        Self {
            client: http::client(TIMEOUT),
            base: base.to_owned(),
            key: key.to_owned(),
        }
    }

    /// Returns the first matching row of a filtered list.
    pub(super) fn find(
        &self,
        path: &str,
        (field, value): (&str, &str),
        matches: impl Fn(&Value) -> bool,
    ) -> Result<Option<Value>> {
        let request = self.client.get(format!("{}{path}", self.base));
        let request = request.header("apikey", &self.key);
        let request = request.query("page[size]", MAX_PAGE_SIZE);
        let response = request.query(format!("filter[{field}]"), value).call();
        let data = read_data(&format!("GET {path}?filter[{field}]={value}"), response)?;
        Ok(data
            .as_array()
            .into_iter()
            .flatten()
            .find(|row| matches(row))
            .cloned())
    }

    /// Returns the `data` of a POST; `name` is the resource in error messages.
    pub(super) fn post(&self, path: &str, name: &str, body: &Value) -> Result<Value> {
        let request = self.client.post(format!("{}{path}", self.base));
        let request = request.header("apikey", &self.key);
        let request = request.header("content-type", "application/json");
        let response = request.send(body.to_string());
        read_data(&format!("POST {path} ({name})"), response)
    }
}

fn read_data(request: &str, response: Result<Response<Body>, ureq::Error>) -> Result<Value> {
    let (status, text) = http::read(response).with_context(|| format!("{request} failed"))?;
    let mut body: Value = serde_json::from_str(&text).unwrap_or_default();
    if !(200..300).contains(&status) {
        return Err(ApiError::new(request, status, &body).into());
    }
    Ok(body["data"].take())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_error_names_request_problem_and_fields() {
        let problem = json!({ "code": "validation_failed", "detail": "1 field is not valid",
            "errors": [{ "field": "price", "message": "is too fine" }] });
        let error = ApiError::new("POST /products (Mug)", 422, &problem);
        assert_eq!(
            error.to_string(),
            "POST /products (Mug) was refused: 422 validation_failed: 1 field is not valid; \
             price: is too fine"
        );
    }
}
