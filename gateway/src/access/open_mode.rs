//! In open mode anonymous callers are admins, and any web page can make a browser send requests to
//! loopback. So the host must be a loopback address, and the origin, if any, the gateway itself. A
//! proxy on this machine would let everybody in.

use std::net::IpAddr;

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderName, Uri, header},
};
use platform::error::{Code, Failure};

use crate::App;

/// Checks every request in open mode, those with credentials and those of pages included.
pub(crate) fn guard(app: &App, request: &Request) -> Result<(), Failure> {
    if app.gatekeeper.is_open() {
        check(request.headers())?;
    }
    Ok(())
}

/// Refuses requests that may come from a foreign web page or through a proxy.
fn check(headers: &HeaderMap) -> Result<(), Failure> {
    if headers.keys().any(is_of_proxy) {
        return Err(Failure::new(
            Code::Forbidden,
            "open mode accepts no proxied requests",
        ));
    }
    let text = |name| {
        headers
            .get(name)
            .map(|value| value.to_str().unwrap_or_default())
    };
    let host = text(header::HOST).unwrap_or_default();
    if !is_loopback(host) {
        return Err(Failure::new(
            Code::Forbidden,
            "open mode accepts only loopback hosts",
        ));
    }
    match text(header::ORIGIN) {
        Some(origin) if origin != format!("http://{host}") => Err(Failure::new(
            Code::Forbidden,
            "open mode accepts no foreign origin",
        )),
        _ => Ok(()),
    }
}

fn is_of_proxy(name: &HeaderName) -> bool {
    let name = name.as_str();
    matches!(name, "forwarded" | "via") || name.starts_with("x-forwarded-")
}

fn is_loopback(authority: &str) -> bool {
    let Ok(uri) = authority.parse::<Uri>() else {
        return false;
    };
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    host.eq_ignore_ascii_case("localhost")
        || host
            .parse()
            .is_ok_and(|address: IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(host: &str, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().expect("ascii"));
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().expect("ascii"));
        }
        check(&headers).is_ok()
    }

    #[test]
    fn only_loopback_and_its_own_pages() {
        assert!(allowed("127.0.0.1:8080", None));
        assert!(allowed("localhost:8080", Some("http://localhost:8080")));
        assert!(allowed("[::1]:8080", None));
        assert!(!allowed("shop.example:8080", None));
        assert!(!allowed("127.0.0.1.evil.example", None));
        assert!(!allowed("127.0.0.1:8080", Some("http://evil.example")));
        assert!(!allowed("127.0.0.1:8080", Some("null")));
        assert!(!allowed("", None));
    }

    #[test]
    fn proxies_are_refused() {
        for name in [
            "forwarded",
            "via",
            "x-forwarded-for",
            "x-forwarded-proto",
            "x-forwarded-x",
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, "localhost".parse().expect("ascii"));
            headers.insert(name, "x".parse().expect("ascii"));
            assert!(check(&headers).is_err(), "{name}");
        }
    }
}
