//! Events of API keys.

use platform::messaging::outbox::{Aggregate, Message};
use proto::events::v1::ApiKeyRevoked;
use uuid::Uuid;

use crate::{SCHEMA, auth::api_key::ApiKeyId};

/// Creates `ApiKeyRevoked`, the only event of a key.
pub(super) fn revoked(event_id: Uuid, id: ApiKeyId) -> Message {
    let aggregate = Aggregate {
        kind: "api_key",
        id: id.uuid(),
        version: 1,
    };
    let body = ApiKeyRevoked {
        api_key_id: id.to_string(),
        version: aggregate.version,
    };
    Message::new(SCHEMA, event_id, "ApiKeyRevoked", aggregate, &body)
}
