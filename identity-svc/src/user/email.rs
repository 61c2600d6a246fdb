//! Email addresses: validation, and the canonical form that is unique.

use std::fmt;

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};
use platform::error::{FieldCode, InvalidValue};
use unicode_normalization::UnicodeNormalization as _;

/// The longest address (RFC 5321, 4.5.3.1.3, less the brackets).
const MAX_BYTES: usize = 254;

/// The longest local part (RFC 5321, 4.5.3.1.1).
const MAX_LOCAL_BYTES: usize = 64;

/// A valid address: the local part as the client wrote it, the domain in lower-case ASCII.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Email(String);

impl Email {
    /// Trims and parses an address. A domain in another script is converted to ASCII.
    pub(crate) fn parse(text: &str) -> Result<Self, InvalidValue> {
        let (local, domain) = text.trim().rsplit_once('@').ok_or_else(invalid)?;
        if !is_local_part(local) {
            return Err(invalid());
        }
        let email = format!("{local}@{}", ascii_domain(domain)?);
        if email.len() > MAX_BYTES {
            return Err(InvalidValue::new(
                FieldCode::Length,
                format!("must have at most {MAX_BYTES} bytes"),
            ));
        }
        Ok(Self(email))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the unique form: all in lower case. Dots and tags stay, as they name other mailboxes.
    pub(crate) fn canonical(&self) -> String {
        canonical(&self.0)
    }
}

/// Returns the canonical form of a text that need not be a whole address, for comparisons.
pub(crate) fn canonical(text: &str) -> String {
    text.trim().to_lowercase()
}

/// Accepts a dot-atom in ASCII (RFC 5322, 3.2.3), as mailboxes are named in practice.
fn is_local_part(local: &str) -> bool {
    let is_atext = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&b);
    local.len() <= MAX_LOCAL_BYTES
        && local
            .split('.')
            .all(|atom| !atom.is_empty() && atom.bytes().all(is_atext))
}

/// Converts a domain of at least two labels to ASCII (UTS 46, non-transitional).
fn ascii_domain(domain: &str) -> Result<String, InvalidValue> {
    let ascii = Uts46::new()
        .to_ascii(
            domain.as_bytes(),
            AsciiDenyList::STD3,
            Hyphens::CheckFirstLast,
            DnsLength::Verify,
        )
        .map_err(|_| invalid())?;
    let ends_in_a_name = ascii
        .rsplit_once('.')
        .is_some_and(|(_, top)| !top.bytes().all(|b| b.is_ascii_digit()));
    if !ends_in_a_name || hides_characters(domain, &ascii) {
        return Err(invalid());
    }
    Ok(ascii.into_owned())
}

/// Detects invisible characters that the mapping dropped, such as a zero-width space.
fn hides_characters(domain: &str, ascii: &str) -> bool {
    let shown = idna::domain_to_unicode(ascii).0;
    !domain.is_ascii() && shown != domain.to_lowercase().nfkc().collect::<String>()
}

fn invalid() -> InvalidValue {
    InvalidValue::new(FieldCode::Format, "must be an email address")
}

/// Hides the address, which is personal data, from logs.
impl fmt::Debug for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Email(..)")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Option<String> {
        Email::parse(text)
            .ok()
            .map(|email| email.as_str().to_owned())
    }

    #[test]
    fn parsing_trims_and_normalises_only_the_domain() {
        for (written, parsed) in [
            ("Foo.Bar+tag@Example.com", "Foo.Bar+tag@example.com"),
            (" a@x.com", "a@x.com"),
            ("a@x.com\n", "a@x.com"),
            ("o'neil@mail.example.co.uk", "o'neil@mail.example.co.uk"),
            ("info@Bücher.example", "info@xn--bcher-kva.example"),
            ("info@xn--bcher-kva.example", "info@xn--bcher-kva.example"),
            ("a@straße.de", "a@xn--strae-oqa.de"),
            ("a@日本.jp", "a@xn--wgv71a.jp"),
            ("a@4chan.org", "a@4chan.org"),
        ] {
            assert_eq!(parse(written).as_deref(), Some(parsed), "{written}");
        }
    }

    #[test]
    fn invalid_addresses_are_refused() {
        let long_local = format!("{}@x.com", "a".repeat(320));
        let long_label = format!("a@{}.com", "b".repeat(64));
        let long = format!("a@{}com", "bcdefghi.".repeat(30));
        for text in [
            "",
            " ",
            "@",
            "a",
            "a@",
            "@x.com",
            "a@x",
            "a@x.",
            "a@.com",
            "a@x..com",
            "a@@x.com",
            "a b@x.com",
            "a@x .com",
            ".a@x.com",
            "a.@x.com",
            "a..b@x.com",
            "\"a\"@x.com",
            "é@x.com",
            "a@x.com\u{200b}",
            "a\u{200b}@x.com",
            "a@x\u{ad}y.com",
            "a\0@x.com",
            "a@x\0.com",
            "a@x.com\u{7f}",
            "a@-x.com",
            "a@x_y.com",
            "a@127.0.0.1",
            "a@[127.0.0.1]",
            "a@xn--.com",
            "a,b@x.com",
            "a@x.com,b@x.com",
            "a\r\nBcc:b@x.com",
            &long_local,
            &long_label,
            &long,
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn canonical_forms_ignore_case_but_not_dots_and_tags() {
        let canonical = |text| Email::parse(text).unwrap().canonical();
        assert_eq!(canonical("A@Example.com"), canonical(" a@EXAMPLE.COM "));
        assert_eq!(
            canonical("info@BÜCHER.example"),
            canonical("info@bücher.example")
        );
        assert_ne!(canonical("bob+1@x.com"), canonical("bob+2@x.com"));
        assert_ne!(canonical("b.ob@x.com"), canonical("bob@x.com"));
    }

    proptest! {
        #[test]
        fn parsing_never_panics_and_is_idempotent(text in ".{0,40}@.{0,40}") {
            if let Ok(email) = Email::parse(&text) {
                prop_assert!(email.as_str().is_ascii());
                let again = Email::parse(email.as_str());
                prop_assert_eq!(again.as_ref(), Ok(&email));
                prop_assert_eq!(Email::parse(&email.canonical()).unwrap().canonical(), email.canonical());
            }
        }
    }
}
