//! Access by web pages of other origins (the Fetch standard), off unless origins are configured. Nothing
//! here needs cookies, so browsers never get to send credentials by themselves.

use std::sync::Arc;

use anyhow::ensure;
use axum::{
    extract::Request,
    http::{
        HeaderName, HeaderValue, Method, StatusCode,
        header::{
            ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
            ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
            ACCESS_CONTROL_REQUEST_METHOD, ALLOW, ORIGIN, VARY,
        },
    },
    response::Response,
};
use url::Url;

/// The headers that a page may send.
const ALLOWED: HeaderValue = HeaderValue::from_static(
    "accept, accept-language, apikey, authorization, content-language, content-type, \
     idempotency-key, if-match, if-none-match, last-event-id, traceparent, tracestate, x-request-id",
);
/// The headers that a page may read besides those that every page may.
const EXPOSED: HeaderValue = HeaderValue::from_static(
    "allow, deprecation, etag, idempotency-replayed, link, location, ratelimit, ratelimit-policy, \
     retry-after, sunset, www-authenticate, x-request-id",
);
/// Seconds for which a browser need not ask again; none remembers longer than two hours.
const MAX_AGE: HeaderValue = HeaderValue::from_static("7200");

/// The origins whose pages may use the API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origins {
    /// None, as if this module did not exist.
    None,
    /// All.
    Any,
    /// Some, as browsers write them: `https://shop.example`.
    Of(Arc<[HeaderValue]>),
}

impl Origins {
    /// Parses the settings: `*` alone, or origins.
    pub(crate) fn parse(texts: &[String]) -> anyhow::Result<Self> {
        match texts {
            [] => Ok(Self::None),
            [all] if all == "*" => Ok(Self::Any),
            _ => {
                let origins: anyhow::Result<Vec<_>> =
                    texts.iter().map(|text| origin(text)).collect();
                Ok(Self::Of(origins?.into()))
            }
        }
    }

    /// Returns `Access-Control-Allow-Origin` for a page of this origin.
    fn allow(&self, origin: &HeaderValue) -> Option<HeaderValue> {
        match self {
            Self::None => None,
            Self::Any => Some(HeaderValue::from_static("*")),
            Self::Of(origins) => origins.contains(origin).then(|| origin.clone()),
        }
    }
}

/// Parses an origin, and writes it as browsers do: without the scheme's own port, in ASCII.
fn origin(text: &str) -> anyhow::Result<HeaderValue> {
    let is_origin = |url: &Url| {
        let is_web = matches!(url.scheme(), "http" | "https");
        let has_rest = url.path() != "/" || url.query().is_some() || url.fragment().is_some();
        is_web && !has_rest && url.username().is_empty() && url.password().is_none()
    };
    let url = Url::parse(text).ok().filter(is_origin);
    ensure!(
        url.is_some() && !text.ends_with('/') && !text.contains('*'),
        "CORS_ORIGINS: {text:?} is no origin such as https://shop.example, nor * alone"
    );
    let url = url.map(|url| url.origin().ascii_serialization());
    Ok(HeaderValue::try_from(url.unwrap_or_default())?)
}

/// Tells browsers what pages of other origins may do.
pub(crate) async fn apply(
    origins: &Origins,
    request: Request,
    next: impl AsyncFnOnce(Request) -> Response,
) -> Response {
    if *origins == Origins::None {
        return next(request).await;
    }
    let headers = request.headers();
    let allowed = headers.get(ORIGIN).and_then(|origin| origins.allow(origin));
    let is_preflight =
        request.method() == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = next(request).await;
    let status = response.status();
    let headers = response.headers_mut();
    if *origins != Origins::Any {
        headers.append(VARY, HeaderValue::from_static("origin"));
    }
    if let Some(origin) = allowed {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        if is_preflight {
            // Without success, as on a path that leads nowhere, browsers do not send the request.
            if status == StatusCode::NO_CONTENT {
                response.extensions_mut().insert(Preflight);
            }
        } else {
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
        }
    }
    response
}

/// Marks the response to a preflight, until the router has listed the methods of its path.
#[derive(Debug, Clone, Copy)]
struct Preflight;

/// Completes the response to a preflight: allows the methods of the path.
pub(crate) fn answer_preflight(response: &mut Response) {
    if response.extensions_mut().remove::<Preflight>().is_none() {
        return;
    }
    let headers = response.headers_mut();
    let methods = headers.get(ALLOW).cloned();
    let entries: [(HeaderName, Option<HeaderValue>); 3] = [
        (ACCESS_CONTROL_ALLOW_METHODS, methods),
        (ACCESS_CONTROL_ALLOW_HEADERS, Some(ALLOWED)),
        (ACCESS_CONTROL_MAX_AGE, Some(MAX_AGE)),
    ];
    for (name, value) in entries {
        if let Some(value) = value {
            headers.insert(name, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(texts: &[&str]) -> anyhow::Result<Origins> {
        let texts: Vec<_> = texts.iter().map(|&text| text.to_owned()).collect();
        Origins::parse(&texts)
    }

    #[test]
    fn origins_are_written_as_browsers_do() {
        assert_eq!(parse(&[]).unwrap(), Origins::None);
        assert_eq!(parse(&["*"]).unwrap(), Origins::Any);
        for (text, expected) in [
            ("https://shop.example", "https://shop.example"),
            ("HTTPS://Shop.Example:443", "https://shop.example"),
            ("http://localhost:3000", "http://localhost:3000"),
            ("https://bücher.example", "https://xn--bcher-kva.example"),
            ("http://[::1]:80", "http://[::1]"),
        ] {
            let expected = HeaderValue::from_static(expected);
            assert_eq!(
                parse(&[text]).unwrap(),
                Origins::Of([expected].into()),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_no_origin_stops_the_start() {
        for text in [
            "",
            "null",
            "shop.example",
            "https://",
            "https://shop.example/",
            "https://a.example/b",
            "https://a.example?b",
            "https://u@a.example",
            "ftp://a.example",
            "https://*.a.example",
            "file:///a",
        ] {
            let refused = parse(&[text]);
            assert!(refused.is_err(), "{text}: {refused:?}");
        }
        assert!(parse(&["*", "https://a.example"]).is_err());
    }
}
