//! Passwords: the rule they follow, and hashing them (Argon2id) at a bounded cost.

use std::{fmt, num::NonZero, sync::Arc, thread};

use argon2::{Argon2, password_hash::PasswordHasher as _};
use platform::error::{FieldCode, InvalidValue};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::{sync::Semaphore, task};
use unicode_normalization::UnicodeNormalization as _;

use crate::error::{Error, Result};

const MIN_CHARS: usize = 8;
const MAX_CHARS: usize = 256;

/// A password that follows the rule, in normal form (NFKC), so that it is the same from any keyboard.
pub struct Password(SecretString);

impl Password {
    /// Checks the rule: 8 to 256 characters, with a capital, a lower-case letter and a digit, each
    /// of ASCII. Spaces count and stay. What is too long is refused before any work on it.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        if text.chars().nth(MAX_CHARS).is_some() {
            return Err(wrong_length());
        }
        let normal: String = text.nfkc().collect();
        if normal.chars().count() < MIN_CHARS {
            return Err(wrong_length());
        }
        if normal.contains('\0') {
            return Err(InvalidValue::new(FieldCode::Format, "must not contain NUL"));
        }
        let has = |class: fn(&u8) -> bool| normal.as_bytes().iter().any(class);
        if !(has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_digit))
        {
            return Err(InvalidValue::new(
                FieldCode::Format,
                "must contain a capital letter (A-Z), a lower-case letter (a-z) and a digit (0-9)",
            ));
        }
        Ok(Self(SecretString::from(normal)))
    }
}

fn wrong_length() -> InvalidValue {
    InvalidValue::new(
        FieldCode::Length,
        format!("must have {MIN_CHARS} to {MAX_CHARS} characters"),
    )
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(..)")
    }
}

/// Hashes passwords on threads of their own, few at a time: one takes 19 MiB and tens of
/// milliseconds, and a rush of sign-ups must not starve everything else.
#[derive(Debug, Clone)]
pub struct Hasher {
    permits: Arc<Semaphore>,
}

impl Default for Hasher {
    /// A hasher that takes half of the machine's cores at most.
    fn default() -> Self {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        Self {
            permits: Arc::new(Semaphore::new((cores / 2).max(1))),
        }
    }
}

impl Hasher {
    /// The hash in PHC form, with a random salt.
    pub async fn hash(&self, password: &Password) -> Result<String> {
        let password = password.0.clone();
        let permit = Arc::clone(&self.permits)
            .acquire_owned()
            .await
            .map_err(Error::internal)?;
        let hash = task::spawn_blocking(move || {
            // Held here, so that a caller who goes away does not make room for another hash.
            let _permit = permit;
            Argon2::default()
                .hash_password(password.expose_secret().as_bytes())
                .map(|hash| hash.to_string())
        });
        hash.await
            .map_err(Error::internal)?
            .map_err(Error::internal)
    }
}

#[cfg(test)]
mod tests {
    use argon2::password_hash::{PasswordVerifier as _, phc::PasswordHash};

    use super::*;

    fn refused(text: &str) -> Option<FieldCode> {
        Password::parse(text).err().map(|invalid| invalid.code)
    }

    #[test]
    fn follows_the_rule() {
        let long = |chars: usize| format!("Aa1{}", "é".repeat(chars - 3));
        for (text, verdict) in [
            ("Abcdef1", Some(FieldCode::Length)),
            ("Abcdefg1", None),
            ("Abcdefg1 ", None),
            ("Pässw0rd", None),
            (&long(64), None),
            (&long(128), None),
            (&long(256), None),
            (&long(257), Some(FieldCode::Length)),
            (&long(1 << 20), Some(FieldCode::Length)),
            ("abcdefg1", Some(FieldCode::Format)),
            ("ABCDEFG1", Some(FieldCode::Format)),
            ("Abcdefgh", Some(FieldCode::Format)),
            ("Ábcdefg1", Some(FieldCode::Format)),
            ("Abcdefg١", Some(FieldCode::Format)),
            ("Abcdefg1\0", Some(FieldCode::Format)),
            ("", Some(FieldCode::Length)),
        ] {
            assert_eq!(refused(text), verdict, "{text:.20}");
        }
    }

    #[tokio::test]
    async fn every_character_counts_in_any_normal_form() {
        let common = format!("Aa1{}", "x".repeat(96));
        let composed = Password::parse(&format!("{common}\u{e9}")).unwrap();
        let hash = Hasher::default().hash(&composed).await.unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));

        let hash = PasswordHash::new(&hash).unwrap();
        let matches = |text: &str| {
            let password = Password::parse(text).unwrap();
            let bytes = password.0.expose_secret().as_bytes().to_vec();
            Argon2::default().verify_password(&bytes, &hash).is_ok()
        };
        assert!(matches(&format!("{common}\u{e9}")));
        assert!(matches(&format!("{common}e\u{301}")));
        assert!(!matches(&format!("{common}e")));
        assert!(!matches(&common));
    }

    #[test]
    fn is_not_shown() {
        assert_eq!(
            format!("{:?}", Password::parse("Abcdefg1").unwrap()),
            "Password(..)"
        );
    }
}
