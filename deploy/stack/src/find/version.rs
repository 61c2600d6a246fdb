//! Versions as servers print them.

use std::fmt;

/// Major and minor version of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// 18 of 18.6.
    pub major: u32,
    /// 6 of 18.6.
    pub minor: u32,
}

impl Version {
    /// The first version number in a line such as `postgres (PostgreSQL) 15.13 (Debian)` or
    /// `nats-server: v2.15.1`.
    pub fn parse(line: &str) -> Option<Self> {
        line.split_whitespace().find_map(|word| {
            let mut parts = word.trim_start_matches('v').split('.');
            let major = leading_number(parts.next()?)?;
            Some(Self {
                major,
                minor: parts.next().and_then(leading_number).unwrap_or(0),
            })
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// 19 of `19beta1`.
fn leading_number(text: &str) -> Option<u32> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    text[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> String {
        Version::parse(line).map_or_else(|| "none".to_owned(), |version| version.to_string())
    }

    #[test]
    fn reads_what_servers_print() {
        assert_eq!(
            parsed("postgres (PostgreSQL) 15.13 (Debian 15.13-0+deb12u1)"),
            "15.13"
        );
        assert_eq!(parsed("postgres (PostgreSQL) 18.6"), "18.6");
        assert_eq!(parsed("postgres (PostgreSQL) 19beta1"), "19.0");
        assert_eq!(parsed("nats-server: v2.15.1"), "2.15");
        assert_eq!(parsed("nats-server: v2.11.0-RC.2"), "2.11");
        assert_eq!(parsed("command not found"), "none");
    }

    #[test]
    fn orders_by_number_not_by_text() {
        let version = |line| Version::parse(line).unwrap();
        assert!(version("v2.9.10") < version("v2.10.0"));
        assert!(version("15.13") < version("18.6"));
    }
}
