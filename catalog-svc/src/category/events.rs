//! Category events for the outbox.

use platform::{
    ids::Ids,
    messaging::outbox::{Aggregate, Message},
};
use proto::events::v1::CategoryChanged;

use super::Category;
use crate::{SCHEMA, context::Change};

/// Builds the event of a change that the category's version counts.
pub(crate) fn message(ids: &Ids, category: &Category, change: Change) -> Message {
    let aggregate = Aggregate {
        kind: "category",
        id: category.id.uuid(),
        version: category.version,
    };
    let body = CategoryChanged {
        category_id: category.id.into(),
        version: category.version,
        deleted: change == Change::Deleted,
    };
    Message::new(SCHEMA, ids.uuid(), "CategoryChanged", aggregate, &body)
}
