//! The events of rates.

use platform::{
    ids::Ids,
    messaging::outbox::{Aggregate, Message},
};
use proto::events::v1::RateChanged;

use super::model::ExchangeRate;
use crate::SCHEMA;

/// Returns the event of a created or updated rate.
pub(crate) fn changed(rate: &ExchangeRate, ids: &Ids) -> Message {
    message(rate, false, ids)
}

/// Returns the event of a deleted rate, whose version is already incremented.
pub(crate) fn deleted(rate: &ExchangeRate, ids: &Ids) -> Message {
    message(rate, true, ids)
}

fn message(rate: &ExchangeRate, deleted: bool, ids: &Ids) -> Message {
    let aggregate = Aggregate {
        kind: "rate",
        id: rate.id.uuid(),
        version: rate.version,
    };
    let body = RateChanged {
        base_asset_code: rate.pair.base.to_string(),
        quote_asset_code: rate.pair.quote.to_string(),
        version: rate.version,
        rate: rate.rate.to_string(),
        deleted,
    };
    Message::new(SCHEMA, ids.uuid(), "RateChanged", aggregate, &body)
}
