//! The three states of a nullable field in a PATCH, in JSON and on the wire.

use serde::{Deserialize, Deserializer};

/// The change of a nullable field by a PATCH. In a DTO it needs `#[serde(default)]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Patch<T> {
    /// The field is absent and stays as it is.
    #[default]
    Absent,
    /// The field is `null` and is cleared.
    Null,
    /// The field gets this value.
    Set(T),
}

impl<T> Patch<T> {
    /// Decodes the wire form: an `optional` field and the paths of the request's field mask. A field
    /// that is not in the mask stays; one in the mask without a value is cleared (AIP-134).
    pub fn from_wire(name: &str, value: Option<T>, mask: &[String]) -> Self {
        if !mask.iter().any(|path| path == name) {
            return Self::Absent;
        }
        value.map_or(Self::Null, Self::Set)
    }

    /// Encodes the wire form: returns the value to set, and adds the name to the mask unless absent.
    pub fn into_wire(self, name: &str, mask: &mut Vec<String>) -> Option<T> {
        if !self.is_absent() {
            mask.push(name.to_owned());
        }
        match self {
            Self::Absent | Self::Null => None,
            Self::Set(value) => Some(value),
        }
    }

    /// Returns the value after the patch of the value `before`.
    pub fn or(self, before: Option<T>) -> Option<T> {
        match self {
            Self::Absent => before,
            Self::Null => None,
            Self::Set(value) => Some(value),
        }
    }

    /// Maps the value to set, if any.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Patch<U> {
        match self {
            Self::Absent => Patch::Absent,
            Self::Null => Patch::Null,
            Self::Set(value) => Patch::Set(change(value)),
        }
    }

    /// Maps the value to set, if any, by a function that can fail.
    pub fn try_map<U, E>(self, change: impl FnOnce(T) -> Result<U, E>) -> Result<Patch<U>, E> {
        Ok(match self {
            Self::Absent => Patch::Absent,
            Self::Null => Patch::Null,
            Self::Set(value) => Patch::Set(change(value)?),
        })
    }

    /// Returns whether the field stays as it is.
    pub const fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Patch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::Null, Self::Set))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Dto {
        #[serde(default)]
        url: Patch<String>,
    }

    fn read(json: &str) -> Patch<String> {
        serde_json::from_str::<Dto>(json).unwrap().url
    }

    #[test]
    fn json_form_has_three_states() {
        assert_eq!(read("{}"), Patch::Absent);
        assert_eq!(read(r#"{"url":null}"#), Patch::Null);
        assert_eq!(read(r#"{"url":"x"}"#), Patch::Set("x".into()));
    }

    #[test]
    fn wire_form_has_three_states() {
        for patch in [Patch::Absent, Patch::Null, Patch::Set(1)] {
            let mut mask = Vec::new();
            let value = patch.into_wire("url", &mut mask);
            assert_eq!(Patch::from_wire("url", value, &mask), patch);
        }
    }

    #[test]
    fn or_returns_the_patched_value() {
        assert_eq!(Patch::Absent.or(Some(1)), Some(1));
        assert_eq!(Patch::Null.or(Some(1)), None);
        assert_eq!(Patch::Set(2).or(Some(1)), Some(2));
        assert_eq!(Patch::Set(2).map(|n| n * 2), Patch::Set(4));
        assert_eq!(Patch::Set("x").try_map(str::parse::<u8>).ok(), None);
    }
}
