//! The row of a product, joined with its tax rate and its asset.

use chrono::{DateTime, Utc};
use platform::{
    ids::Id,
    money::{Amount, DecimalPlaces, Percent},
    rank::Rank,
};
use sqlx::{
    Decode, FromRow, Postgres,
    error::BoxDynError,
    postgres::{PgRow, PgTypeInfo, PgValueRef},
};

use super::{
    Details, Product, ProductType,
    pricing::{Pricing, PricingAsset},
};
use crate::{category::Category, tax_rate::TaxRate};

#[derive(FromRow)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the public contract has five switches"
)]
pub(crate) struct ProductRow {
    pub(crate) id: Id<Product>,
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) category_id: Id<Category>,
    pub(crate) tax_rate_id: Option<Id<TaxRate>>,
    pub(crate) tax_rate: Option<Percent>,
    pub(crate) asset_code: String,
    pub(crate) decimal_places: DecimalPlaces,
    pub(crate) price: Amount,
    pub(crate) bonus: Amount,
    pub(crate) type_code: ProductType,
    pub(crate) allow_choosing_quantity: bool,
    pub(crate) available: bool,
    pub(crate) featured: bool,
    pub(crate) visible: bool,
    pub(crate) requires_identity: bool,
    pub(crate) button_label: Option<String>,
    pub(crate) list_label: Option<String>,
    pub(crate) url: Option<String>,
    pub(crate) image: Option<String>,
    pub(crate) thumbnail: Option<String>,
    pub(crate) rank: Rank,
    pub(crate) custom_data: String,
    pub(crate) version: i64,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) updated_at: DateTime<Utc>,
}

impl sqlx::Type<Postgres> for ProductType {
    fn type_info() -> PgTypeInfo {
        <String as sqlx::Type<Postgres>>::type_info()
    }
}

impl Decode<'_, Postgres> for ProductType {
    fn decode(value: PgValueRef<'_>) -> Result<Self, BoxDynError> {
        Ok(Self::parse(<&str as Decode<Postgres>>::decode(value)?)?)
    }
}

impl FromRow<'_, PgRow> for Product {
    fn from_row(row: &PgRow) -> Result<Self, sqlx::Error> {
        ProductRow::from_row(row).map(Self::from)
    }
}

impl From<ProductRow> for Product {
    fn from(row: ProductRow) -> Self {
        Self {
            id: row.id,
            pricing: Pricing {
                asset: PricingAsset {
                    code: row.asset_code,
                    decimal_places: row.decimal_places,
                },
                price: row.price,
                bonus: row.bonus,
                tax_rate: row.tax_rate,
            },
            category_id: row.category_id,
            tax_rate_id: row.tax_rate_id,
            rank: row.rank,
            version: row.version,
            created_at: row.created_at,
            updated_at: row.updated_at,
            details: Details {
                name: row.name,
                description: row.description,
                kind: row.type_code,
                allow_choosing_quantity: row.allow_choosing_quantity,
                available: row.available,
                featured: row.featured,
                visible: row.visible,
                requires_identity: row.requires_identity,
                button_label: row.button_label,
                list_label: row.list_label,
                url: row.url,
                image: row.image,
                thumbnail: row.thumbnail,
                custom_data: row.custom_data,
            },
        }
    }
}
