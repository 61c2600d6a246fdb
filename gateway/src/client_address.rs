//! The address of the client, which may stand behind proxies.

use std::{
    convert::Infallible,
    net::{IpAddr, Ipv6Addr},
};

use axum::{
    extract::{FromRequestParts, Request},
    http::{HeaderMap, request::Parts},
};
use ipnet::IpNet;
use platform::http::PeerAddress;

use crate::App;

const X_FORWARDED_FOR: &str = "x-forwarded-for";
/// The address of clients whose connection is not known.
const UNKNOWN: IpAddr = IpAddr::V6(Ipv6Addr::UNSPECIFIED);

/// The address of a client, kept in the extensions of its requests. One client of IPv6 has a whole /64,
/// so that is its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ClientAddress(pub(crate) IpAddr);

impl<S: Sync> FromRequestParts<S> for ClientAddress {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let assigned = parts.extensions.get::<Self>().copied();
        Ok(assigned.unwrap_or(Self(UNKNOWN)))
    }
}

/// Sets [`ClientAddress`].
pub(crate) fn assign(app: &App, request: &mut Request) {
    let peer = request.extensions().get::<PeerAddress>();
    let peer = peer.map_or(UNKNOWN, |peer| peer.0.ip());
    let address = client(peer, request.headers(), &app.trusted_proxies);
    request
        .extensions_mut()
        .insert(ClientAddress(network(address)));
}

/// Returns the last address of `X-Forwarded-For` that is not a trusted proxy's. Only what trusted proxies
/// have appended counts: a client may write anything before it.
fn client(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let is_trusted = |address: IpAddr| {
        let address = address.to_canonical();
        trusted.iter().any(|net| net.contains(&address))
    };
    let values = headers.get_all(X_FORWARDED_FOR);
    let values: Vec<_> = values.iter().filter_map(|it| it.to_str().ok()).collect();
    let mut hops = values.iter().flat_map(|value| value.split(',')).rev();
    let mut address = peer;
    while is_trusted(address) {
        match hops.next().and_then(|hop| hop.trim().parse().ok()) {
            Some(hop) => address = hop,
            None => break,
        }
    }
    address.to_canonical()
}

/// Returns the /64 of an IPv6 address.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(peer: &str, forwarded: &[&str]) -> String {
        let trusted = ["10.0.0.0/8".parse().unwrap(), "fd00::/8".parse().unwrap()];
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append(X_FORWARDED_FOR, value.parse().unwrap());
        }
        client(peer.parse().unwrap(), &headers, &trusted).to_string()
    }

    #[test]
    fn only_what_trusted_proxies_append_counts() {
        assert_eq!(found("203.0.113.7", &[]), "203.0.113.7");
        assert_eq!(found("203.0.113.7", &["198.51.100.1"]), "203.0.113.7");
        assert_eq!(found("10.0.0.1", &["198.51.100.1"]), "198.51.100.1");
        assert_eq!(
            found("10.0.0.1", &["8.8.8.8, 198.51.100.1, 10.0.0.2"]),
            "198.51.100.1"
        );
        assert_eq!(
            found("10.0.0.1", &["8.8.8.8", "198.51.100.1"]),
            "198.51.100.1"
        );
        assert_eq!(found("::ffff:10.0.0.1", &["2001:db8::1"]), "2001:db8::1");
    }

    #[test]
    fn a_header_that_names_no_address_leaves_the_proxy() {
        for bad in ["", "unknown", "198.51.100.1, _hidden"] {
            assert_eq!(found("10.0.0.1", &[bad]), "10.0.0.1", "{bad}");
        }
    }

    #[test]
    fn a_network_of_ipv6_is_one_client() {
        let of = |address: &str| network(address.parse().unwrap()).to_string();
        assert_eq!(of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(of("203.0.113.7"), "203.0.113.7");
    }
}
