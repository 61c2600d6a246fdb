//! Versions in the format that servers print.

use std::fmt;

/// Major and minor version of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version {
    pub(crate) major: u32,
    minor: u32,
}

impl Version {
    pub(super) const fn new(major: u32, minor: u32) -> Self {
        Self { major, minor }
    }

    /// Parses the first version number in a line such as `postgres (PostgreSQL) 15.13 (Debian)` or
    /// `nats-server: v2.15.1`.
    pub(super) fn parse(line: &str) -> Option<Self> {
        line.split_whitespace().find_map(|word| {
            let mut parts = word.trim_start_matches('v').split('.');
            let major = leading_number(parts.next()?)?;
            let minor = parts.next().and_then(leading_number);
            Some(Self::new(major, minor.unwrap_or(0)))
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// Parses the 19 of `19beta1`.
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
    fn versions_are_parsed_from_server_output() {
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
    fn versions_are_ordered_by_number() {
        let version = |line| Version::parse(line).unwrap();
        assert!(version("v2.9.10") < version("v2.10.0"));
        assert!(version("15.13") < version("18.6"));
    }
}
