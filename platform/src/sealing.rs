//! Encryption of secrets that are stored (XChaCha20-Poly1305, whose nonces may be random).

use anyhow::Context as _;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use chacha20poly1305::{
    KeyInit as _, XChaCha20Poly1305, XNonce,
    aead::{Aead as _, Payload},
};
use secrecy::{ExposeSecret as _, SecretSlice, SecretString};

const NONCE_BYTES: usize = 24;

/// A key that seals secrets and opens them again.
#[derive(Clone)]
pub struct SealingKey(XChaCha20Poly1305);

impl SealingKey {
    /// Parses a key from configuration: base64url of 32 bytes, padded or not.
    pub fn from_base64(key: &SecretString) -> anyhow::Result<Self> {
        let text = key.expose_secret().trim().trim_end_matches('=');
        let bytes = BASE64.decode(text).ok();
        let bytes: Option<[u8; 32]> = bytes.and_then(|bytes| bytes.try_into().ok());
        let bytes = bytes.context("the key is not base64url of 32 bytes")?;
        Ok(Self(XChaCha20Poly1305::new(&bytes.into())))
    }

    /// Seals a secret under a label, which says what it is and must be given again to open it. The
    /// nonce comes first in the result.
    pub fn seal(&self, label: &str, secret: &[u8]) -> Vec<u8> {
        let nonce: [u8; NONCE_BYTES] = rand::random();
        let payload = Payload {
            msg: secret,
            aad: label.as_bytes(),
        };
        let sealed = self.0.encrypt(&XNonce::from(nonce), payload);
        let mut bytes = nonce.to_vec();
        bytes.extend(sealed.expect("a short text can always be encrypted"));
        bytes
    }

    /// Opens what was sealed with this key under this label.
    pub fn open(&self, label: &str, sealed: &[u8]) -> anyhow::Result<SecretSlice<u8>> {
        let (nonce, text) = sealed
            .split_first_chunk::<NONCE_BYTES>()
            .context("a sealed secret is too short")?;
        let payload = Payload {
            msg: text,
            aad: label.as_bytes(),
        };
        let opened = self.0.decrypt(&XNonce::from(*nonce), payload);
        let opened = opened.map_err(|_| anyhow::anyhow!("another key has sealed the {label}"))?;
        Ok(SecretSlice::from(opened))
    }
}

impl std::fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SealingKey(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(byte: u8) -> SealingKey {
        SealingKey::from_base64(&BASE64.encode([byte; 32]).into()).unwrap()
    }

    #[test]
    fn a_secret_is_opened_by_its_key_and_label_only() {
        let sealed = key(1).seal("signing key a", b"secret");
        assert!(!sealed.windows(6).any(|part| part == b"secret"));
        assert_ne!(sealed, key(1).seal("signing key a", b"secret"));
        let opened = key(1).open("signing key a", &sealed).unwrap();
        assert_eq!(opened.expose_secret(), b"secret");
        assert!(key(2).open("signing key a", &sealed).is_err());
        assert!(key(1).open("signing key b", &sealed).is_err());
        for end in [0, 10, NONCE_BYTES, sealed.len() - 1] {
            assert!(key(1).open("signing key a", &sealed[..end]).is_err());
        }
        let mut changed = sealed;
        changed[NONCE_BYTES] ^= 1;
        assert!(key(1).open("signing key a", &changed).is_err());
    }

    #[test]
    fn a_key_is_32_bytes() {
        for bad in ["", "abc", "!!", &"A".repeat(44)] {
            assert!(SealingKey::from_base64(&bad.into()).is_err(), "{bad}");
        }
        let padded = format!("{}=\n", BASE64.encode([1; 32]));
        assert!(SealingKey::from_base64(&padded.into()).is_ok());
    }
}
