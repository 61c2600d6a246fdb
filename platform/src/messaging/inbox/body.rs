//! What a consumer decodes events into.

use bytes::Bytes;

/// The body of an event, as a consumer takes it.
pub trait Body: Send + Sized + 'static {
    /// Decodes the body of an event of this type, `guerdon.orders.v1.OrderPaid`. The error says why it
    /// cannot be decoded.
    fn decode(event_type: &str, bytes: Bytes) -> Result<Self, String>;
}

/// A consumer of one event takes its message.
impl<M: prost::Message + Default + 'static> Body for M {
    fn decode(_event_type: &str, bytes: Bytes) -> Result<Self, String> {
        prost::Message::decode(bytes).map_err(|error| error.to_string())
    }
}
