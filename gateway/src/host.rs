//! `Host`: a request of HTTP/1.1 has exactly one (RFC 9112, 3.2), since a proxy and a server that read
//! different ones would see two different requests.

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderValue, Version, header::HOST, uri::Authority},
};
use platform::error::{Code, Failure};

/// Refuses requests without a host, with several, and with what is none.
pub(crate) fn check(request: &Request) -> Result<(), Failure> {
    // HTTP/1.0 has no `Host`, and HTTP/2 checks its authority itself.
    let is_needed = request.version() == Version::HTTP_11;
    if !is_valid(request.headers(), is_needed) {
        let detail = "a request has one Host header, with a host and maybe a port";
        return Err(Failure::new(Code::MalformedRequest, detail));
    }
    Ok(())
}

fn is_valid(headers: &HeaderMap, is_needed: bool) -> bool {
    let mut hosts = headers.get_all(HOST).iter();
    match (hosts.next(), hosts.next()) {
        (None, _) => !is_needed,
        (Some(host), None) => host.is_empty() || is_host(host),
        (Some(_), Some(_)) => false,
    }
}

fn is_host(value: &HeaderValue) -> bool {
    let authority = Authority::try_from(value.as_bytes());
    authority.is_ok_and(|authority| !authority.as_str().contains('@'))
}
