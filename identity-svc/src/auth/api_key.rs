//! API keys as they are kept: by their hash.

use platform::{auth::Role, ids::Id};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// What every key starts with, so that one is recognised wherever it leaks.
const PREFIX: &str = "gk_";

/// The shortest key that may be configured, prefix included.
const MIN_CHARS: usize = 20;

/// The id of an API key.
pub type ApiKeyId = Id<ApiKey>;

/// The key that `BOOTSTRAP_API_KEY` names: one row, whatever key it holds.
pub const BOOTSTRAP_ID: ApiKeyId =
    Id::new(Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0001));

/// A key that can be used now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// Its id.
    pub id: ApiKeyId,
    /// What it may do.
    pub roles: Vec<Role>,
    /// How long it still can be used, if that is limited.
    pub seconds_left: Option<i64>,
}

/// The form in which a key is kept and looked up. A plain hash will do: keys are random, not chosen.
pub fn hash(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}

/// Refuses a configured key that is easy to guess or to mistake for something else.
pub fn check_configured(key: &SecretString) -> anyhow::Result<()> {
    let key = key.expose_secret();
    anyhow::ensure!(
        key.starts_with(PREFIX)
            && key.len() >= MIN_CHARS
            && key.bytes().all(|b| b.is_ascii_graphic()),
        "an API key is {PREFIX} and at least {} printable characters",
        MIN_CHARS - PREFIX.len()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configured_key_cannot_be_guessed() {
        let check = |key: &str| check_configured(&SecretString::from(key)).is_ok();
        assert!(check("gk_0123456789abcdef0"));
        for bad in [
            "",
            "gk_",
            "gk_short",
            "0123456789abcdef01234567",
            "gk_0123456789abcdef 0",
        ] {
            assert!(!check(bad), "{bad}");
        }
    }
}
