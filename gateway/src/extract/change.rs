//! Fields of changes that cannot be cleared.

use platform::error::FieldCode;
use serde::{Deserialize, Deserializer, de::Error as _};

use super::json::coded;

/// The change of a field that keeps a value; `null` is refused. In a DTO it needs `#[serde(default)]`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Change<T>(pub(crate) Option<T>);

impl<T> Default for Change<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Change<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Option::deserialize(deserializer)?;
        let cleared = || D::Error::custom(coded(FieldCode::Required, "cannot be cleared"));
        value.map(|value| Self(Some(value))).ok_or_else(cleared)
    }
}
