//! A token that is mailed: 256 random bits, of which only the hash is stored.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};

const BYTES: usize = 32;

/// A token in its written form: 43 characters of base64url.
pub(crate) struct Token(String);

/// SHA-256 of a token. It needs no salt: nobody can guess 256 bits.
pub(crate) type TokenHash = [u8; 32];

impl Token {
    /// Generates a token.
    pub(crate) fn generate() -> Self {
        Self(URL_SAFE_NO_PAD.encode(rand::random::<[u8; BYTES]>()))
    }

    /// Returns the text, to be sent to its owner and nowhere else.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    pub(crate) fn hash(&self) -> TokenHash {
        hash(&self.0)
    }
}

/// Returns the hash of any text; that of a text which is no token is nowhere stored.
pub(crate) fn hash(text: &str) -> TokenHash {
    Sha256::digest(text.as_bytes()).into()
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_have_256_random_bits_and_debug_hides_them() {
        let token = Token::generate();
        let bytes = URL_SAFE_NO_PAD.decode(token.expose()).unwrap();
        assert_eq!(bytes.len(), 32);
        assert_ne!(token.expose(), Token::generate().expose());
        assert_eq!(token.hash(), hash(token.expose()));
        assert_eq!(format!("{token:?}"), "Token(..)");
    }
}
