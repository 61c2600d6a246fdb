//! Which URLs events may be sent to. What a name resolves to is checked with each request.

use std::net::{IpAddr, SocketAddr};

use platform::error::{FieldCode, InvalidValue};
use url::{Host, Url};

use super::address;

/// Characters of a URL.
const MAX_URL: usize = 2_048;

/// The rules of this process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    /// Whether `http` is allowed.
    pub(crate) allow_http: bool,
    /// Whether addresses that are not public are allowed.
    pub(crate) allow_private: bool,
}

/// A URL that events may be sent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) is_https: bool,
    pub(super) host: Host,
    pub(super) port: u16,
    /// Host and port, as in the header `Host`.
    pub(super) authority: String,
    /// Path and query.
    pub(super) path: String,
}

impl Rules {
    /// Parses a URL. A host that is an address in any form (`0x7f.1`, `2130706433`) is checked as the
    /// address that it is.
    pub(super) fn parse(self, text: &str) -> Result<Target, InvalidValue> {
        let malformed = |message: &str| InvalidValue::new(FieldCode::Format, message);
        if text.chars().count() > MAX_URL {
            let message = format!("must have at most {MAX_URL} characters");
            return Err(InvalidValue::new(FieldCode::Length, message));
        }
        if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err(malformed("must have no spaces"));
        }
        let url = Url::parse(text).map_err(|_| malformed("must be a URL"))?;
        let is_https = url.scheme() == "https";
        let is_allowed_http = self.allow_http && url.scheme() == "http";
        if !is_https && !is_allowed_http {
            return Err(malformed("must begin with https://"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(malformed("must hold no user name and no password"));
        }
        if url.fragment().is_some() {
            return Err(malformed("must have no fragment"));
        }
        let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
            return Err(malformed("must name a host"));
        };
        if !matches!(port, 80 | 443 | 1024..) {
            return Err(malformed("the port must be 80, 443, or 1024 and above"));
        }
        let host = host.to_owned();
        if literal(&host).is_some_and(|address| !self.allows(address)) {
            return Err(malformed("must not be a private or local address"));
        }
        let authority = match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_string(),
        };
        let query = url.query().map(|query| format!("?{query}"));
        Ok(Target {
            is_https,
            host,
            port,
            authority,
            path: format!("{}{}", url.path(), query.unwrap_or_default()),
        })
    }

    /// Returns whether requests may be sent to an address.
    pub(super) fn allows(self, address: IpAddr) -> bool {
        self.allow_private || address::is_public(address)
    }
}

impl Target {
    /// Returns the address, where the host is one.
    pub(super) fn literal(&self) -> Option<SocketAddr> {
        literal(&self.host).map(|address| SocketAddr::new(address, self.port))
    }
}

fn literal(host: &Host) -> Option<IpAddr> {
    match host {
        Host::Ipv4(address) => Some((*address).into()),
        Host::Ipv6(address) => Some((*address).into()),
        Host::Domain(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRICT: Rules = Rules {
        allow_http: false,
        allow_private: false,
    };

    #[test]
    fn a_target_has_what_a_request_needs() {
        let target = STRICT.parse("https://Shop.example/hook?a=1&b").unwrap();
        assert_eq!((&*target.authority, target.port), ("shop.example", 443));
        assert_eq!(target.path, "/hook?a=1&b");
        let target = STRICT.parse("https://[2606:4700::1111]:8443").unwrap();
        assert_eq!(target.authority, "[2606:4700::1111]:8443");
        assert_eq!(target.path, "/");
        assert!(target.literal().is_some());
    }

    #[test]
    fn other_schemes_credentials_and_odd_ports_are_refused() {
        for bad in [
            "",
            "shop.example",
            "/hook",
            "http://shop.example/",
            "ftp://shop.example/",
            "file:///etc/passwd",
            "gopher://shop.example/",
            "javascript:alert(1)",
            "https://",
            "https://user@shop.example/",
            "https://:secret@shop.example/",
            "https://shop.example/#part",
            "https://shop.example:22/",
            "https://shop.example:0/",
            "https://shop.example:25/",
            "https://shop.example:70000/",
            "https://shop .example/",
            "https://shop.example/\u{7}",
            "https://shop.example/\n",
        ] {
            assert!(STRICT.parse(bad).is_err(), "{bad}");
        }
        let long = format!("https://shop.example/{}", "x".repeat(2_028));
        assert_eq!(STRICT.parse(&long).unwrap_err().code, FieldCode::Length);
    }

    #[test]
    fn addresses_are_checked_in_every_form() {
        let local = [
            "https://127.0.0.1/",
            "https://127.1/",
            "https://0x7f.1/",
            "https://0177.0.0.1/",
            "https://2130706433/",
            "https://0/",
            "https://１２７.０.０.１/",
            "https://127.0.0.1./",
            "https://169.254.169.254/latest/meta-data",
            "https://[::1]/",
            "https://[::ffff:127.0.0.1]/",
            "https://[::ffff:7f00:1]/",
            "https://[64:ff9b::7f00:1]/",
            "https://[fe80::1]/",
        ];
        let lenient = Rules {
            allow_private: true,
            ..STRICT
        };
        for url in local {
            let refused = STRICT.parse(url).unwrap_err();
            assert_eq!(
                refused.message, "must not be a private or local address",
                "{url}"
            );
            assert!(lenient.parse(url).is_ok(), "{url}");
        }
    }

    #[test]
    fn http_is_allowed_by_configuration() {
        let lenient = Rules {
            allow_http: true,
            ..STRICT
        };
        let target = lenient.parse("http://shop.example/").unwrap();
        assert!(!target.is_https && target.port == 80);
    }
}
