//! Limits of the texts of requests. Lengths count characters.

use platform::{
    error::{Failure, InvalidValue},
    ids::Id,
    text::{EMPTY_OBJECT, bounded},
};

pub(crate) use platform::{
    fields::{CHECKED, Fields},
    text::object as custom_data,
};

/// Parses the id of the item that another is moved right before.
pub(crate) fn subsequent<T>(written: Option<String>) -> Result<Option<Id<T>>, Failure> {
    let next = written.map(|id| Id::parse(&id)).transpose();
    next.map_err(|invalid| invalid.at("subsequentId"))
}

/// Checks a text that names something: 1 to 255 characters.
pub(crate) fn title(text: String) -> Result<String, InvalidValue> {
    bounded(text, 1..=255)
}

/// Checks a name that may be empty: at most 255 characters.
pub(crate) fn name(text: String) -> Result<String, InvalidValue> {
    bounded(text, 0..=255)
}

/// Checks a description: at most 10 000 characters.
pub(crate) fn description(text: String) -> Result<String, InvalidValue> {
    bounded(text, 0..=10_000)
}

/// Checks any other text: at most 2 048 characters.
pub(crate) fn plain(text: String) -> Result<String, InvalidValue> {
    bounded(text, 0..=2_048)
}

/// Returns the default of `customData` and `metadata`.
pub(crate) fn empty_object() -> String {
    EMPTY_OBJECT.to_owned()
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
        assert!(custom_data(empty_object()).is_ok());
    }
}
