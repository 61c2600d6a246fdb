//! Announces that a route will go: `Deprecation` (RFC 9745), `Sunset` (RFC 8594), and links to what
//! replaces it.

use axum::{
    extract::{Request, State},
    http::{HeaderName, HeaderValue, header::LINK},
    middleware::{Next, from_fn_with_state},
    response::Response,
    routing::MethodRouter,
};
use chrono::{NaiveDate, NaiveTime};

const DEPRECATION: HeaderName = HeaderName::from_static("deprecation");
const SUNSET: HeaderName = HeaderName::from_static("sunset");

/// That a route is not to be used by new clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Deprecation {
    /// The day since which it is not.
    pub(crate) since: NaiveDate,
    /// The day from which it may be gone.
    pub(crate) sunset: Option<NaiveDate>,
    /// The page that says what to use instead.
    pub(crate) about: &'static str,
}

/// Announces the end of a route that has one.
pub(crate) fn announced<S: Clone + Send + Sync + 'static>(
    route: MethodRouter<S>,
    deprecation: Option<Deprecation>,
) -> MethodRouter<S> {
    match deprecation {
        None => route,
        Some(deprecation) => route.route_layer(from_fn_with_state(deprecation, announce)),
    }
}

/// Sets the headers of every response of the route, problems included.
async fn announce(
    State(deprecation): State<Deprecation>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in deprecation.headers() {
        headers.append(name, value);
    }
    response
}

impl Deprecation {
    fn headers(self) -> Vec<(HeaderName, HeaderValue)> {
        let start = |day: NaiveDate| day.and_time(NaiveTime::MIN).and_utc();
        let about = self.about;
        let mut headers = vec![
            (DEPRECATION, format!("@{}", start(self.since).timestamp())),
            (
                LINK,
                format!("<{about}>; rel=\"deprecation\"; type=\"text/html\""),
            ),
        ];
        if let Some(day) = self.sunset {
            let date = start(day).format("%a, %d %b %Y %H:%M:%S GMT");
            headers.push((SUNSET, date.to_string()));
            headers.push((
                LINK,
                format!("<{about}>; rel=\"sunset\"; type=\"text/html\""),
            ));
        }
        let header = |text: String| HeaderValue::try_from(text).expect("dates and paths are ASCII");
        headers
            .into_iter()
            .map(|(name, text)| (name, header(text)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use axum::{body::Body, http::StatusCode, routing};
    use tower::ServiceExt as _;

    use super::*;

    async fn respond(deprecation: Option<Deprecation>) -> Response {
        let route = routing::get(|| async { StatusCode::NOT_FOUND });
        let route: MethodRouter = announced(route, deprecation);
        route.oneshot(Request::new(Body::empty())).await.unwrap()
    }

    #[tokio::test]
    async fn a_route_that_is_to_go_says_so_with_refusals_too() {
        let deprecation = Deprecation {
            since: NaiveDate::from_ymd_opt(2026, 12, 1).unwrap(),
            sunset: NaiveDate::from_ymd_opt(2027, 6, 1),
            about: "/docs/#orders",
        };
        let response = respond(Some(deprecation)).await;
        assert_eq!(response.status(), StatusCode::NOT_FOUND);
        assert_eq!(response.headers()[DEPRECATION], "@1796083200");
        assert_eq!(response.headers().get_all(LINK).iter().count(), 2);
        let response = respond(None).await;
        assert!(!response.headers().contains_key(DEPRECATION));
    }

    fn shown(sunset: Option<NaiveDate>) -> Vec<String> {
        let deprecation = Deprecation {
            since: NaiveDate::from_ymd_opt(2026, 12, 1).unwrap(),
            sunset,
            about: "/docs/#orders",
        };
        let headers = deprecation.headers().into_iter();
        headers
            .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
            .collect()
    }

    #[test]
    fn the_headers_tell_the_days_and_where_to_read_more() {
        let mut expected = vec![
            "deprecation: @1796083200",
            "link: </docs/#orders>; rel=\"deprecation\"; type=\"text/html\"",
        ];
        assert_eq!(shown(None), expected);
        expected.extend([
            "sunset: Tue, 01 Jun 2027 00:00:00 GMT",
            "link: </docs/#orders>; rel=\"sunset\"; type=\"text/html\"",
        ]);
        assert_eq!(shown(NaiveDate::from_ymd_opt(2027, 6, 1)), expected);
    }
}
