//! Passwords that attackers try first: the most used ones that have the required characters, and
//! those made of the user's email or the product's name.

use std::{collections::HashSet, sync::LazyLock};

/// The 300 most used passwords of 8 characters and more with letters and digits, in lower case. The
/// ranks are those of public collections of leaked passwords.
static COMMON: LazyLock<HashSet<&str>> =
    LazyLock::new(|| include_str!("common.txt").lines().collect());

const PRODUCT: &str = "guerdon";

/// Returns whether a password is one of the most used ones or the product's name, whatever its case.
pub(super) fn is_common(password: &str) -> bool {
    let lower = password.to_lowercase();
    COMMON.contains(lower.as_str()) || letters(&lower) == PRODUCT
}

/// Returns whether the letters of a password are those of the email, or of the part before the `@`.
pub(super) fn is_made_of(email: &str, password: &str) -> bool {
    let (password, email) = (letters(password), email.to_lowercase());
    let local = email.split('@').next().unwrap_or_default();
    // Fewer letters occur in many passwords by chance.
    [local, &email]
        .into_iter()
        .map(letters)
        .any(|name| name.len() > 2 && name == password)
}

/// Returns the letters of a text in lower case, without the digits and signs that people add.
fn letters(text: &str) -> String {
    let lower = text.to_lowercase();
    lower.chars().filter(|c| c.is_alphabetic()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_holds_what_the_other_rules_would_accept() {
        assert_eq!(COMMON.len(), 300);
        for password in COMMON.iter() {
            assert_eq!(*password, password.to_lowercase());
            let has = |class: fn(&u8) -> bool| password.bytes().filter(class).count();
            assert!(
                password.len() >= 8 && has(u8::is_ascii_digit) > 0,
                "{password}"
            );
            assert!(has(u8::is_ascii_lowercase) > 1, "{password}");
        }
    }

    #[test]
    fn common_passwords_are_found_in_any_case() {
        for password in [
            "Password1",
            "PASSWORD1a",
            "Qwerty123",
            "Guerdon2026!",
            "1Guerdon",
        ] {
            let expected = password != "PASSWORD1a";
            assert_eq!(is_common(password), expected, "{password}");
        }
        assert!(!is_common("Correct1Horse"));
    }

    #[test]
    fn passwords_made_of_the_email_are_found() {
        for (email, password, expected) in [
            ("john.smith@example.com", "JohnSmith1", true),
            ("john.smith@example.com", "Smith.John1", false),
            ("johnsmith7@example.com", "J0hnSmith12", false),
            ("johnsmith7@example.com", "1Johnsmith!", true),
            ("ann@example.com", "Ann@Example.com1", true),
            ("ann@example.com", "Ann45678", true),
            ("al@example.com", "Al345678", false),
            ("1@example.com", "Abcdefg1", false),
        ] {
            assert_eq!(is_made_of(email, password), expected, "{email} {password}");
        }
    }
}
