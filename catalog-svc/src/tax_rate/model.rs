//! A tax rate and how it changes.

use chrono::{DateTime, Utc};
use platform::{ids::Id, money::Percent};

/// A percentage that is added to net prices.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub(crate) struct TaxRate {
    pub(crate) id: Id<TaxRate>,
    /// 1 to 255 characters.
    pub(crate) name: String,
    /// 0 to 100.
    pub(crate) rate: Percent,
    /// Counts its changes from 1.
    pub(crate) version: i64,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) updated_at: DateTime<Utc>,
}

/// The fields of a new tax rate.
#[derive(Debug, Clone)]
pub(crate) struct NewTaxRate {
    pub(crate) name: String,
    pub(crate) rate: Percent,
}

/// An update of a tax rate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TaxRatePatch {
    pub(crate) name: Option<String>,
    pub(crate) rate: Option<Percent>,
}

impl TaxRate {
    pub(crate) fn create(id: Id<Self>, new: NewTaxRate, now: DateTime<Utc>) -> Self {
        Self {
            id,
            name: new.name,
            rate: new.rate,
            version: 1,
            created_at: now,
            updated_at: now,
        }
    }

    /// Applies an update that is not empty.
    pub(crate) fn update(&mut self, patch: TaxRatePatch, now: DateTime<Utc>) {
        if let Some(name) = patch.name {
            self.name = name;
        }
        self.rate = patch.rate.unwrap_or(self.rate);
        self.touch(now);
    }

    /// Counts a change that is not in its fields, such as its deletion.
    pub(crate) fn touch(&mut self, now: DateTime<Utc>) {
        self.version += 1;
        self.updated_at = now;
    }
}
