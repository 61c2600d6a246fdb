//! An asset: a currency, a token or points. Pure.

use chrono::{DateTime, Utc};
use platform::{ids::Id, money::DecimalPlaces, patch::Patch};

pub(crate) use super::code::AssetCode;

/// The internal id, which events carry; clients use the code.
pub(crate) type AssetId = Id<Asset>;

/// The type of an asset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AssetType {
    /// A coin or token on a blockchain.
    Crypto,
    /// Points or a token of the shop.
    Custom,
    /// Money of a state.
    Fiat,
}

impl AssetType {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Crypto => "crypto",
            Self::Custom => "custom",
            Self::Fiat => "fiat",
        }
    }

    pub(crate) fn find(name: &str) -> Option<Self> {
        [Self::Crypto, Self::Custom, Self::Fiat]
            .into_iter()
            .find(|kind| kind.as_str() == name)
    }
}

/// A currency, token or points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asset {
    pub(crate) id: AssetId,
    /// Unique without regard to case; never changes.
    pub(crate) code: AssetCode,
    pub(crate) name: String,
    /// Like `$` or `₿`.
    pub(crate) symbol: Option<String>,
    pub(crate) kind: AssetType,
    /// The decimals that amounts may have.
    pub(crate) decimal_places: DecimalPlaces,
    /// Whether it accepts new transactions.
    pub(crate) enabled: bool,
    /// Created by Guerdon, and mostly read-only.
    pub(crate) system: bool,
    /// URL or path of a picture.
    pub(crate) logo: Option<String>,
    /// JSON object about the contract on its blockchain.
    pub(crate) contract: String,
    /// JSON object of the client, as written.
    pub(crate) custom_data: String,
    /// JSON object of the service.
    pub(crate) metadata: String,
    /// Counts the events from 1; 0 before the first.
    pub(crate) version: i64,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) updated_at: DateTime<Utc>,
}

/// A new asset; fields as in [`Asset`].
#[derive(Debug, Clone)]
pub(crate) struct NewAsset {
    pub(crate) code: AssetCode,
    pub(crate) name: String,
    pub(crate) symbol: Option<String>,
    pub(crate) kind: AssetType,
    pub(crate) decimal_places: DecimalPlaces,
    pub(crate) enabled: bool,
    pub(crate) logo: Option<String>,
    pub(crate) contract: String,
    pub(crate) custom_data: String,
}

/// An update of an asset; fields as in [`Asset`].
#[derive(Debug, Clone, Default)]
pub(crate) struct AssetPatch {
    pub(crate) name: Option<String>,
    pub(crate) symbol: Patch<String>,
    pub(crate) kind: Option<AssetType>,
    pub(crate) decimal_places: Option<DecimalPlaces>,
    pub(crate) enabled: Option<bool>,
    pub(crate) logo: Patch<String>,
    pub(crate) contract: Option<String>,
    pub(crate) custom_data: Option<String>,
}

/// Why an update is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatchRefusal {
    /// It changes a system asset in more than `enabled`, `customData` and `logo`.
    ReadOnly,
    /// It leaves fewer decimals. Prices, orders and addresses of other services rely on them, and none of
    /// those services can be asked and held still while the asset changes.
    FewerDecimals,
}

impl Asset {
    pub(crate) fn create(id: AssetId, new: NewAsset, now: DateTime<Utc>) -> Self {
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

    /// Applies an update; returns `None` if it changes nothing.
    pub(crate) fn patched(
        &self,
        patch: AssetPatch,
        now: DateTime<Utc>,
    ) -> Result<Option<Self>, PatchRefusal> {
        let mut after = self.clone();
        after.enabled = patch.enabled.unwrap_or(after.enabled);
        after.logo = patch.logo.or(after.logo);
        after.custom_data = patch.custom_data.unwrap_or(after.custom_data);
        let changeable = after.clone();
        after.name = patch.name.unwrap_or(after.name);
        after.symbol = patch.symbol.or(after.symbol);
        after.kind = patch.kind.unwrap_or(after.kind);
        after.decimal_places = patch.decimal_places.unwrap_or(after.decimal_places);
        after.contract = patch.contract.unwrap_or(after.contract);
        if self.system && after != changeable {
            return Err(PatchRefusal::ReadOnly);
        }
        if after.decimal_places < self.decimal_places {
            return Err(PatchRefusal::FewerDecimals);
        }
        if after == *self {
            return Ok(None);
        }
        after.updated_at = now.max(self.updated_at);
        after.version += 1;
        Ok(Some(after))
    }
}

/// A system asset as the first start creates it.
pub(crate) struct SystemAsset {
    pub(crate) code: &'static str,
    pub(crate) name: &'static str,
    pub(crate) symbol: Option<&'static str>,
    pub(crate) kind: AssetType,
    pub(crate) decimal_places: i16,
}

impl SystemAsset {
    const fn new(
        code: &'static str,
        name: &'static str,
        symbol: Option<&'static str>,
        kind: AssetType,
        decimal_places: i16,
    ) -> Self {
        Self {
            code,
            name,
            symbol,
            kind,
            decimal_places,
        }
    }
}

pub(crate) const SYSTEM_ASSETS: [SystemAsset; 4] = [
    SystemAsset::new("usd", "US Dollar", Some("$"), AssetType::Fiat, 2),
    SystemAsset::new("eur", "Euro", Some("€"), AssetType::Fiat, 2),
    SystemAsset::new("btc", "Bitcoin", Some("₿"), AssetType::Crypto, 8),
    SystemAsset::new("points", "Points", None, AssetType::Custom, 2),
];

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    fn places(number: i64) -> DecimalPlaces {
        DecimalPlaces::new(number).unwrap()
    }

    fn asset(system: bool) -> Asset {
        let new = NewAsset {
            code: AssetCode::parse("Gold").unwrap(),
            name: "Gold".to_owned(),
            symbol: Some("G".to_owned()),
            kind: AssetType::Custom,
            decimal_places: places(4),
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

    fn patched(system: bool, patch: AssetPatch) -> Result<Option<Asset>, PatchRefusal> {
        let asset = asset(system);
        let now = asset.updated_at + TimeDelta::seconds(1);
        asset.patched(patch, now)
    }

    #[test]
    fn an_update_without_a_change_is_none() {
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
    fn a_change_increments_the_version() {
        let patch = AssetPatch {
            kind: Some(AssetType::Fiat),
            symbol: Patch::Null,
            decimal_places: Some(places(5)),
            ..AssetPatch::default()
        };
        let before = asset(false);
        let after = patched(false, patch).unwrap().unwrap();
        assert_eq!((after.version, after.symbol.as_deref()), (2, None));
        assert!(after.updated_at > before.updated_at);
        assert_eq!(after.logo, before.logo);
    }

    #[test]
    fn system_assets_change_only_in_enabled_logo_and_custom_data() {
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
                decimal_places: Some(places(7)),
                ..open.clone()
            },
            AssetPatch {
                contract: Some(r#"{"a":1}"#.to_owned()),
                ..open
            },
        ];
        for patch in closed {
            assert_eq!(patched(true, patch), Err(PatchRefusal::ReadOnly));
        }
    }

    #[test]
    fn decimals_are_raised_and_never_lowered() {
        let to = |number| AssetPatch {
            decimal_places: Some(places(number)),
            ..AssetPatch::default()
        };
        for number in 0..4 {
            let lowered = patched(false, to(number));
            assert_eq!(lowered, Err(PatchRefusal::FewerDecimals), "{number}");
        }
        assert_eq!(patched(false, to(4)), Ok(None));
        for number in 5..=8 {
            let raised = patched(false, to(number)).unwrap().unwrap();
            assert_eq!(raised.decimal_places, places(number));
        }
    }
}
