//! JSON bodies as types. Every refusal names the field.

use axum::{
    body::Bytes,
    extract::{FromRequest, Request},
    http::{HeaderMap, header},
};
use platform::error::{Code, Failure, FieldCode};
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use super::{body, scan};
use crate::{App, error::Problem};

/// A body that must be there.
#[derive(Debug)]
pub(crate) struct Json<T>(pub(crate) T);

/// The body of an action: no body and an empty one mean `{}`, with or without a content type.
#[derive(Debug)]
pub(crate) struct Action<T>(pub(crate) T);

/// The fields of an action that has none.
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
        expect(&headers, JSON)?;
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
        expect(&headers, JSON)?;
        Ok(Self(parse(&body)?))
    }
}

async fn parts(request: Request) -> Result<(HeaderMap, Bytes), Problem> {
    let (parts, body) = request.into_parts();
    Ok((parts.headers, body::read(body).await?))
}

/// The media type of bodies.
pub(super) const JSON: &str = "application/json";

/// This media type, with no charset but UTF-8 and no compression.
pub(super) fn expect(headers: &HeaderMap, media_type: &str) -> Result<(), Failure> {
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
    let foreign = |parameter: &str| {
        parameter.split_once('=').is_some_and(|(name, value)| {
            name.trim().eq_ignore_ascii_case("charset")
                && !value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
        })
    };
    if parts.any(foreign) {
        refuse("the charset must be UTF-8")
    } else {
        Ok(())
    }
}

pub(super) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Failure> {
    let text = scan::check(body)?;
    let mut deserializer = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        refusal(if path == "." { "" } else { &path }, error.inner())
    })
}

/// Separates the code from the message in the errors of our own field types.
const SEPARATOR: char = '\u{1f}';

/// An error of a field type that knows its code, for `serde::de::Error::custom`.
pub(crate) fn coded(code: FieldCode, message: &str) -> String {
    format!("{}{SEPARATOR}{message}", code.as_str())
}

/// What serde says, as a failure. Its texts are the only way to tell its errors apart.
fn refusal(path: &str, error: &serde_json::Error) -> Failure {
    let text = error.to_string();
    // serde_json ends its messages in " at line 1 column 7", which means nothing for one line.
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

/// `lines[0]` and `qty` make `lines[0].qty`; a path that ends in the name already stays.
fn child(path: &str, name: &str) -> String {
    if path.is_empty() || path == name {
        name.to_owned()
    } else if path.ends_with(&format!(".{name}")) {
        path.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::value::RawValue;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Order {
        user_id: String,
        lines: Vec<Line>,
        delivery_method: Option<Delivery>,
        custom_data: Option<Box<RawValue>>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Line {
        #[expect(dead_code, reason = "only its type is tested")]
        quantity: Option<u32>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Delivery {
        Pickup,
    }

    fn refused(body: &str) -> (Code, String, FieldCode) {
        let failure = parse::<Order>(body.as_bytes()).expect_err(body);
        let field = failure.fields.into_iter().next().expect("a field");
        (failure.code, field.field, field.code)
    }

    #[test]
    fn a_good_body_keeps_its_numbers() {
        let body =
            r#"{"userId":"u","lines":[{}],"deliveryMethod":"pickup","customData":{"n":1e400}}"#;
        let order: Order = parse(body.as_bytes()).expect("parses");
        assert_eq!((order.user_id.as_str(), order.lines.len()), ("u", 1));
        assert!(matches!(order.delivery_method, Some(Delivery::Pickup)));
        assert_eq!(order.custom_data.expect("kept").get(), r#"{"n":1e400}"#);
    }

    #[test]
    fn refusals_name_the_field() {
        let invalid = |field: &str, code| (Code::ValidationFailed, field.to_owned(), code);
        for (body, field, code) in [
            (r#"{"lines":[]}"#, "userId", FieldCode::Required),
            (r#"{"userId":1,"lines":[]}"#, "userId", FieldCode::Type),
            (
                r#"{"userId":"u","lines":[],"prise":1}"#,
                "prise",
                FieldCode::UnknownField,
            ),
            (
                r#"{"userId":"u","lines":[{"qty":1}]}"#,
                "lines[0].qty",
                FieldCode::UnknownField,
            ),
            (
                r#"{"userId":"u","lines":[{"quantity":1.5}]}"#,
                "lines[0].quantity",
                FieldCode::Type,
            ),
            (
                r#"{"userId":"u","lines":[{"quantity":-1}]}"#,
                "lines[0].quantity",
                FieldCode::Type,
            ),
            (
                r#"{"userId":"u","lines":[],"deliveryMethod":"x"}"#,
                "deliveryMethod",
                FieldCode::Enum,
            ),
        ] {
            assert_eq!(refused(body), invalid(field, code), "{body}");
        }
    }

    #[test]
    fn content_types() {
        let headers = |pairs: &[(header::HeaderName, &str)]| -> HeaderMap {
            pairs
                .iter()
                .map(|(name, value)| (name.clone(), value.parse().expect("ascii")))
                .collect()
        };
        for good in [
            "application/json",
            "application/json; charset=utf-8",
            "Application/JSON;charset=\"UTF-8\"",
        ] {
            assert!(
                expect(&headers(&[(header::CONTENT_TYPE, good)]), JSON).is_ok(),
                "{good}"
            );
        }
        for bad in [
            "",
            "text/plain",
            "application/json; charset=utf-16",
            "application/vnd.api+json",
        ] {
            assert!(
                expect(&headers(&[(header::CONTENT_TYPE, bad)]), JSON).is_err(),
                "{bad}"
            );
        }
        let json = (header::CONTENT_TYPE, "application/json");
        assert!(expect(&headers(&[json, (header::CONTENT_ENCODING, "gzip")]), JSON).is_err());
        assert!(expect(&HeaderMap::new(), JSON).is_err());
    }
}
