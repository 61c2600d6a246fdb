//! What the rest is told of products.

use platform::{
    ids::Ids,
    messaging::outbox::{Aggregate, Message},
};
use proto::events::v1::{ProductCreated, ProductDeleted, ProductUpdated};

use super::Product;
use crate::SCHEMA;

/// The product was made.
pub fn created(ids: &Ids, product: &Product) -> Message {
    let body = ProductCreated {
        product_id: product.id.into(),
        version: product.version,
        category_id: product.category_id.into(),
        asset_code: product.pricing.asset.code.clone(),
        price: product.pricing.price.into(),
    };
    message(ids, product, "ProductCreated", &body)
}

/// The product was changed.
pub fn updated(ids: &Ids, product: &Product) -> Message {
    let body = ProductUpdated {
        product_id: product.id.into(),
        version: product.version,
        category_id: product.category_id.into(),
        asset_code: product.pricing.asset.code.clone(),
        price: product.pricing.price.into(),
    };
    message(ids, product, "ProductUpdated", &body)
}

/// The product was deleted.
pub fn deleted(ids: &Ids, product: &Product) -> Message {
    let body = ProductDeleted {
        product_id: product.id.into(),
        version: product.version,
    };
    message(ids, product, "ProductDeleted", &body)
}

fn message(ids: &Ids, product: &Product, event: &str, body: &impl prost::Message) -> Message {
    let aggregate = Aggregate {
        kind: "product",
        id: product.id.uuid(),
        version: product.version,
    };
    Message::new(SCHEMA, ids.uuid(), event, aggregate, body)
}
