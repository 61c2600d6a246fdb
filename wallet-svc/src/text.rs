//! The texts that clients write, and how long they may be. Lengths count characters.

pub use platform::text::object;
use platform::{
    error::InvalidValue,
    text::{self, bounded},
};

/// A name: 1 to 255 characters.
pub fn name(text: String) -> Result<String, InvalidValue> {
    bounded(text, 1..=255)
}

/// Text of at most so many characters.
pub fn at_most(longest: usize) -> impl FnOnce(String) -> Result<String, InvalidValue> {
    move |text| bounded(text, 0..=longest)
}

/// The object of what was written without one.
pub fn empty_object() -> String {
    text::EMPTY_OBJECT.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_has_its_limits() {
        assert!(name("é".repeat(255)).is_ok() && name("é".repeat(256)).is_err());
        assert!(name(String::new()).is_err() && at_most(16)(String::new()).is_ok());
        assert!(at_most(16)("₿".repeat(16)).is_ok() && at_most(16)("x".repeat(17)).is_err());
        assert!(object(empty_object()).is_ok());
    }
}
