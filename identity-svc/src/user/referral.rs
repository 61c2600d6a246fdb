//! Referral codes: `R` and nine characters of Crockford's base 32.

use platform::ids::Ids;

/// Random characters after the letter: 45 bits.
const RANDOM_CHARS: usize = 9;

/// A code that may be somebody's, in the form in which it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReferralCode(String);

impl ReferralCode {
    /// A new code. Two being equal is left to the database's unique constraint.
    pub fn generate(ids: &Ids) -> Self {
        Self(format!("R{}", ids.code(RANDOM_CHARS)))
    }

    /// Reads what a person typed: any case, and letters that look like digits, as Crockford asks.
    pub fn read(text: &str) -> Self {
        let letter = |c: char| match c.to_ascii_uppercase() {
            'O' => '0',
            'I' | 'L' => '1',
            c => c,
        };
        let text = text.trim();
        let rest = text.chars().skip(1).map(letter);
        Self(
            text.chars()
                .take(1)
                .map(|c| c.to_ascii_uppercase())
                .chain(rest)
                .collect(),
        )
    }

    /// The code as it is stored and shown.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_r_and_nine_characters() {
        let code = ReferralCode::generate(&Ids::seeded(3));
        assert_eq!(code.as_str().len(), 10);
        assert!(code.as_str().starts_with('R'));
        assert_eq!(ReferralCode::read(&code.as_str().to_lowercase()), code);
    }

    #[test]
    fn forgives_how_it_was_typed() {
        assert_eq!(ReferralCode::read(" roil123abc\n").as_str(), "R011123ABC");
        assert_eq!(ReferralCode::read("").as_str(), "");
        assert_eq!(ReferralCode::read("é").as_str(), "é");
    }
}
