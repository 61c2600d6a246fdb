//! An asset: a currency, token or point. Pure.

use chrono::{DateTime, Utc};
use platform::{ids::Id, money::DecimalPlaces, patch::Patch};

pub use super::code::AssetCode;

/// The id of an asset, which events about it carry. Clients use its code.
pub type AssetId = Id<Asset>;

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asset {
    /// Its id.
    pub id: AssetId,
    /// Unique without regard to case; never changes.
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
    /// Counts its events from 1; 0 before the first.
    pub version: i64,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it changed last.
    pub updated_at: DateTime<Utc>,
}

/// What a new asset starts with; fields as in [`Asset`].
#[derive(Debug, Clone)]
pub struct NewAsset {
    pub code: AssetCode,
    pub name: String,
    pub symbol: Option<String>,
    pub kind: AssetType,
    pub decimal_places: DecimalPlaces,
    pub enabled: bool,
    pub logo: Option<String>,
    pub contract: String,
    pub custom_data: String,
}

/// A change of an asset; fields as in [`Asset`].
#[derive(Debug, Clone, Default)]
pub struct AssetPatch {
    pub name: Option<String>,
    pub symbol: Patch<String>,
    pub kind: Option<AssetType>,
    pub decimal_places: Option<DecimalPlaces>,
    pub enabled: Option<bool>,
    pub logo: Patch<String>,
    pub contract: Option<String>,
    pub custom_data: Option<String>,
}

/// A system asset would change in more than `enabled`, `customData` and `logo`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadOnly;

impl Asset {
    /// A new asset.
    pub fn create(id: AssetId, new: NewAsset, now: DateTime<Utc>) -> Self {
        Self {
            id,
            code: new.code,
            name: new.name,
            symbol: new.symbol,
            kind: new.kind,
            decimal_places: new.decimal_places,
            enabled: new.enabled,
            system: false,
            logo: new.logo,
            contract: new.contract,
            custom_data: new.custom_data,
            metadata: "{}".to_owned(),
            version: 1,
            created_at: now,
            updated_at: now,
        }
    }

    /// Applies a patch. `None` where it changes nothing.
    pub fn patched(&self, patch: AssetPatch, now: DateTime<Utc>) -> Result<Option<Self>, ReadOnly> {
        let mut after = self.clone();
        after.enabled = patch.enabled.unwrap_or(after.enabled);
        after.logo = patch.logo.or(after.logo);
        after.custom_data = patch.custom_data.unwrap_or(after.custom_data);
        let open = after.clone();
        after.name = patch.name.unwrap_or(after.name);
        after.symbol = patch.symbol.or(after.symbol);
        after.kind = patch.kind.unwrap_or(after.kind);
        after.decimal_places = patch.decimal_places.unwrap_or(after.decimal_places);
        after.contract = patch.contract.unwrap_or(after.contract);
        if self.system && after != open {
            return Err(ReadOnly);
        }
        if after == *self {
            return Ok(None);
        }
        after.updated_at = now.max(self.updated_at);
        after.version += 1;
        Ok(Some(after))
    }

    /// Whether amounts that this asset allowed may not fit `after`.
    pub fn is_coarser(&self, after: &Self) -> bool {
        after.decimal_places < self.decimal_places
    }
}

/// The assets of a first start: code, name, symbol, type, decimal places.
pub const FIRST_ASSETS: [(&str, &str, Option<&str>, AssetType, i16); 4] = [
    ("usd", "US Dollar", Some("$"), AssetType::Fiat, 2),
    ("eur", "Euro", Some("€"), AssetType::Fiat, 2),
    ("btc", "Bitcoin", Some("₿"), AssetType::Crypto, 8),
    ("points", "Points", None, AssetType::Custom, 2),
];

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    fn asset(system: bool) -> Asset {
        let new = NewAsset {
            code: AssetCode::parse("Gold").unwrap(),
            name: "Gold".to_owned(),
            symbol: Some("G".to_owned()),
            kind: AssetType::Custom,
            decimal_places: DecimalPlaces::MAX,
            enabled: true,
            logo: Some("gold.png".to_owned()),
            contract: "{}".to_owned(),
            custom_data: "{}".to_owned(),
        };
        let at = DateTime::from_timestamp_millis(1_769_853_600_000).unwrap();
        let id = AssetId::parse("01920000-0000-7000-8000-000000000001").unwrap();
        Asset {
            system,
            ..Asset::create(id, new, at)
        }
    }

    fn patched(system: bool, patch: AssetPatch) -> Result<Option<Asset>, ReadOnly> {
        let asset = asset(system);
        let now = asset.updated_at + TimeDelta::seconds(1);
        asset.patched(patch, now)
    }

    #[test]
    fn a_patch_that_changes_nothing_is_none() {
        assert_eq!(patched(false, AssetPatch::default()), Ok(None));
        let same = AssetPatch {
            name: Some("Gold".to_owned()),
            enabled: Some(true),
            ..AssetPatch::default()
        };
        assert_eq!(patched(false, same.clone()), Ok(None));
        assert_eq!(patched(true, same), Ok(None));
    }

    #[test]
    fn what_changes_is_counted() {
        let patch = AssetPatch {
            kind: Some(AssetType::Fiat),
            symbol: Patch::Null,
            decimal_places: Some(DecimalPlaces::new(2).unwrap()),
            ..AssetPatch::default()
        };
        let before = asset(false);
        let after = patched(false, patch).unwrap().unwrap();
        assert_eq!((after.version, after.symbol.as_deref()), (2, None));
        assert!(before.is_coarser(&after) && !after.is_coarser(&before));
        assert!(after.updated_at > before.updated_at);
        assert_eq!(after.logo, before.logo);
    }

    #[test]
    fn system_assets_change_in_three_fields_only() {
        let open = AssetPatch {
            enabled: Some(false),
            logo: Patch::Null,
            custom_data: Some(r#"{"a":1}"#.to_owned()),
            ..AssetPatch::default()
        };
        let after = patched(true, open.clone()).unwrap().unwrap();
        assert!(!after.enabled && after.logo.is_none());
        let closed = [
            AssetPatch {
                name: Some("Lead".to_owned()),
                ..open.clone()
            },
            AssetPatch {
                symbol: Patch::Null,
                ..open.clone()
            },
            AssetPatch {
                kind: Some(AssetType::Crypto),
                ..open.clone()
            },
            AssetPatch {
                decimal_places: Some(DecimalPlaces::new(7).unwrap()),
                ..open.clone()
            },
            AssetPatch {
                contract: Some(r#"{"a":1}"#.to_owned()),
                ..open
            },
        ];
        for patch in closed {
            assert_eq!(patched(true, patch), Err(ReadOnly));
        }
    }
}
