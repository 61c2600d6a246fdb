//! What the rest is told of tax rates.

use platform::{
    ids::Ids,
    messaging::outbox::{Aggregate, Message},
};
use proto::events::v1::TaxRateChanged;

use super::TaxRate;
use crate::SCHEMA;

/// The tax rate was made or changed.
pub fn changed(ids: &Ids, tax_rate: &TaxRate) -> Message {
    message(ids, tax_rate, false)
}

/// The tax rate was deleted.
pub fn deleted(ids: &Ids, tax_rate: &TaxRate) -> Message {
    message(ids, tax_rate, true)
}

fn message(ids: &Ids, tax_rate: &TaxRate, deleted: bool) -> Message {
    let aggregate = Aggregate {
        kind: "tax_rate",
        id: tax_rate.id.uuid(),
        version: tax_rate.version,
    };
    let body = TaxRateChanged {
        tax_rate_id: tax_rate.id.into(),
        version: tax_rate.version,
        rate: tax_rate.rate.to_string(),
        deleted,
    };
    Message::new(SCHEMA, ids.uuid(), "TaxRateChanged", aggregate, &body)
}
