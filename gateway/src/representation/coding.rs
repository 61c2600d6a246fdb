//! Compression of responses. gzip is the only coding: the window of brotli or zstd would take megabytes
//! for each response in progress.

use axum::{
    extract::Request,
    http::{
        HeaderMap, HeaderValue,
        header::{ACCEPT_ENCODING, CONTENT_ENCODING, ETAG, VARY},
    },
    middleware::Next,
    response::Response,
};
use platform::error::{Code, Failure};
use tower_http::{
    CompressionLevel,
    compression::{
        CompressionLayer, Predicate,
        predicate::{NotForContentType, SizeAbove},
    },
};

use super::{preferences::Preferences, tag::EntityTag};
use crate::error::Problem;

/// The smallest body that is compressed: below, a packet is saved at best.
const MIN_BYTES: u64 = 1024;
/// The level of gzip. Higher ones cost more time than they save bytes.
const LEVEL: i32 = 4;

const GZIP: &str = "gzip";

/// Returns the layer that compresses; [`choose`] decides whether it does.
pub(crate) fn layer() -> CompressionLayer<impl Predicate> {
    // Events are sent when they happen, not when a block is full. The streams of a PDF are compressed.
    let predicate = SizeAbove::new(MIN_BYTES)
        .and(NotForContentType::SSE)
        .and(NotForContentType::const_new("application/pdf"));
    CompressionLayer::new()
        .quality(CompressionLevel::Precise(LEVEL))
        .compress_when(predicate)
}

/// Chooses the coding before the route is run, and completes the headers of its response.
pub(crate) async fn choose(mut request: Request, next: Next) -> Result<Response, Problem> {
    let compress = wants_gzip(request.headers())?;
    // The layer would refuse what it does not understand, after the route was run.
    request.headers_mut().remove(ACCEPT_ENCODING);
    if compress {
        let gzip = HeaderValue::from_static(GZIP);
        request.headers_mut().insert(ACCEPT_ENCODING, gzip);
    }
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    if !headers.contains_key(VARY) {
        headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    }
    if headers.contains_key(CONTENT_ENCODING)
        && let Some(tag) = headers.get(ETAG).and_then(EntityTag::read)
    {
        headers.insert(ETAG, tag.compressed());
    }
    Ok(response)
}

/// Returns whether a client prefers gzip; `not_acceptable` where it takes the body in no form.
fn wants_gzip(headers: &HeaderMap) -> Result<bool, Failure> {
    let Some(accepted) = Preferences::of(headers, &ACCEPT_ENCODING) else {
        return Ok(false);
    };
    let others = accepted.quality("*");
    let gzip = accepted.quality(GZIP).or(accepted.quality("x-gzip"));
    let gzip = gzip.or(others).unwrap_or(0);
    // Without a word about it, the plain form is accepted, but less than what is named.
    let plain = accepted.quality("identity");
    let plain_is_refused = plain.or(others) == Some(0);
    if gzip == 0 && plain_is_refused {
        let detail = "responses are sent as they are (identity), or with the coding gzip";
        return Err(Failure::new(Code::NotAcceptable, detail));
    }
    Ok(gzip > 0 && plain.is_none_or(|plain| gzip >= plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wants(accept: &str) -> Option<bool> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT_ENCODING, accept.parse().unwrap());
        wants_gzip(&headers).ok()
    }

    #[test]
    fn gzip_is_used_where_it_is_preferred() {
        for accept in [
            "gzip",
            "GZIP",
            "x-gzip",
            "gzip, deflate, br, zstd",
            "*",
            "br;q=1, gzip;q=0.1",
            "gzip;q=0.5, identity;q=0.5",
            "*;q=0.1",
            "identity;q=0, gzip",
        ] {
            assert_eq!(wants(accept), Some(true), "{accept}");
        }
        for accept in [
            "",
            "br",
            "gzip;q=0",
            "identity",
            "gzip;q=0.2, identity;q=0.5",
            "a b",
            "gzip;q=x",
        ] {
            assert_eq!(wants(accept), Some(false), "{accept}");
        }
        assert_eq!(wants_gzip(&HeaderMap::new()).ok(), Some(false));
    }

    #[test]
    fn a_client_that_takes_no_form_is_told_so() {
        for accept in [
            "*;q=0",
            "identity;q=0, gzip;q=0",
            "br, *;q=0",
            "identity;q=0",
        ] {
            assert_eq!(wants(accept), None, "{accept}");
        }
    }
}
