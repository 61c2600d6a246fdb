//! An exchange rate. Pure.

use chrono::{DateTime, Utc};
use platform::{ids::Id, money::Rate};

use crate::asset::model::AssetCode;

/// The internal id, which events carry; clients name the pair.
pub(crate) type RateId = Id<ExchangeRate>;

/// Two different assets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) base: AssetCode,
    pub(crate) quote: AssetCode,
}

/// The value of one unit of the base asset in the quote asset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExchangeRate {
    /// A rate that is deleted and created again has another id.
    pub(crate) id: RateId,
    /// Unique.
    pub(crate) pair: Pair,
    /// Units of the quote asset for one of the base asset.
    pub(crate) rate: Rate,
    /// JSON object of the client, as written.
    pub(crate) custom_data: String,
    /// JSON object of the service.
    pub(crate) metadata: String,
    /// Counts the events from 1.
    pub(crate) version: i64,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) updated_at: DateTime<Utc>,
}

/// A new rate; fields as in [`ExchangeRate`].
#[derive(Debug, Clone)]
pub(crate) struct NewRate {
    pub(crate) pair: Pair,
    pub(crate) rate: Rate,
    pub(crate) custom_data: String,
}

/// An update of a rate; fields as in [`ExchangeRate`].
#[derive(Debug, Clone, Default)]
pub(crate) struct RatePatch {
    pub(crate) rate: Option<Rate>,
    pub(crate) custom_data: Option<String>,
}

impl ExchangeRate {
    pub(crate) fn create(id: RateId, new: NewRate, now: DateTime<Utc>) -> Self {
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

    /// Applies an update; returns `None` if it changes nothing.
    #[must_use]
    pub(crate) fn patched(&self, patch: RatePatch, now: DateTime<Utc>) -> Option<Self> {
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

    /// Returns the rate as its deletion publishes it.
    #[must_use]
    pub(crate) fn deleted(self) -> Self {
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
    fn an_update_increments_the_version_only_if_it_changes_something() {
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
