//! Values that must stay where they belong, and the forms in which they could turn up elsewhere.

use std::fmt::Write as _;

use base64::{Engine as _, engine::general_purpose as base64_of};
use rand::Rng as _;

/// A part of every secret that the test makes up, and the secrets that the system makes.
pub(super) struct Canaries {
    /// A part of every password, key and token that the test makes up: one search finds them all.
    pub(super) tag: String,
    /// The same of mail addresses, which have places of their own.
    pub(super) mail_tag: String,
    known: Vec<Canary>,
}

/// A secret, in the forms in which it could be written somewhere.
pub(super) struct Canary {
    pub(super) name: String,
    pub(super) forms: Vec<String>,
    pub(super) is_mail: bool,
}

impl Canaries {
    pub(super) fn new() -> Self {
        let tag = |prefix: &str| format!("{prefix}{:08x}", rand::rng().random::<u32>());
        let (tag, mail_tag) = (tag("kanari"), tag("mailbox"));
        let mut canaries = Self {
            known: Vec::new(),
            tag,
            mail_tag,
        };
        let (tag, mail_tag) = (canaries.tag.clone(), canaries.mail_tag.clone());
        canaries.add("a secret of the test", &tag);
        canaries.add("a mail address", &mail_tag);
        let of_mail = canaries.known.last_mut().expect("just added");
        of_mail.is_mail = true;
        canaries
    }

    /// Returns a secret that the test makes up.
    pub(super) fn secret(&self, purpose: &str) -> String {
        format!("{}-{purpose}", self.tag)
    }

    /// Returns a password that new users may have.
    pub(super) fn password(&self, purpose: &str) -> String {
        format!("Aa1-{}", self.secret(purpose))
    }

    pub(super) fn email(&self, user: &str) -> String {
        format!("{user}-{}@example.com", self.mail_tag)
    }

    /// Adds a secret that the system has made.
    pub(super) fn add(&mut self, name: &str, value: &str) {
        self.known.push(Canary {
            name: name.to_owned(),
            forms: forms(value),
            is_mail: false,
        });
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Canary> {
        self.known.iter()
    }
}

/// Returns the value as it is, in hexadecimal and in base64, and the bytes that it encodes.
fn forms(value: &str) -> Vec<String> {
    let mut forms = vec![value.to_owned(), hexadecimal(value.as_bytes())];
    // What precedes a value shifts its base64: as in `Basic base64(user:password)`.
    for shift in 0..3 {
        let text =
            base64_of::STANDARD_NO_PAD.encode([&b"\0\0\0"[..shift], value.as_bytes()].concat());
        // The first characters depend on what precedes, the last on what follows.
        let inner = &text[shift.div_ceil(3) * 4..text.len() - 3];
        forms.push(inner.to_owned());
    }
    let encoded = value.rsplit(['.', '_']).next().unwrap_or_default();
    let decoded = base64_of::URL_SAFE_NO_PAD
        .decode(value)
        .or_else(|_| base64_of::URL_SAFE_NO_PAD.decode(encoded))
        .or_else(|_| base64_of::STANDARD.decode(encoded));
    if let Some(bytes) = decoded.ok().filter(|bytes| bytes.len() >= 32) {
        forms.push(hexadecimal(&bytes[bytes.len() - 32..]));
    }
    forms
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a String takes any text");
        text
    })
}

#[test]
fn a_secret_is_recognised_in_every_form() {
    let mut canaries = Canaries::new();
    let token = base64_of::URL_SAFE_NO_PAD.encode([7; 48]);
    canaries.add("a token", &format!("grt_{token}"));
    let secret = base64_of::STANDARD.encode([0xfb; 32]);
    canaries.add("the secret of a webhook", &format!("whsec_{secret}"));
    let (tag, tag_bytes) = (canaries.tag.clone(), canaries.tag.as_bytes());
    for text in [
        format!("the password is {tag}."),
        hexadecimal(format!("pass {tag}!").as_bytes()),
        base64_of::STANDARD.encode(format!("u:{tag}-more")),
        base64_of::STANDARD.encode(format!("us:{tag}-more")),
        base64_of::URL_SAFE.encode(format!("use:{tag}-more")),
        base64_of::STANDARD.encode(tag_bytes),
        format!("\\x00{}", "07".repeat(32)),
        format!("\\x00{}", "fb".repeat(32)),
    ] {
        let found = canaries.iter().any(|canary| canary.is_in(&text));
        assert!(found, "{text}");
    }
    let other = "nothing that is secret".repeat(100);
    assert!(!canaries.iter().any(|canary| canary.is_in(&other)));
}

impl Canary {
    fn is_in(&self, text: &str) -> bool {
        self.forms.iter().any(|form| text.contains(form))
    }
}
