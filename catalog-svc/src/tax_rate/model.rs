//! A tax rate and how it changes.

use chrono::{DateTime, Utc};
use platform::{ids::Id, money::Percent};

/// A percentage added to net prices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaxRate {
    /// Identifies it.
    pub id: Id<TaxRate>,
    /// 1 to 255 characters.
    pub name: String,
    /// 0 to 100.
    pub rate: Percent,
    /// Counts its changes from 1.
    pub version: i64,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
}

/// What a new tax rate is made of.
#[derive(Debug, Clone)]
pub struct NewTaxRate {
    /// See [`TaxRate::name`].
    pub name: String,
    /// See [`TaxRate::rate`].
    pub rate: Percent,
}

/// What an update changes.
#[derive(Debug, Clone, Default)]
pub struct TaxRatePatch {
    /// See [`TaxRate::name`].
    pub name: Option<String>,
    /// See [`TaxRate::rate`].
    pub rate: Option<Percent>,
}

impl TaxRatePatch {
    /// Whether it leaves everything as it is.
    pub fn is_empty(&self) -> bool {
        self.name.is_none() && self.rate.is_none()
    }
}

impl TaxRate {
    /// A new tax rate.
    pub fn create(id: Id<Self>, new: NewTaxRate, now: DateTime<Utc>) -> Self {
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
    pub fn update(&mut self, patch: TaxRatePatch, now: DateTime<Utc>) {
        if let Some(name) = patch.name {
            self.name = name;
        }
        self.rate = patch.rate.unwrap_or(self.rate);
        self.version += 1;
        self.updated_at = now;
    }

    /// Ends it.
    pub fn delete(&mut self, now: DateTime<Utc>) {
        self.version += 1;
        self.updated_at = now;
    }
}
