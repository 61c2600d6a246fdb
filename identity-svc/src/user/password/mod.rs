//! Passwords: the rule for new ones, the form that attempts are compared in, and hashing.

mod common;
mod hasher;

use std::fmt;

use platform::error::{FieldCode, InvalidValue};
use secrecy::{ExposeSecret as _, SecretString};
use unicode_normalization::UnicodeNormalization as _;

pub(crate) use hasher::{Hasher, HashingCost};

const MIN_CHARS: usize = 8;
const MAX_CHARS: usize = 256;

/// A valid new password in normal form (NFKC): the same from any keyboard.
pub(crate) struct Password(SecretString);

/// A password of a login in normal form. It need not meet the rule for new ones.
pub(crate) struct PasswordAttempt(SecretString);

impl Password {
    /// Parses a password: 8 to 256 characters with a capital, a lower-case letter and a digit, each
    /// of ASCII, and none of the most used ones. Spaces count and stay. A text that is too long is
    /// refused before it is normalised.
    pub(crate) fn parse(text: &str) -> Result<Self, InvalidValue> {
        let normal = normalise(text).ok_or_else(wrong_length)?;
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
        if common::is_common(&normal) {
            return Err(easy_to_guess("is one of the most used passwords"));
        }
        Ok(Self(SecretString::from(normal)))
    }

    /// Refuses a password that is made of the user's own email.
    pub(crate) fn check_for(&self, email: &str) -> Result<(), InvalidValue> {
        if common::is_made_of(email, self.0.expose_secret()) {
            return Err(easy_to_guess("must not be made of the email"));
        }
        Ok(())
    }
}

impl PasswordAttempt {
    /// Parses the password of a login; `None` if it is longer than any password.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        normalise(text).map(|normal| Self(SecretString::from(normal)))
    }
}

/// Returns the normal form, unless the text is too long.
fn normalise(text: &str) -> Option<String> {
    let fits = text.chars().nth(MAX_CHARS).is_none();
    fits.then(|| text.nfkc().collect())
}

fn wrong_length() -> InvalidValue {
    InvalidValue::new(
        FieldCode::Length,
        format!("must have {MIN_CHARS} to {MAX_CHARS} characters"),
    )
}

fn easy_to_guess(why: &str) -> InvalidValue {
    InvalidValue::new(FieldCode::Format, why)
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(..)")
    }
}

impl fmt::Debug for PasswordAttempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordAttempt(..)")
    }
}

#[cfg(test)]
mod tests {
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
            ("Passw0rd", Some(FieldCode::Format)),
            ("Guerdon1", Some(FieldCode::Format)),
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

    #[test]
    fn a_long_text_is_refused_without_work() {
        let megabyte = "Aa1é".repeat(1 << 18);
        let started = std::time::Instant::now();
        assert_eq!(error(&megabyte), Some(FieldCode::Length));
        assert!(PasswordAttempt::parse(&megabyte).is_none());
        assert!(started.elapsed() < std::time::Duration::from_millis(50));
    }

    #[test]
    fn a_password_is_not_made_of_the_email() {
        let check = |text| Password::parse(text).unwrap().check_for("Ann.Lee@x.com");
        assert_eq!(check("AnnLee2026").unwrap_err().code, FieldCode::Format);
        assert_eq!(check("AnnaLee2026"), Ok(()));
    }

    #[test]
    fn debug_output_hides_the_password() {
        let password = Password::parse("Abcdefg1").unwrap();
        assert_eq!(format!("{password:?}"), "Password(..)");
        let attempt = PasswordAttempt::parse("Abcdefg1").unwrap();
        assert_eq!(format!("{attempt:?}"), "PasswordAttempt(..)");
    }
}
