//! The codes that a new user may sign up with: `R` for the referral code of a user, `I` for an invite,
//! then nine characters of Crockford's base 32.

use platform::ids::Ids;

/// Random characters after the letter: 45 bits.
const RANDOM_CHARS: usize = 9;

/// What a code belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Invite,
    Referral,
}

impl Kind {
    const fn letter(self) -> char {
        match self {
            Self::Invite => 'I',
            Self::Referral => 'R',
        }
    }
}

/// A code in its stored form; empty if the text cannot be a code. Whether anything has it is another
/// question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SignUpCode(String);

impl SignUpCode {
    /// Generates a code. The database's unique constraint refuses a duplicate.
    pub(crate) fn generate(kind: Kind, ids: &Ids) -> Self {
        Self(format!("{}{}", kind.letter(), ids.code(RANDOM_CHARS)))
    }

    /// Parses typed text: in any case, and with letters that look like digits, as Crockford asks.
    pub(crate) fn parse(text: &str) -> Self {
        let code = text.trim().chars().enumerate().map(|(index, letter)| {
            match letter.to_ascii_uppercase() {
                'O' if index > 0 => '0',
                'I' | 'L' if index > 0 => '1',
                letter => letter,
            }
        });
        let code: String = code.collect();
        let is_code =
            code.len() == 1 + RANDOM_CHARS && code.bytes().all(|b| b.is_ascii_alphanumeric());
        Self(if is_code { code } else { String::new() })
    }

    /// Returns what the code would belong to; `None` if it cannot be a code.
    pub(crate) fn kind(&self) -> Option<Kind> {
        [Kind::Invite, Kind::Referral]
            .into_iter()
            .find(|kind| self.0.starts_with(kind.letter()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_a_letter_and_nine_characters() {
        for (kind, letter) in [(Kind::Invite, 'I'), (Kind::Referral, 'R')] {
            let code = SignUpCode::generate(kind, &Ids::seeded(3));
            assert_eq!(code.as_str().len(), 10);
            assert!(code.as_str().starts_with(letter));
            assert_eq!(code.kind(), Some(kind));
            assert_eq!(SignUpCode::parse(&code.as_str().to_lowercase()), code);
        }
    }

    #[test]
    fn parsing_ignores_case_and_similar_letters() {
        assert_eq!(SignUpCode::parse(" roil123abc\n").as_str(), "R011123ABC");
        assert_eq!(SignUpCode::parse("ioil123abc").as_str(), "I011123ABC");
        for (text, code) in [
            ("X123456789", "X123456789"),
            ("R12345678", ""),
            ("R12345678\0", ""),
            ("R12345678é", ""),
            ("", ""),
        ] {
            let parsed = SignUpCode::parse(text);
            assert_eq!((parsed.as_str(), parsed.kind()), (code, None), "{text:?}");
        }
    }
}
