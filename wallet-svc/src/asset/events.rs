//! The events of assets.

use platform::{
    ids::Ids,
    messaging::outbox::{Aggregate, Message},
};
use proto::events::v1::AssetChanged;

use super::model::Asset;
use crate::SCHEMA;

/// Returns the event of a created or updated asset.
pub(crate) fn changed(asset: &Asset, ids: &Ids) -> Message {
    let aggregate = Aggregate {
        kind: "asset",
        id: asset.id.uuid(),
        version: asset.version,
    };
    let body = AssetChanged {
        asset_code: asset.code.to_string(),
        version: asset.version,
        r#type: asset.kind.as_str().to_owned(),
        decimal_places: asset.decimal_places.get().into(),
        enabled: asset.enabled,
    };
    Message::new(SCHEMA, ids.uuid(), "AssetChanged", aggregate, &body)
}
