//! The text of refresh tokens: the id of a family and a secret, which changes with every use.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use platform::ids::{Id, Ids};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// The prefix of every refresh token, by which scanners recognise a leaked one.
const PREFIX: &str = "grt_";

const FAMILY_BYTES: usize = 16;
const SECRET_BYTES: usize = 32;

/// The refresh tokens that follow from one login, of which the newest is usable.
#[derive(Debug)]
pub(crate) struct Family;

pub(crate) type FamilyId = Id<Family>;

/// A refresh token.
pub(super) struct RefreshToken {
    family: FamilyId,
    secret: [u8; SECRET_BYTES],
}

impl RefreshToken {
    /// Generates the first token of a new family.
    pub(super) fn generate(ids: &Ids) -> Self {
        Self::generate_in(ids.next(), ids)
    }

    /// Generates the next token of a family.
    pub(super) fn generate_in(family: FamilyId, ids: &Ids) -> Self {
        Self {
            family,
            secret: ids.secret(),
        }
    }

    /// Parses a token. Another text is `None`: nobody was given it.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let bytes = BASE64.decode(text.strip_prefix(PREFIX)?).ok()?;
        let (family, secret) = bytes.split_first_chunk::<FAMILY_BYTES>()?;
        Some(Self {
            family: FamilyId::new(Uuid::from_bytes(*family)),
            secret: secret.try_into().ok()?,
        })
    }

    pub(super) const fn family(&self) -> FamilyId {
        self.family
    }

    /// Hashes the secret as it is stored. A plain hash is enough: secrets are random, not chosen.
    pub(super) fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.secret).into()
    }

    /// Returns the text that the client gets.
    pub(super) fn expose(&self) -> String {
        let mut bytes = self.family.uuid().as_bytes().to_vec();
        bytes.extend_from_slice(&self.secret);
        format!("{PREFIX}{}", BASE64.encode(bytes))
    }
}

/// Hides the secret from logs.
impl fmt::Debug for RefreshToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RefreshToken")
            .field("family", &self.family)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_parsed_from_its_text_and_nothing_else_is() {
        let token = RefreshToken::generate(&Ids::system());
        let text = token.expose();
        let parsed = RefreshToken::parse(&text).unwrap();
        assert_eq!(parsed.family(), token.family());
        assert_eq!(parsed.hash(), token.hash());
        for other in [
            "",
            "grt_",
            &text[4..],
            &format!("{text}A"),
            &format!("{text}=="),
            &text[..text.len() - 4],
            &text.replace("grt_", "gk_"),
            "grt_é",
        ] {
            assert!(RefreshToken::parse(other).is_none(), "{other}");
        }
    }

    #[test]
    fn tokens_of_a_family_have_different_secrets() {
        let ids = Ids::system();
        let first = RefreshToken::generate(&ids);
        let second = RefreshToken::generate_in(first.family(), &ids);
        assert_eq!(first.family(), second.family());
        assert_ne!(first.hash(), second.hash());
    }

    #[test]
    fn debug_output_hides_the_secret() {
        let token = RefreshToken::generate(&Ids::seeded(1));
        let shown = format!("{token:?}");
        assert!(!shown.contains(&token.expose()[30..]), "{shown}");
        assert!(shown.ends_with(".. }"), "{shown}");
    }
}
