//! The operations of the OpenAPI document, which follows from the route table.

use reqwest::RequestBuilder;
use serde_json::{Value, json};

use crate::{
    harness::{ID, TestApp},
    samples,
};

/// Who may call an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Anybody; credentials are ignored.
    Anonymous,
    /// Anybody, but wrong credentials are refused.
    Public,
    /// Any authenticated caller.
    User,
    /// Callers with the role `admin`.
    Admin,
}

/// One operation of the API.
#[derive(Debug, Clone)]
pub struct Operation {
    pub method: String,
    /// With parameters in braces.
    pub path: String,
    pub access: Access,
    /// The documented status of success.
    pub success: u16,
    /// A complete body.
    pub body: Option<Value>,
    /// Its schema.
    pub schema: Option<String>,
    /// Whether the body cannot be left out.
    pub needs_body: bool,
    /// Of the body.
    pub media_type: &'static str,
    /// The media type of the response of success, if it has a body.
    pub produces: Option<String>,
    pub is_list: bool,
    /// Whether it is a change for the versions in `If-Match`.
    pub compares_versions: bool,
}

/// Returns every operation.
pub fn all() -> Vec<Operation> {
    let document = samples::openapi();
    let paths = document["paths"].as_object().expect("paths");
    let operations = paths.iter().flat_map(|(path, item)| {
        let item = item.as_object().expect("operations").iter();
        item.map(move |(method, operation)| Operation::read(method, path, operation))
    });
    operations.collect()
}

impl Operation {
    fn read(method: &str, path: &str, operation: &Value) -> Self {
        let responses = operation["responses"].as_object().expect("responses");
        let mut statuses = responses.keys().filter(|status| status.starts_with('2'));
        let success = statuses
            .next()
            .and_then(|status| status.parse::<u16>().ok());
        let content = &operation["requestBody"]["content"];
        let is_bulk = content["application/x-ndjson"].is_object();
        let media_type = if is_bulk {
            "application/x-ndjson"
        } else {
            "application/json"
        };
        let schema = &content[media_type]["schema"]["$ref"];
        let schema = schema.as_str().and_then(|name| name.rsplit('/').next());
        let schema = schema.map(str::to_owned);
        let mut body = schema.as_deref().map(samples::body);
        if let Some(dry_run) = body.as_mut().and_then(|body| body.get_mut("dryRun")) {
            // A dry run creates nothing.
            *dry_run = Value::Bool(false);
        }
        let response = &operation["responses"]["200"]["content"]["application/json"]["schema"];
        let success = success.expect("a status of success");
        let answer = operation["responses"][success.to_string()]["content"].as_object();
        let produces = answer.and_then(|content| content.keys().next().cloned());
        let security = operation["security"].as_array().expect("alternatives");
        let description = operation["description"].as_str().expect("a description");
        let access = match description.rsplit("\n\n").next() {
            _ if *security == [json!({})] => Access::Anonymous,
            _ if security.contains(&json!({})) => Access::Public,
            Some("Needs the role `admin`.") => Access::Admin,
            _ => Access::User,
        };
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let mut names = parameters.filter_map(|parameter| parameter["name"].as_str());
        let compares_versions = method != "get" && names.any(|name| name == "If-Match");
        Self {
            method: method.to_ascii_uppercase(),
            path: path.to_owned(),
            access,
            success,
            body,
            schema,
            needs_body: operation["requestBody"]["required"] == true,
            media_type,
            produces,
            is_list: response["properties"]["total"].is_object(),
            compares_versions,
        }
    }

    /// Returns whether it needs no credentials.
    pub fn is_public(&self) -> bool {
        matches!(self.access, Access::Anonymous | Access::Public)
    }

    /// Returns the path with a value for every parameter: an id, or the parameter's name.
    pub fn url(&self) -> String {
        let segments = self.path.split('/').map(|segment| {
            let parameter = segment.strip_prefix('{');
            let parameter = parameter.and_then(|name| name.strip_suffix('}'));
            match parameter {
                Some(name) if name.to_ascii_lowercase().ends_with("id") => ID,
                Some(name) => name,
                None => segment,
            }
        });
        segments.collect::<Vec<_>>().join("/")
    }

    /// Returns whether it has no body.
    pub fn takes_no_body(&self) -> bool {
        self.body.is_none()
    }

    /// Returns whether the body holds many resources.
    pub fn is_bulk(&self) -> bool {
        self.media_type != "application/json"
    }

    /// Builds a complete request of an admin.
    pub fn request(&self, app: &TestApp) -> RequestBuilder {
        let request = app.admin(&self.method, &self.url());
        match &self.body {
            None => request,
            Some(body) if self.is_bulk() => request
                .header("content-type", self.media_type)
                .body(body.to_string()),
            Some(body) => request.json(body),
        }
    }
}
