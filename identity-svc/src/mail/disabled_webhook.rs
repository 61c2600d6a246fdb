//! What a mail to admins says of a webhook that was disabled: its values then, as it may change until the mail is sent.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// Characters of a text that are shown.
const MAX_CHARS: usize = 300;

/// A disabled webhook. It has no more of the URL than the host: the rest may be a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DisabledWebhook {
    pub(crate) id: String,
    pub(crate) host: String,
    pub(crate) description: Line,
    /// `gone` or `failing`.
    pub(crate) reason: String,
    pub(crate) failing_since: DateTime<Utc>,
    /// The status or the error of the last attempt.
    pub(crate) last_error: Line,
}

/// A text as one line of a mail shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Line(String);

impl Line {
    pub(crate) fn new(text: &str) -> Self {
        let shown: String = text.chars().take(MAX_CHARS).collect();
        let words = shown.split(|c: char| c.is_whitespace() || c.is_control());
        let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
        Self(words.join(" "))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_becomes_one_short_line() {
        for (text, shown) in [
            ("the shop", "the shop"),
            (" a\r\nb\0\u{2028}c ", "a b c"),
            ("", ""),
            (&"é".repeat(1_000), &"é".repeat(300)),
        ] {
            assert_eq!(Line::new(text).as_str(), shown);
        }
    }
}
