//! A product and how it changes.

use chrono::{DateTime, Utc};
use platform::{
    error::{FieldCode, InvalidValue},
    ids::Id,
    money::{Amount, Percent},
    patch::Patch,
    rank::{Rank, Ranked},
};

use super::pricing::{Pricing, PricingAsset};
use crate::{category::Category, error::Error, tax_rate::TaxRate, words};

/// How a product is delivered: as data, as a thing, or as work for the buyer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProductType {
    Digital,
    Physical,
    Service,
}

impl ProductType {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Digital => "digital",
            Self::Physical => "physical",
            Self::Service => "service",
        }
    }

    pub(crate) fn parse(text: &str) -> Result<Self, InvalidValue> {
        match text {
            "digital" => Ok(Self::Digital),
            "physical" => Ok(Self::Physical),
            "service" => Ok(Self::Service),
            _ => {
                let message = "must be `digital`, `physical` or `service`";
                Err(InvalidValue::new(FieldCode::Enum, message))
            }
        }
    }
}

/// A product of the shop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Product {
    pub(crate) id: Id<Product>,
    pub(crate) details: Details,
    pub(crate) pricing: Pricing,
    pub(crate) category_id: Id<Category>,
    /// Its percentage is in [`Product::pricing`].
    pub(crate) tax_rate_id: Option<Id<TaxRate>>,
    /// Its position among the products.
    pub(crate) rank: Rank,
    /// Counts its changes from 1.
    pub(crate) version: i64,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) updated_at: DateTime<Utc>,
}

/// The fields of a product that depend on nothing else. Texts have the lengths of [`crate::fields`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the public contract has five switches"
)]
pub(crate) struct Details {
    /// May be empty.
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) kind: ProductType,
    /// Whether an order line may have a quantity other than 1.
    pub(crate) allow_choosing_quantity: bool,
    /// Whether it can be ordered.
    pub(crate) available: bool,
    pub(crate) featured: bool,
    /// Whether users see it.
    pub(crate) visible: bool,
    /// Whether only verified users may buy it.
    pub(crate) requires_identity: bool,
    pub(crate) button_label: Option<String>,
    pub(crate) list_label: Option<String>,
    pub(crate) url: Option<String>,
    /// As written; see [`crate::media`].
    pub(crate) image: Option<String>,
    /// As written; see [`crate::media`].
    pub(crate) thumbnail: Option<String>,
    /// A JSON object, as written.
    pub(crate) custom_data: String,
}

/// The fields of a new product.
#[derive(Debug, Clone)]
pub(crate) struct NewProduct {
    pub(crate) details: Details,
    pub(crate) category_id: Id<Category>,
    pub(crate) tax_rate_id: Option<Id<TaxRate>>,
    /// `None`: the default asset.
    pub(crate) asset_code: Option<String>,
    /// Net.
    pub(crate) price: Amount,
    pub(crate) bonus: Amount,
    /// `None`: after all others.
    pub(crate) rank: Option<Rank>,
}

/// An update of a product.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProductPatch {
    pub(crate) details: DetailsPatch,
    pub(crate) category_id: Option<Id<Category>>,
    pub(crate) tax_rate_id: Patch<Id<TaxRate>>,
    pub(crate) asset_code: Option<String>,
    /// Net.
    pub(crate) price: Option<Amount>,
    /// Cleared: zero.
    pub(crate) bonus: Patch<Amount>,
    pub(crate) rank: Option<Rank>,
}

/// An update of the [`Details`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DetailsPatch {
    pub(crate) name: Option<String>,
    pub(crate) description: Patch<String>,
    pub(crate) kind: Option<ProductType>,
    pub(crate) allow_choosing_quantity: Option<bool>,
    pub(crate) available: Option<bool>,
    pub(crate) featured: Option<bool>,
    pub(crate) visible: Option<bool>,
    pub(crate) requires_identity: Option<bool>,
    pub(crate) button_label: Patch<String>,
    pub(crate) list_label: Patch<String>,
    pub(crate) url: Patch<String>,
    pub(crate) image: Patch<String>,
    pub(crate) thumbnail: Patch<String>,
    pub(crate) custom_data: Option<String>,
}

impl ProductPatch {
    pub(crate) fn is_empty(&self) -> bool {
        self.details == DetailsPatch::default()
            && self.category_id.is_none()
            && self.tax_rate_id.is_absent()
            && !self.changes_amounts()
            && self.rank.is_none()
    }

    /// Returns whether the decimals of amounts must be checked.
    pub(crate) fn changes_amounts(&self) -> bool {
        self.asset_code.is_some() || self.price.is_some() || !self.bonus.is_absent()
    }
}

/// The asset and the tax rate that a product refers to.
#[derive(Debug, Clone)]
pub(crate) struct Named {
    pub(crate) asset: PricingAsset,
    pub(crate) tax_rate: Option<Percent>,
}

impl Product {
    pub(crate) fn create(
        id: Id<Self>,
        new: NewProduct,
        named: Named,
        rank: Rank,
        now: DateTime<Utc>,
    ) -> Result<Self, Error> {
        let pricing = Pricing {
            asset: named.asset,
            price: new.price,
            bonus: new.bonus,
            tax_rate: named.tax_rate,
        };
        pricing.check_precision()?;
        Ok(Self {
            id,
            details: new.details,
            pricing,
            category_id: new.category_id,
            tax_rate_id: new.tax_rate_id,
            rank,
            version: 1,
            created_at: now,
            updated_at: now,
        })
    }

    /// Applies an update that is not empty. `named` is what the product refers to after it.
    pub(crate) fn update(
        &mut self,
        patch: ProductPatch,
        named: Named,
        now: DateTime<Utc>,
    ) -> Result<(), Error> {
        let changes_amounts = patch.changes_amounts();
        self.pricing.asset = named.asset;
        self.pricing.price = patch.price.unwrap_or(self.pricing.price);
        self.pricing.bonus = patch.bonus.or(Some(self.pricing.bonus)).unwrap_or_default();
        self.pricing.tax_rate = named.tax_rate;
        if changes_amounts {
            self.pricing.check_precision()?;
        }
        self.details.update(patch.details);
        self.category_id = patch.category_id.unwrap_or(self.category_id);
        self.tax_rate_id = patch.tax_rate_id.or(self.tax_rate_id);
        self.rank = patch.rank.unwrap_or(self.rank);
        self.touch(now);
        Ok(())
    }

    /// Moves it to another position.
    pub(crate) fn place(&mut self, rank: Rank, now: DateTime<Utc>) {
        self.rank = rank;
        self.touch(now);
    }

    /// Counts a change that is not in its fields, such as its deletion or a change of its questions.
    pub(crate) fn touch(&mut self, now: DateTime<Utc>) {
        self.version += 1;
        self.updated_at = now;
    }

    pub(crate) fn ranked(&self) -> Ranked {
        Ranked {
            rank: self.rank,
            id: self.id.uuid(),
        }
    }
}

impl Details {
    /// Returns the words that a search finds, as a `tsvector`.
    pub(super) fn search(&self) -> String {
        let description = self.description.as_deref().unwrap_or_default();
        words::vector([self.name.as_str(), description])
    }

    /// Returns the words of the name, as a `tsvector`.
    pub(super) fn name_search(&self) -> String {
        words::vector([self.name.as_str()])
    }

    fn update(&mut self, patch: DetailsPatch) {
        set(&mut self.name, patch.name);
        set(&mut self.kind, patch.kind);
        set(
            &mut self.allow_choosing_quantity,
            patch.allow_choosing_quantity,
        );
        set(&mut self.available, patch.available);
        set(&mut self.featured, patch.featured);
        set(&mut self.visible, patch.visible);
        set(&mut self.requires_identity, patch.requires_identity);
        set(&mut self.custom_data, patch.custom_data);
        self.description = patch.description.or(self.description.take());
        self.button_label = patch.button_label.or(self.button_label.take());
        self.list_label = patch.list_label.or(self.list_label.take());
        self.url = patch.url.or(self.url.take());
        self.image = patch.image.or(self.image.take());
        self.thumbnail = patch.thumbnail.or(self.thumbnail.take());
    }
}

fn set<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}
