//! API keys, stored as hashes.

use platform::{auth::Role, config, ids::Id};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// The prefix of every key, by which scanners recognise a leaked one.
const PREFIX: &str = "gk_";

/// The shortest key that may be configured, with its prefix.
const MIN_CHARS: usize = 20;

pub(crate) type ApiKeyId = Id<ApiKey>;

/// The row of the key that `BOOTSTRAP_API_KEY` configures, whatever the key.
pub(crate) const BOOTSTRAP_ID: ApiKeyId =
    Id::new(Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0001));

/// A usable key: neither expired nor revoked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiKey {
    pub(crate) id: ApiKeyId,
    pub(crate) roles: Vec<Role>,
    pub(crate) token_version: i32,
    /// Until it expires.
    pub(crate) seconds_left: Option<i64>,
    /// Whether its last use is to be recorded again.
    pub(crate) is_use_old: bool,
}

/// Adds the prefix to a random text.
pub(crate) fn with_prefix(random: &str) -> String {
    format!("{PREFIX}{random}")
}

/// Hashes a key as it is stored. A plain hash is enough: keys are random, not chosen.
pub(crate) fn hash(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}

/// Refuses a configured key that is easy to guess, or has no prefix.
pub(crate) fn check_configured(key: &SecretString) -> anyhow::Result<()> {
    let key = key.expose_secret();
    anyhow::ensure!(
        key.starts_with(PREFIX) && key.bytes().all(|b| b.is_ascii_graphic()),
        "BOOTSTRAP_API_KEY is not {PREFIX} and printable characters"
    );
    match config::weakness(key, MIN_CHARS) {
        Some(weakness) => anyhow::bail!("BOOTSTRAP_API_KEY {weakness}"),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configured_key_has_the_prefix_and_20_printable_characters() {
        let accepts = |key: &str| check_configured(&SecretString::from(key)).is_ok();
        assert!(accepts("gk_0123456789abcdef0"));
        for bad in [
            "",
            "gk_",
            "gk_short",
            "0123456789abcdef01234567",
            "gk_0123456789abcdef 0",
            "gk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "gk_changeme_0123456789",
        ] {
            assert!(!accepts(bad), "{bad}");
        }
    }
}
