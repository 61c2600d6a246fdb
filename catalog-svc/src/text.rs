//! The texts that clients write, and how long they may be. Lengths count characters.

pub use platform::text::object as custom_data;
use platform::{
    error::InvalidValue,
    text::{self, bounded},
};

/// A text that names something: 1 to 255 characters.
pub fn title(text: String) -> Result<String, InvalidValue> {
    bounded(text, 1..=255)
}

/// A name that may be empty: at most 255 characters.
pub fn name(text: String) -> Result<String, InvalidValue> {
    bounded(text, 0..=255)
}

/// At most 10 000 characters.
pub fn description(text: String) -> Result<String, InvalidValue> {
    bounded(text, 0..=10_000)
}

/// Any other text: at most 2 048 characters.
pub fn plain(text: String) -> Result<String, InvalidValue> {
    bounded(text, 0..=2_048)
}

/// The `customData` of what was written without.
pub fn no_custom_data() -> String {
    text::EMPTY_OBJECT.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_has_its_limits() {
        assert!(title("é".repeat(255)).is_ok() && title("é".repeat(256)).is_err());
        assert!(title(String::new()).is_err() && name(String::new()).is_ok());
        assert!(name("x".repeat(255)).is_ok() && name("x".repeat(256)).is_err());
        assert!(description("日".repeat(10_000)).is_ok());
        assert!(description("日".repeat(10_001)).is_err());
        assert!(plain("x".repeat(2_048)).is_ok() && plain("x".repeat(2_049)).is_err());
        assert!(custom_data(no_custom_data()).is_ok());
    }
}
