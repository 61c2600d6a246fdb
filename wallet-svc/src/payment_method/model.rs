//! A payment method, and the set of those configured. Pure.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::Deserialize;

/// What it can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Capability {
    /// Bring money in.
    Deposit,
    /// Take money out.
    Withdrawal,
}

/// Which transaction codes lead to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Feature {
    /// `apm:<slug>`: alternative payment methods.
    Apm,
    /// `card:<slug>`
    Card,
    /// `crypto:<slug>`
    Crypto,
}

/// A way to bring money in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentMethod {
    /// Its identifier.
    pub slug: String,
    /// For people.
    pub name: String,
    /// Whether it takes new transactions.
    pub enabled: bool,
    /// Codes of the assets it takes, in any case; none means all.
    pub assets: Vec<String>,
    /// What it can do.
    pub capabilities: Vec<Capability>,
    /// Which transaction codes lead to it.
    pub features: Vec<Feature>,
    /// JSON object of the provider, with its secrets masked.
    pub metadata: String,
    /// When it was configured.
    pub created_at: DateTime<Utc>,
}

/// Those configured, by slug. Cloning is cheap.
#[derive(Debug, Clone, Default)]
pub struct PaymentMethods(Arc<[PaymentMethod]>);

impl Capability {
    /// Its public name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Deposit => "deposit",
            Self::Withdrawal => "withdrawal",
        }
    }
}

impl Feature {
    /// Its public name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Apm => "apm",
            Self::Card => "card",
            Self::Crypto => "crypto",
        }
    }

    /// The feature with this name.
    pub fn find(name: &str) -> Option<Self> {
        [Self::Apm, Self::Card, Self::Crypto]
            .into_iter()
            .find(|feature| feature.as_str() == name)
    }
}

impl PaymentMethod {
    /// Whether money of this asset can come through it.
    pub fn takes(&self, asset: &str) -> bool {
        let mut assets = self.assets.iter();
        self.assets.is_empty() || assets.any(|taken| taken.eq_ignore_ascii_case(asset))
    }

    fn can_deposit_by(&self, feature: Feature) -> bool {
        self.enabled
            && self.features.contains(&feature)
            && self.capabilities.contains(&Capability::Deposit)
    }
}

impl PaymentMethods {
    /// These methods, whose slugs are unique.
    pub fn new(mut methods: Vec<PaymentMethod>) -> Self {
        methods.sort_by(|a, b| a.slug.cmp(&b.slug));
        Self(methods.into())
    }

    /// All of them, by slug.
    pub fn all(&self) -> &[PaymentMethod] {
        &self.0
    }

    /// The one with this slug.
    pub fn find(&self, slug: &str) -> Option<&PaymentMethod> {
        self.0.iter().find(|method| method.slug == slug)
    }

    /// The one that a deposit of the code `<feature>:<slug>` comes through.
    pub fn for_deposit(&self, feature: Feature, slug: &str) -> Option<&PaymentMethod> {
        self.find(slug)
            .filter(|method| method.can_deposit_by(feature))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An enabled method for card deposits in any asset.
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
    fn a_deposit_needs_a_method_that_is_on_and_can() {
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
    fn a_method_takes_the_assets_it_lists_or_all() {
        assert!(method("all").takes("usd"));
        let some = PaymentMethod {
            assets: vec!["Usd".to_owned()],
            ..method("some")
        };
        assert!(some.takes("usd") && !some.takes("eur"));
    }
}
