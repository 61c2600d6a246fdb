//! An asset: a currency, token or point. Pure.

use std::{fmt, sync::Arc};

use chrono::{DateTime, Utc};
use platform::money::DecimalPlaces;

/// The code of an asset that exists, as it was written when the asset was made.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AssetCode(Arc<str>);

impl AssetCode {
    /// Wraps a code read from the assets' table.
    pub fn stored(code: &str) -> Self {
        Self(code.into())
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AssetCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for AssetCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

/// What sort of thing it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AssetType {
    /// A coin or token on a chain.
    Crypto,
    /// The shop's own.
    Custom,
    /// A state's money.
    Fiat,
}

impl AssetType {
    /// Its public name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Crypto => "crypto",
            Self::Custom => "custom",
            Self::Fiat => "fiat",
        }
    }

    /// The type with this name.
    pub fn find(name: &str) -> Option<Self> {
        [Self::Crypto, Self::Custom, Self::Fiat]
            .into_iter()
            .find(|kind| kind.as_str() == name)
    }
}

/// A currency, token or point.
#[derive(Debug, Clone)]
pub struct Asset {
    /// Unique without regard to case.
    pub code: AssetCode,
    /// For people.
    pub name: String,
    /// `$`, `₿`.
    pub symbol: Option<String>,
    /// What sort of thing it is.
    pub kind: AssetType,
    /// How fine it can be divided.
    pub decimal_places: DecimalPlaces,
    /// Whether it accepts new transactions.
    pub enabled: bool,
    /// Whether Guerdon made it.
    pub system: bool,
    /// Where its picture is.
    pub logo: Option<String>,
    /// JSON object about its contract.
    pub contract: String,
    /// The client's JSON object, as written.
    pub custom_data: String,
    /// JSON object of the service.
    pub metadata: String,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it changed last.
    pub updated_at: DateTime<Utc>,
}

/// The assets of a first start: code, name, symbol, type, decimal places.
pub const FIRST_ASSETS: [(&str, &str, Option<&str>, AssetType, i16); 4] = [
    ("usd", "US Dollar", Some("$"), AssetType::Fiat, 2),
    ("eur", "Euro", Some("€"), AssetType::Fiat, 2),
    ("btc", "Bitcoin", Some("₿"), AssetType::Crypto, 8),
    ("points", "Points", None, AssetType::Custom, 2),
];
