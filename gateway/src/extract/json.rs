//! JSON bodies as types. Every rejection names the field.

mod faults;
mod probe;
mod structure;

use axum::{
    body::Bytes,
    extract::{FromRequest, Request},
    http::{HeaderMap, header},
};
use platform::error::{Code, Failure, FieldCode};
use serde::de::DeserializeOwned;

use super::body;
use crate::{App, error::Problem};

/// A body that is required.
#[derive(Debug)]
pub(crate) struct Json<T>(pub(crate) T);

/// A body whose fields are all optional. Without one, or with an empty one, it is `{}`; that, too,
/// needs no content type.
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
        Ok(Self(parse(&body, MAX_FAULTS)?))
    }
}

impl<T: DeserializeOwned> FromRequest<App> for Action<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &App) -> Result<Self, Problem> {
        let (headers, body) = parts(request).await?;
        let is_empty_object = || {
            body.iter()
                .filter(|byte| !byte.is_ascii_whitespace())
                .eq(b"{}")
        };
        let has_type = headers.contains_key(header::CONTENT_TYPE);
        if body.is_empty() || (!has_type && is_empty_object()) {
            return Ok(Self(parse(b"{}", MAX_FAULTS)?));
        }
        check_content_type(&headers, JSON)?;
        Ok(Self(parse(&body, MAX_FAULTS)?))
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

/// Most faults of a body that a response names.
pub(super) const MAX_FAULTS: usize = 100;

/// Parses a body or an item of one; a refusal names the fields at fault, at most this many.
pub(super) fn parse<T: DeserializeOwned>(body: &[u8], most: usize) -> Result<T, Failure> {
    let text = structure::check(body)?;
    serde_json::from_str(text).map_err(|error| faults::find::<T>(text, &error, most).into_failure())
}

/// Checks a text that is a JSON object in a string of a body.
pub(super) fn check_nested(text: &str) -> Result<(), Failure> {
    structure::check(text.as_bytes()).map(drop)
}

/// Separates code and message in the errors of our own field types.
const SEPARATOR: char = '\u{1f}';

/// Formats an error of a field type with its code, for `serde::de::Error::custom`.
pub(crate) fn coded(code: FieldCode, message: &str) -> String {
    format!("{}{SEPARATOR}{message}", code.as_str())
}
