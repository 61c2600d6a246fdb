//! What the rest is told of categories.

use platform::{
    ids::Ids,
    messaging::outbox::{Aggregate, Message},
};
use proto::events::v1::CategoryChanged;

use super::Category;
use crate::SCHEMA;

/// The category was made or changed.
pub fn changed(ids: &Ids, category: &Category) -> Message {
    message(ids, category, false)
}

/// The category was deleted.
pub fn deleted(ids: &Ids, category: &Category) -> Message {
    message(ids, category, true)
}

fn message(ids: &Ids, category: &Category, deleted: bool) -> Message {
    let aggregate = Aggregate {
        kind: "category",
        id: category.id.uuid(),
        version: category.version,
    };
    let body = CategoryChanged {
        category_id: category.id.into(),
        version: category.version,
        deleted,
    };
    Message::new(SCHEMA, ids.uuid(), "CategoryChanged", aggregate, &body)
}
