//! JSON bodies as types. Every rejection names the field.

mod structure;

use axum::{
    body::Bytes,
    extract::{FromRequest, Request},
    http::{HeaderMap, header},
};
use platform::error::{Code, Failure, FieldCode};
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use super::body;
use crate::{App, error::Problem};

/// A body that is required.
#[derive(Debug)]
pub(crate) struct Json<T>(pub(crate) T);

/// The body of an action. Without one, or with an empty one, it is `{}`, whatever the content type.
#[derive(Debug)]
pub(crate) struct Action<T>(pub(crate) T);

/// The body of an action without fields.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoFields {}

impl<T: DeserializeOwned> FromRequest<App> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &App) -> Result<Self, Problem> {
        let (headers, body) = parts(request).await?;
        if body.is_empty() {
            return Err(Failure::new(Code::MalformedJson, "this request needs a JSON body").into());
        }
        check_content_type(&headers, JSON)?;
        Ok(Self(parse(&body)?))
    }
}

impl<T: DeserializeOwned> FromRequest<App> for Action<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &App) -> Result<Self, Problem> {
        let (headers, body) = parts(request).await?;
        if body.is_empty() {
            return Ok(Self(parse(b"{}")?));
        }
        check_content_type(&headers, JSON)?;
        Ok(Self(parse(&body)?))
    }
}

async fn parts(request: Request) -> Result<(HeaderMap, Bytes), Problem> {
    let (parts, body) = request.into_parts();
    Ok((parts.headers, body::read(body).await?))
}

/// The media type of bodies.
pub(super) const JSON: &str = "application/json";

/// Requires this media type, no charset but UTF-8 and no compression.
pub(super) fn check_content_type(headers: &HeaderMap, media_type: &str) -> Result<(), Failure> {
    let refuse = |detail: &str| Err(Failure::new(Code::UnsupportedMediaType, detail));
    let text = |name| {
        headers
            .get(name)
            .map(|value| value.to_str().unwrap_or_default())
    };
    if text(header::CONTENT_ENCODING).is_some_and(|coding| !coding.eq_ignore_ascii_case("identity"))
    {
        return refuse("compressed bodies are not accepted");
    }
    let content_type = text(header::CONTENT_TYPE).unwrap_or_default();
    let mut parts = content_type.split(';').map(str::trim);
    if !parts
        .next()
        .is_some_and(|essence| essence.eq_ignore_ascii_case(media_type))
    {
        return refuse(&format!("the content type must be {media_type}"));
    }
    let is_other_charset = |parameter: &str| {
        parameter.split_once('=').is_some_and(|(name, value)| {
            name.trim().eq_ignore_ascii_case("charset")
                && !value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
        })
    };
    if parts.any(is_other_charset) {
        refuse("the charset must be UTF-8")
    } else {
        Ok(())
    }
}

/// Parses a body or an item of one.
pub(super) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Failure> {
    let text = structure::check(body)?;
    let mut deserializer = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        rejection(if path == "." { "" } else { &path }, error.inner())
    })
}

/// Separates code and message in the errors of our own field types.
const SEPARATOR: char = '\u{1f}';

/// Formats an error of a field type with its code, for `serde::de::Error::custom`.
pub(crate) fn coded(code: FieldCode, message: &str) -> String {
    format!("{}{SEPARATOR}{message}", code.as_str())
}

/// Converts an error of serde. Only its texts tell its errors apart.
fn rejection(path: &str, error: &serde_json::Error) -> Failure {
    let text = error.to_string();
    // serde_json appends " at line 1 column 7", which says nothing about one line.
    let message = text
        .rsplit_once(" at line ")
        .map_or(text.as_str(), |(message, _)| message);
    if error.classify() != Category::Data {
        return Failure::new(
            Code::MalformedJson,
            format!("the body is not JSON: {message}"),
        );
    }
    if let Some((code, message)) = message.split_once(SEPARATOR) {
        let code = FieldCode::find(code).unwrap_or(FieldCode::Format);
        return Failure::invalid(path, code, message);
    }
    let quoted = message.split('`').nth(1).unwrap_or_default();
    if message.starts_with("unknown field") {
        return Failure::invalid(
            child(path, quoted),
            FieldCode::UnknownField,
            "there is no such field",
        );
    }
    if message.starts_with("missing field") {
        return Failure::invalid(child(path, quoted), FieldCode::Required, "is required");
    }
    let code = if message.starts_with("unknown variant") {
        FieldCode::Enum
    } else {
        FieldCode::Type
    };
    Failure::invalid(path, code, message)
}

/// Joins `lines[0]` and `qty` to `lines[0].qty`. A path that ends in the name stays.
fn child(path: &str, name: &str) -> String {
    if path.is_empty() || path == name {
        name.to_owned()
    } else if path.ends_with(&format!(".{name}")) {
        path.to_owned()
    } else {
        format!("{path}.{name}")
    }
}
