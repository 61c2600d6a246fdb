//! Product events for the outbox.

use platform::{
    ids::Ids,
    messaging::outbox::{Aggregate, Message},
};
use proto::events::v1::{ProductCreated, ProductDeleted, ProductUpdated};

use super::Product;
use crate::{SCHEMA, context::Change};

/// Builds the event of a change that the product's version counts.
pub(crate) fn message(ids: &Ids, product: &Product, change: Change) -> Message {
    let aggregate = Aggregate {
        kind: "product",
        id: product.id.uuid(),
        version: product.version,
    };
    let (product_id, version) = (product.id.into(), product.version);
    let (category_id, pricing) = (product.category_id.into(), &product.pricing);
    let (asset_code, price) = (pricing.asset.code.clone(), pricing.price.into());
    match change {
        Change::Created => {
            let body = ProductCreated {
                product_id,
                version,
                category_id,
                asset_code,
                price,
            };
            Message::new(SCHEMA, ids.uuid(), "ProductCreated", aggregate, &body)
        }
        Change::Updated => {
            let body = ProductUpdated {
                product_id,
                version,
                category_id,
                asset_code,
                price,
            };
            Message::new(SCHEMA, ids.uuid(), "ProductUpdated", aggregate, &body)
        }
        Change::Deleted => {
            let body = ProductDeleted {
                product_id,
                version,
            };
            Message::new(SCHEMA, ids.uuid(), "ProductDeleted", aggregate, &body)
        }
    }
}
