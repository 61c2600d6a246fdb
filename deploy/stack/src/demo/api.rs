//! The public REST API as somebody with an admin's key calls it.

use std::error::Error;
use std::fmt::{self, Write as _};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;
use ureq::{Agent, Body, http::Response};

const PATIENCE: Duration = Duration::from_secs(30);
/// The largest page there is.
const PAGE_SIZE: &str = "1000";

pub(super) struct Api {
    agent: Agent,
    base: String,
    key: String,
}

/// An answer that is no success.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) code: String,
    what: String,
}

impl Refusal {
    fn of(request: &str, status: u16, body: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (code, detail) = (text(&body["code"]), text(&body["detail"]));
        let mut what = format!("{request} was refused: {status} {code}: {detail}");
        for error in body["errors"].as_array().into_iter().flatten() {
            let (field, message) = (text(&error["field"]), text(&error["message"]));
            let _ = write!(what, "; {field}: {message}");
        }
        Self { code, what }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl Error for Refusal {}

impl Api {
    pub(super) fn new(base: &str, key: &str) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(PATIENCE))
            .build();
        Self {
            agent: config.into(),
            base: base.to_owned(),
            key: key.to_owned(),
        }
    }

    /// The first row of a filtered list that is the one looked for.
    pub(super) fn find(
        &self,
        path: &str,
        (field, value): (&str, &str),
        is_it: impl Fn(&Value) -> bool,
    ) -> Result<Option<Value>> {
        let request = format!("GET {path}?filter[{field}]={value}");
        let answer = self
            .agent
            .get(format!("{}{path}", self.base))
            .header("apikey", &self.key)
            .query(format!("filter[{field}]"), value)
            .query("page[size]", PAGE_SIZE)
            .call();
        match read(&request, answer)? {
            Ok(mut body) => {
                let rows = body["data"].as_array_mut().map(std::mem::take);
                Ok(rows.into_iter().flatten().find(is_it))
            }
            Err(refusal) => Err(refusal.into()),
        }
    }

    /// The `data` of a POST about the thing of this name.
    pub(super) fn post(
        &self,
        path: &str,
        name: &str,
        body: &Value,
    ) -> Result<Result<Value, Refusal>> {
        let request = format!("POST {path} ({name})");
        let answer = self
            .agent
            .post(format!("{}{path}", self.base))
            .header("apikey", &self.key)
            .header("content-type", "application/json")
            .send(body.to_string());
        let answer = read(&request, answer)?;
        Ok(answer.map(|mut body| body["data"].take()))
    }
}

fn read(
    request: &str,
    answer: Result<Response<Body>, ureq::Error>,
) -> Result<Result<Value, Refusal>> {
    let mut answer = answer.with_context(|| format!("{request} was not answered"))?;
    let text = answer.body_mut().read_to_string();
    let text = text.with_context(|| format!("{request}: the answer ended early"))?;
    let body = serde_json::from_str(&text).unwrap_or(Value::Null);
    if answer.status().is_success() {
        return Ok(Ok(body));
    }
    Ok(Err(Refusal::of(request, answer.status().as_u16(), &body)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_refusal_names_request_problem_and_fields() {
        let body = json!({ "code": "validation_failed", "detail": "1 field is not valid",
            "errors": [{ "field": "price", "message": "is too fine" }] });
        let refusal = Refusal::of("POST /products (Mug)", 422, &body);
        assert_eq!(
            refusal.to_string(),
            "POST /products (Mug) was refused: 422 validation_failed: 1 field is not valid; \
             price: is too fine"
        );
    }
}
