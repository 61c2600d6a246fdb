//! Passwords: validation, and hashing (Argon2id) at a bounded cost.

use std::{fmt, num::NonZero, sync::Arc, thread, time::Duration};

use argon2::{Argon2, password_hash::PasswordHasher as _};
use platform::{
    error::{Code, Failure, FieldCode, InvalidValue},
    grpc::deadline,
};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::{sync::Semaphore, task};
use unicode_normalization::UnicodeNormalization as _;

use crate::error::{Error, Result};

const MIN_CHARS: usize = 8;
const MAX_CHARS: usize = 256;

/// The most hashes that wait for others: more would wait for longer than a request's time.
const MAX_WAITING: usize = 32;
/// The least time that a request needs for its hash and what follows. With less, its caller would be
/// gone when it takes effect.
const LEAST_TIME: Duration = Duration::from_millis(500);

/// A valid password in normal form (NFKC): the same from any keyboard.
pub(crate) struct Password(SecretString);

impl Password {
    /// Parses a password: 8 to 256 characters with a capital, a lower-case letter and a digit, each
    /// of ASCII. Spaces count and stay. A text that is too long is refused before it is normalised.
    pub(crate) fn parse(text: &str) -> Result<Self, InvalidValue> {
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

/// Hashes passwords on blocking threads, a few at a time: a hash takes 19 MiB and tens of
/// milliseconds, and many sign-ups must not starve other requests.
#[derive(Debug, Clone)]
pub(crate) struct Hasher {
    permits: Arc<Semaphore>,
    /// The places of hashes in progress and of those that wait for a permit.
    places: Arc<Semaphore>,
}

impl Default for Hasher {
    /// Creates a hasher that uses at most half of the machine's cores.
    fn default() -> Self {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        Self::new((cores / 2).max(1))
    }
}

impl Hasher {
    fn new(parallel: usize) -> Self {
        Self {
            permits: Arc::new(Semaphore::new(parallel)),
            places: Arc::new(Semaphore::new(parallel + MAX_WAITING)),
        }
    }

    /// Returns the hash in PHC form, with a random salt. `unavailable` if too many wait, `timeout` if
    /// the request's time is over when its turn comes.
    pub(crate) async fn hash(&self, password: &Password) -> Result<String> {
        let password = password.0.clone();
        let place = Arc::clone(&self.places).try_acquire_owned();
        let place = place.map_err(|_| too_many())?;
        let permit = Arc::clone(&self.permits)
            .acquire_owned()
            .await
            .map_err(Error::internal)?;
        if deadline::remaining().is_some_and(|left| left < LEAST_TIME) {
            return Err(Failure::new(Code::Timeout, "no time is left to hash the password").into());
        }
        task::spawn_blocking(move || {
            // Held until the hash is done, also if its caller is gone.
            let _held = (place, permit);
            Argon2::default()
                .hash_password(password.expose_secret().as_bytes())
                .map(|hash| hash.to_string())
        })
        .await
        .map_err(Error::internal)?
        .map_err(Error::internal)
    }
}

fn too_many() -> Error {
    Failure::new(Code::Unavailable, "too many passwords wait to be hashed").into()
}

#[cfg(test)]
mod tests {
    use argon2::password_hash::{PasswordVerifier as _, phc::PasswordHash};

    use super::*;

    fn error(text: &str) -> Option<FieldCode> {
        Password::parse(text).err().map(|invalid| invalid.code)
    }

    #[test]
    fn length_and_character_classes_are_checked() {
        let long = |chars: usize| format!("Aa1{}", "é".repeat(chars - 3));
        for (text, expected) in [
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
            assert_eq!(error(text), expected, "{text:.20}");
        }
    }

    #[tokio::test]
    async fn hashes_cover_every_character_and_any_normal_form() {
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

    fn code(result: Result<String>) -> Code {
        Failure::from(result.unwrap_err()).code
    }

    #[tokio::test]
    async fn more_than_can_wait_are_refused_at_once() {
        let hasher = Hasher::new(1);
        let password = Password::parse("Abcdefg1").unwrap();
        let busy = Arc::clone(&hasher.permits).acquire_owned().await.unwrap();
        let mut waiting: Vec<_> = (0..=MAX_WAITING)
            .map(|_| Box::pin(hasher.hash(&password)))
            .collect();
        for hash in &mut waiting {
            assert!(futures::poll!(hash).is_pending());
        }
        let refused = Failure::from(hasher.hash(&password).await.unwrap_err());
        assert_eq!(refused.code, Code::Unavailable);
        assert!(refused.retry_after.is_some());
        drop(busy);
        waiting.swap_remove(0).await.unwrap();
        drop(waiting);
        hasher.hash(&password).await.unwrap();
    }

    #[tokio::test]
    async fn a_request_without_time_hashes_nothing() {
        let hasher = Hasher::new(1);
        let password = Password::parse("Abcdefg1").unwrap();
        let soon = tokio::time::Instant::now() + LEAST_TIME / 2;
        let late = deadline::within(Some(soon), hasher.hash(&password)).await;
        assert_eq!(code(late), Code::Timeout);
        assert_eq!(hasher.places.available_permits(), 1 + MAX_WAITING);
    }

    #[test]
    fn debug_output_hides_the_password() {
        assert_eq!(
            format!("{:?}", Password::parse("Abcdefg1").unwrap()),
            "Password(..)"
        );
    }
}
