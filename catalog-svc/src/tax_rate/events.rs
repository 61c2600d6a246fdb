//! Tax rate events for the outbox.

use platform::{
    ids::Ids,
    messaging::outbox::{Aggregate, Message},
};
use proto::events::v1::TaxRateChanged;

use super::TaxRate;
use crate::{SCHEMA, context::Change};

/// Builds the event of a change that the tax rate's version counts.
pub(crate) fn message(ids: &Ids, tax_rate: &TaxRate, change: Change) -> Message {
    let aggregate = Aggregate {
        kind: "tax_rate",
        id: tax_rate.id.uuid(),
        version: tax_rate.version,
    };
    let body = TaxRateChanged {
        tax_rate_id: tax_rate.id.into(),
        version: tax_rate.version,
        rate: tax_rate.rate.to_string(),
        deleted: change == Change::Deleted,
    };
    Message::new(SCHEMA, ids.uuid(), "TaxRateChanged", aggregate, &body)
}
