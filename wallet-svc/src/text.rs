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
