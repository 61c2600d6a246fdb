//! Payment methods. Pure.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::Deserialize;

/// A direction of money that a method supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Capability {
    Deposit,
    Withdrawal,
}

/// The kind of a method, with which the transaction codes that use it begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Feature {
    /// Alternative payment methods: `apm:<slug>`.
    Apm,
    Card,
    Crypto,
}

/// A provider of deposits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PaymentMethod {
    /// Unique.
    pub(crate) slug: String,
    pub(crate) name: String,
    /// Accepts new transactions.
    pub(crate) enabled: bool,
    /// Codes of the accepted assets, in any case; empty means all.
    pub(crate) assets: Vec<String>,
    pub(crate) capabilities: Vec<Capability>,
    pub(crate) features: Vec<Feature>,
    /// JSON object with masked secrets.
    pub(crate) metadata: String,
    pub(crate) created_at: DateTime<Utc>,
}

/// All configured methods, by slug. Cloning is cheap.
#[derive(Debug, Clone, Default)]
pub(crate) struct PaymentMethods(Arc<[PaymentMethod]>);

impl Capability {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Deposit => "deposit",
            Self::Withdrawal => "withdrawal",
        }
    }
}

impl Feature {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Apm => "apm",
            Self::Card => "card",
            Self::Crypto => "crypto",
        }
    }

    pub(crate) fn find(name: &str) -> Option<Self> {
        [Self::Apm, Self::Card, Self::Crypto]
            .into_iter()
            .find(|feature| feature.as_str() == name)
    }
}

impl PaymentMethod {
    /// Returns whether the method accepts the asset.
    pub(crate) fn accepts(&self, asset: &str) -> bool {
        let mut assets = self.assets.iter();
        self.assets.is_empty() || assets.any(|accepted| accepted.eq_ignore_ascii_case(asset))
    }

    fn accepts_deposits(&self, feature: Feature) -> bool {
        self.enabled
            && self.features.contains(&feature)
            && self.capabilities.contains(&Capability::Deposit)
    }
}

impl PaymentMethods {
    /// Sorts methods, whose slugs are unique.
    pub(crate) fn new(mut methods: Vec<PaymentMethod>) -> Self {
        methods.sort_by(|a, b| a.slug.cmp(&b.slug));
        Self(methods.into())
    }

    pub(crate) fn all(&self) -> &[PaymentMethod] {
        &self.0
    }

    pub(crate) fn find(&self, slug: &str) -> Option<&PaymentMethod> {
        self.0.iter().find(|method| method.slug == slug)
    }

    /// Finds the method of deposits with the code `<feature>:<slug>`.
    pub(crate) fn for_deposit(&self, feature: Feature, slug: &str) -> Option<&PaymentMethod> {
        self.find(slug)
            .filter(|method| method.accepts_deposits(feature))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns an enabled method for card deposits in any asset.
    pub(crate) fn method(slug: &str) -> PaymentMethod {
        PaymentMethod {
            slug: slug.to_owned(),
            name: slug.to_owned(),
            enabled: true,
            assets: Vec::new(),
            capabilities: vec![Capability::Deposit],
            features: vec![Feature::Card],
            metadata: "{}".to_owned(),
            created_at: "2026-01-31T10:00:00Z".parse().unwrap(),
        }
    }

    #[test]
    fn a_deposit_needs_an_enabled_method_with_feature_and_capability() {
        let off = PaymentMethod {
            enabled: false,
            ..method("off")
        };
        let out = PaymentMethod {
            capabilities: vec![Capability::Withdrawal],
            ..method("out")
        };
        let methods = PaymentMethods::new(vec![off, out, method("on")]);
        assert!(methods.for_deposit(Feature::Card, "on").is_some());
        for (feature, slug) in [
            (Feature::Apm, "on"),
            (Feature::Card, "off"),
            (Feature::Card, "out"),
            (Feature::Card, "ON"),
            (Feature::Card, "none"),
        ] {
            assert_eq!(methods.for_deposit(feature, slug), None, "{slug}");
        }
    }

    #[test]
    fn a_method_accepts_its_assets_or_all() {
        assert!(method("all").accepts("usd"));
        let some = PaymentMethod {
            assets: vec!["Usd".to_owned()],
            ..method("some")
        };
        assert!(some.accepts("usd") && !some.accepts("eur"));
    }
}
