//! Referral codes: `R` and nine characters of Crockford's base 32.

use platform::ids::Ids;

/// Random characters after the `R`: 45 bits.
const RANDOM_CHARS: usize = 9;

/// A referral code in its stored form. Whether a user has it is another question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReferralCode(String);

impl ReferralCode {
    /// Generates a code. The database's unique constraint refuses a duplicate.
    pub(crate) fn generate(ids: &Ids) -> Self {
        Self(format!("R{}", ids.code(RANDOM_CHARS)))
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
        Self(code.collect())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_r_and_nine_characters() {
        let code = ReferralCode::generate(&Ids::seeded(3));
        assert_eq!(code.as_str().len(), 10);
        assert!(code.as_str().starts_with('R'));
        assert_eq!(ReferralCode::parse(&code.as_str().to_lowercase()), code);
    }

    #[test]
    fn parsing_ignores_case_and_similar_letters() {
        assert_eq!(ReferralCode::parse(" roil123abc\n").as_str(), "R011123ABC");
        assert_eq!(ReferralCode::parse("").as_str(), "");
        assert_eq!(ReferralCode::parse("é").as_str(), "é");
    }
}
