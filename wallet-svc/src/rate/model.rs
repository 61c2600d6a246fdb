//! A rate. Pure.

use chrono::{DateTime, Utc};
use platform::{ids::Id, money::Rate};

use crate::asset::model::AssetCode;

/// The id of a rate, which events about it carry. Clients name the pair.
pub type RateId = Id<ExchangeRate>;

/// Two assets that differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// The asset that one unit is of.
    pub base: AssetCode,
    /// The asset that says what it is worth.
    pub quote: AssetCode,
}

/// What one unit of the base asset is worth in the quote asset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExchangeRate {
    /// Its id; a rate that is made again has another.
    pub id: RateId,
    /// At most one rate a pair.
    pub pair: Pair,
    /// Units of the quote asset for one of the base asset.
    pub rate: Rate,
    /// The client's JSON object, as written.
    pub custom_data: String,
    /// JSON object of the service.
    pub metadata: String,
    /// Counts its events from 1.
    pub version: i64,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it changed last.
    pub updated_at: DateTime<Utc>,
}

/// What a new rate starts with.
#[derive(Debug, Clone)]
pub struct NewRate {
    /// The pair.
    pub pair: Pair,
    /// See [`ExchangeRate::rate`].
    pub rate: Rate,
    /// The client's JSON object.
    pub custom_data: String,
}

/// A change of a rate.
#[derive(Debug, Clone, Default)]
pub struct RatePatch {
    /// See [`ExchangeRate::rate`].
    pub rate: Option<Rate>,
    /// The client's JSON object, whole.
    pub custom_data: Option<String>,
}

impl ExchangeRate {
    /// A new rate.
    pub fn create(id: RateId, new: NewRate, now: DateTime<Utc>) -> Self {
        Self {
            id,
            pair: new.pair,
            rate: new.rate,
            custom_data: new.custom_data,
            metadata: "{}".to_owned(),
            version: 1,
            created_at: now,
            updated_at: now,
        }
    }

    /// Applies a patch. `None` where it changes nothing.
    #[must_use]
    pub fn patched(&self, patch: RatePatch, now: DateTime<Utc>) -> Option<Self> {
        let mut after = self.clone();
        after.rate = patch.rate.unwrap_or(after.rate);
        after.custom_data = patch.custom_data.unwrap_or(after.custom_data);
        if after == *self {
            return None;
        }
        after.version += 1;
        after.updated_at = now.max(self.updated_at);
        Some(after)
    }

    /// As it is when it ends.
    #[must_use]
    pub fn deleted(self) -> Self {
        Self {
            version: self.version + 1,
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    fn rate() -> ExchangeRate {
        let new = NewRate {
            pair: Pair {
                base: AssetCode::stored("points"),
                quote: AssetCode::stored("usd"),
            },
            rate: Rate::parse("0.01").unwrap(),
            custom_data: "{}".to_owned(),
        };
        let id = RateId::parse("01920000-0000-7000-8000-000000000001").unwrap();
        let at = DateTime::from_timestamp_millis(1_769_853_600_000).unwrap();
        ExchangeRate::create(id, new, at)
    }

    #[test]
    fn a_patch_counts_what_it_changes() {
        let now = rate().updated_at + TimeDelta::seconds(1);
        let same = RatePatch {
            rate: Some(rate().rate),
            custom_data: None,
        };
        assert_eq!(rate().patched(RatePatch::default(), now), None);
        assert_eq!(rate().patched(same, now), None);
        let noted = RatePatch {
            rate: None,
            custom_data: Some(r#"{"source":"desk"}"#.to_owned()),
        };
        let after = rate().patched(noted, now).unwrap();
        assert_eq!((after.version, after.rate), (2, rate().rate));
        assert_eq!(
            (after.updated_at, after.created_at),
            (now, rate().created_at)
        );
        assert_eq!(after.deleted().version, 3);
    }
}
