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
use crate::{category::Category, error::Error, tax_rate::TaxRate};

/// What kind of thing is sold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProductType {
    /// Delivered as data.
    Digital,
    /// Shipped or picked up.
    Physical,
    /// Done for the buyer.
    Service,
}

impl ProductType {
    /// The public text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Digital => "digital",
            Self::Physical => "physical",
            Self::Service => "service",
        }
    }

    /// Reads the public text.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
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

/// Something a shop sells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Product {
    /// Identifies it.
    pub id: Id<Product>,
    /// What a client wrote of it.
    pub details: Details,
    /// What it costs.
    pub pricing: Pricing,
    /// Where it is filed.
    pub category_id: Id<Category>,
    /// Whose percentage is in [`Product::pricing`].
    pub tax_rate_id: Option<Id<TaxRate>>,
    /// Its place among the products.
    pub rank: Rank,
    /// Counts its changes from 1.
    pub version: i64,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
}

/// The part of a product that stands by itself. Texts have the lengths of [`crate::text`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the public contract has five switches"
)]
pub struct Details {
    /// May be empty.
    pub name: String,
    /// For people.
    pub description: Option<String>,
    /// What kind of thing it is.
    pub kind: ProductType,
    /// Whether an order line may have a quantity other than 1.
    pub allow_choosing_quantity: bool,
    /// Whether it can be ordered.
    pub available: bool,
    /// Whether the shop puts it forward.
    pub featured: bool,
    /// Whether users see it.
    pub visible: bool,
    /// Whether only verified users may buy it.
    pub requires_identity: bool,
    /// For the shop's front end.
    pub button_label: Option<String>,
    /// For the shop's front end.
    pub list_label: Option<String>,
    /// For the shop's front end.
    pub url: Option<String>,
    /// As written; see [`crate::media`].
    pub image: Option<String>,
    /// As written; see [`crate::media`].
    pub thumbnail: Option<String>,
    /// A JSON object, as written.
    pub custom_data: String,
}

/// What a new product is made of.
#[derive(Debug, Clone)]
pub struct NewProduct {
    /// See [`Product::details`].
    pub details: Details,
    /// Has to exist.
    pub category_id: Id<Category>,
    /// Has to exist.
    pub tax_rate_id: Option<Id<TaxRate>>,
    /// `None`: the default asset.
    pub asset_code: Option<String>,
    /// Net.
    pub price: Amount,
    /// Zero for none.
    pub bonus: Amount,
    /// `None`: after all others.
    pub rank: Option<Rank>,
}

/// What an update changes.
#[derive(Debug, Clone, Default)]
pub struct ProductPatch {
    /// See [`Details`].
    pub details: DetailsPatch,
    /// Has to exist.
    pub category_id: Option<Id<Category>>,
    /// Has to exist.
    pub tax_rate_id: Patch<Id<TaxRate>>,
    /// Has to name an enabled asset.
    pub asset_code: Option<String>,
    /// Net.
    pub price: Option<Amount>,
    /// Cleared: zero.
    pub bonus: Patch<Amount>,
    /// See [`Product::rank`].
    pub rank: Option<Rank>,
}

/// What an update changes of the [`Details`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DetailsPatch {
    pub name: Option<String>,
    pub description: Patch<String>,
    pub kind: Option<ProductType>,
    pub allow_choosing_quantity: Option<bool>,
    pub available: Option<bool>,
    pub featured: Option<bool>,
    pub visible: Option<bool>,
    pub requires_identity: Option<bool>,
    pub button_label: Patch<String>,
    pub list_label: Patch<String>,
    pub url: Patch<String>,
    pub image: Patch<String>,
    pub thumbnail: Patch<String>,
    pub custom_data: Option<String>,
}

impl ProductPatch {
    /// Whether it leaves everything as it is.
    pub fn is_empty(&self) -> bool {
        self.details == DetailsPatch::default()
            && self.category_id.is_none()
            && self.tax_rate_id.is_absent()
            && !self.is_of_money()
            && self.rank.is_none()
    }

    /// Whether amounts have to be held against their asset.
    pub fn is_of_money(&self) -> bool {
        self.asset_code.is_some() || self.price.is_some() || !self.bonus.is_absent()
    }
}

/// What the use case has found out about the things that a product names.
#[derive(Debug, Clone)]
pub struct Named {
    /// The asset of the amounts.
    pub asset: PricingAsset,
    /// Of its tax rate, if it has one.
    pub tax_rate: Option<Percent>,
}

impl Product {
    /// A new product, whose rank has been settled.
    pub fn create(
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

    /// Applies an update that is not empty. `named` holds what is true after it.
    pub fn update(
        &mut self,
        patch: ProductPatch,
        named: Named,
        now: DateTime<Utc>,
    ) -> Result<(), Error> {
        let of_money = patch.is_of_money();
        self.pricing.asset = named.asset;
        self.pricing.price = patch.price.unwrap_or(self.pricing.price);
        self.pricing.bonus = patch.bonus.or(Some(self.pricing.bonus)).unwrap_or_default();
        self.pricing.tax_rate = named.tax_rate;
        if of_money {
            self.pricing.check_precision()?;
        }
        self.details.update(patch.details);
        self.category_id = patch.category_id.unwrap_or(self.category_id);
        self.tax_rate_id = patch.tax_rate_id.or(self.tax_rate_id);
        self.rank = patch.rank.unwrap_or(self.rank);
        self.version += 1;
        self.updated_at = now;
        Ok(())
    }

    /// Its place.
    pub fn ranked(&self) -> Ranked {
        let (id, rank) = (self.id.uuid(), self.rank);
        Ranked { id, rank }
    }

    /// Gives it another place.
    pub fn place(&mut self, rank: Rank, now: DateTime<Utc>) {
        self.rank = rank;
        self.version += 1;
        self.updated_at = now;
    }

    /// Ends it.
    pub fn delete(&mut self, now: DateTime<Utc>) {
        self.version += 1;
        self.updated_at = now;
    }
}

impl Details {
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
