//! The three states of a nullable field in a PATCH, in JSON and on the wire.

use serde::{Deserialize, Deserializer};

/// What a PATCH says about a nullable field. In a DTO it needs `#[serde(default)]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Patch<T> {
    /// Not mentioned: it stays as it is.
    #[default]
    Absent,
    /// `null`: it is cleared.
    Null,
    /// It gets this value.
    Set(T),
}

impl<T> Patch<T> {
    /// Reads the wire form: an `optional` field and the paths of the request's field mask. What the
    /// mask does not name stays; what it names without a value is cleared (AIP-134).
    pub fn from_wire(name: &str, value: Option<T>, mask: &[String]) -> Self {
        if !mask.iter().any(|path| path == name) {
            return Self::Absent;
        }
        value.map_or(Self::Null, Self::Set)
    }

    /// Gives the wire form: the value to set, and the name added to the mask unless absent.
    pub fn into_wire(self, name: &str, mask: &mut Vec<String>) -> Option<T> {
        if !self.is_absent() {
            mask.push(name.to_owned());
        }
        match self {
            Self::Absent | Self::Null => None,
            Self::Set(value) => Some(value),
        }
    }

    /// The value after the patch of what was there before.
    pub fn or(self, before: Option<T>) -> Option<T> {
        match self {
            Self::Absent => before,
            Self::Null => None,
            Self::Set(value) => Some(value),
        }
    }

    /// Turns the value it sets, if any, into another.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Patch<U> {
        match self {
            Self::Absent => Patch::Absent,
            Self::Null => Patch::Null,
            Self::Set(value) => Patch::Set(change(value)),
        }
    }

    /// Like [`Patch::map`], where the change can fail.
    pub fn try_map<U, E>(self, change: impl FnOnce(T) -> Result<U, E>) -> Result<Patch<U>, E> {
        Ok(match self {
            Self::Absent => Patch::Absent,
            Self::Null => Patch::Null,
            Self::Set(value) => Patch::Set(change(value)?),
        })
    }

    /// Whether it leaves the field as it is.
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
    fn json_has_three_states() {
        assert_eq!(read("{}"), Patch::Absent);
        assert_eq!(read(r#"{"url":null}"#), Patch::Null);
        assert_eq!(read(r#"{"url":"x"}"#), Patch::Set("x".into()));
    }

    #[test]
    fn so_has_the_wire() {
        for patch in [Patch::Absent, Patch::Null, Patch::Set(1)] {
            let mut mask = Vec::new();
            let value = patch.into_wire("url", &mut mask);
            assert_eq!(Patch::from_wire("url", value, &mask), patch);
        }
    }

    #[test]
    fn applies_to_what_was_there() {
        assert_eq!(Patch::Absent.or(Some(1)), Some(1));
        assert_eq!(Patch::Null.or(Some(1)), None);
        assert_eq!(Patch::Set(2).or(Some(1)), Some(2));
        assert_eq!(Patch::Set(2).map(|n| n * 2), Patch::Set(4));
        assert_eq!(Patch::Set("x").try_map(str::parse::<u8>).ok(), None);
    }
}
