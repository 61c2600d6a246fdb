//! `Accept`: a client that takes none of what a route produces is told so before the route is run.

use axum::{
    extract::{Request, State},
    http::{HeaderMap, header::ACCEPT},
    middleware::Next,
    response::Response,
};
use platform::error::{Code, Failure};

use super::preferences::Preferences;
use crate::error::Problem;

/// Refuses a request that accepts none of these media types. Problems are sent whatever is accepted.
pub(crate) async fn require(
    State(offered): State<&'static [&'static str]>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    if preferred(request.headers(), offered).is_some() {
        return Ok(next.run(request).await);
    }
    let detail = format!("this route responds with {}", offered.join(" or "));
    Err(Failure::new(Code::NotAcceptable, detail).into())
}

/// Returns the media type that a client likes best, the first of these that it likes as much.
pub(crate) fn preferred<'a>(headers: &HeaderMap, offered: &[&'a str]) -> Option<&'a str> {
    let Some(accepted) = Preferences::of(headers, &ACCEPT).filter(are_ranges) else {
        return offered.first().copied();
    };
    let mut best = None;
    for media_type in offered {
        let rank = rank(&accepted, media_type);
        if rank.0 > 0 && best.is_none_or(|(known, _)| rank > known) {
            best = Some((rank, *media_type));
        }
    }
    best.map(|(_, media_type)| media_type)
}

/// Tells whether all names are media ranges. Old clients write `*` for `*/*`.
fn are_ranges(accepted: &Preferences) -> bool {
    accepted
        .0
        .iter()
        .all(|(range, _)| match range.split_once('/') {
            Some(("*", subtype)) => subtype == "*",
            Some((main, subtype)) => {
                !main.is_empty() && !subtype.is_empty() && !subtype.contains('/')
            }
            None => range == "*",
        })
}

/// Returns the quality of a media type, by the most specific range that holds it, and how specific
/// that is.
fn rank(accepted: &Preferences, media_type: &str) -> (u16, u8) {
    let main = media_type.split('/').next().unwrap_or_default();
    let ranges = [
        (media_type, 3),
        (&*format!("{main}/*"), 2),
        ("*/*", 1),
        ("*", 1),
    ];
    let mut ranges = ranges.into_iter();
    let found = ranges.find_map(|(range, specific)| Some((accepted.quality(range)?, specific)));
    found.unwrap_or((0, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = "application/json";
    const HTML: &str = "text/html";

    fn best<'a>(accept: &str, offered: &[&'a str]) -> Option<&'a str> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, accept.parse().unwrap());
        preferred(&headers, offered)
    }

    #[test]
    fn the_most_specific_range_decides() {
        for accept in [
            "*/*",
            "*",
            "application/*",
            "application/json",
            "Application/JSON;charset=utf-8",
            "text/html, */*;q=0.1",
            "*/*;q=0, application/json",
            "application/*;q=0.2, text/html;q=0",
            // Malformed, which is ignored.
            "",
            "json",
            "*/json",
            "application/",
            "application/json;q=9",
        ] {
            assert_eq!(best(accept, &[JSON]), Some(JSON), "{accept}");
        }
        for accept in [
            "text/html",
            "application/xml",
            "application/problem+json",
            "application/json;q=0",
            "*/*, application/json;q=0",
            "application/*;q=0, */*",
            "*/*;q=0",
            "text/*",
        ] {
            assert_eq!(best(accept, &[JSON]), None, "{accept}");
        }
    }

    #[test]
    fn the_best_of_several_is_found() {
        for (accept, expected) in [
            ("*/*", Some(JSON)),
            (
                "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
                Some(HTML),
            ),
            ("text/html,*/*", Some(HTML)),
            ("text/html;q=0.5, application/json", Some(JSON)),
            ("text/html, application/json", Some(JSON)),
            ("text/*", Some(HTML)),
            ("image/png", None),
        ] {
            assert_eq!(best(accept, &[JSON, HTML]), expected, "{accept}");
        }
        assert_eq!(preferred(&HeaderMap::new(), &[JSON, HTML]), Some(JSON));
    }
}
