//! Public events: what happened in any context, as clients are told. Made from the events between services, kept
//! for two weeks, sent to webhooks, and streamed to whoever watches.
//!
//! They name ids and amounts. No email, name, address or token is part of one.

pub(crate) mod event_types;
mod feed;
pub(crate) mod grpc;
mod model;
mod recorder;
pub(crate) mod repo;
mod translate;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use platform::{
    error::Failure,
    messaging::inbox::{BatchHandler, Body, Event},
    pg::Schema,
    service::Backbone,
};
use proto::events::v1 as events;
use serde_json::Value;
use sqlx::PgConnection;
use uuid::Uuid;

pub(crate) use feed::Feed;
pub use model::{EventRow, PublicEvent};
pub use recorder::Recorder;
pub(crate) use recorder::purge_until;

use self::translate::Translate;
use crate::{SCHEMA, consumers::ORDERS};

/// The context of wallet-svc.
const WALLET: Schema = Schema::new("wallet");

/// The part of the consumers' names that tells them from other consumers of the same events.
const PURPOSE: &str = "public";

/// An event between services, and how its message becomes public events.
struct Source {
    context: Schema,
    name: &'static str,
    translate: fn(Bytes) -> Result<Translated, String>,
}

/// The events that public ones are made from.
const SOURCES: [Source; 14] = [
    source::<events::OrderPlaced>(ORDERS, "OrderPlaced"),
    source::<events::OrderPaid>(ORDERS, "OrderPaid"),
    source::<events::OrderFulfilled>(ORDERS, "OrderFulfilled"),
    source::<events::OrderCanceled>(ORDERS, "OrderCanceled"),
    source::<events::OrderRefunded>(ORDERS, "OrderRefunded"),
    source::<events::TransactionCreated>(WALLET, "TransactionCreated"),
    source::<events::TransactionApproved>(WALLET, "TransactionApproved"),
    source::<events::TransactionConfirmed>(WALLET, "TransactionConfirmed"),
    source::<events::TransactionFailed>(WALLET, "TransactionFailed"),
    source::<events::TransactionRejected>(WALLET, "TransactionRejected"),
    source::<events::UserCreated>(SCHEMA, "UserCreated"),
    source::<events::UserApproved>(SCHEMA, "UserApproved"),
    source::<events::UserBlocked>(SCHEMA, "UserBlocked"),
    source::<events::TaskCompleted>(SCHEMA, "TaskCompleted"),
];

const fn source<B: Translate>(context: Schema, name: &'static str) -> Source {
    Source {
        context,
        name,
        translate: translated::<B>,
    }
}

/// Consumes the events that public ones are made from: those of a context together.
pub(crate) fn consume(backbone: &mut Backbone, recorder: &Recorder) {
    let mut sources = SOURCES;
    sources.sort_by_key(|source| source.context.name());
    for sources in sources.chunk_by(|one, next| one.context == next.context) {
        let context = sources[0].context;
        let names: Vec<_> = sources.iter().map(|source| source.name).collect();
        backbone.consume_all(PURPOSE, context, &names, Record(recorder.clone()));
    }
}

/// What an event between services becomes.
struct Translated {
    /// The type of the event that it implies, and that comes before.
    before_type: Option<&'static str>,
    /// Type and data; `None` for what clients are not told.
    own: Option<(&'static str, Value)>,
}

fn translated<B: Translate>(bytes: Bytes) -> Result<Translated, String> {
    let body = B::decode(bytes).map_err(|error| error.to_string())?;
    Ok(Translated {
        before_type: body.before(),
        own: body.translate(),
    })
}

impl Body for Translated {
    fn decode(event_type: &str, bytes: Bytes) -> Result<Self, String> {
        let name = event_type.rsplit('.').next();
        let mut sources = SOURCES.iter();
        let source = sources.find(|source| Some(source.name) == name);
        let source = source.ok_or_else(|| format!("unknown event type {event_type}"))?;
        (source.translate)(bytes)
    }
}

/// Records the public events that events become.
#[derive(Clone)]
struct Record(Recorder);

impl BatchHandler for Record {
    type Body = Translated;

    const IS_IDEMPOTENT: bool = true;

    async fn apply_all_in_tx(
        &self,
        conn: &mut PgConnection,
        events: Vec<Event<Translated>>,
    ) -> Result<(), Failure> {
        let events = events.into_iter();
        let rows =
            events.filter_map(|event| row(event.envelope.id, event.envelope.time, event.body));
        let rows: Vec<_> = rows.collect();
        self.0.record_in_tx(conn, &rows).await
    }

    fn committed(&self) {
        self.0.notify();
    }
}

/// Returns the public events that an event with this id and time becomes: the same at each delivery.
fn row(id: Uuid, occurred_at: DateTime<Utc>, body: Translated) -> Option<EventRow> {
    let (event_type, data) = body.own?;
    Some(EventRow {
        id,
        event_type: event_type.to_owned(),
        before_type: body.before_type.map(str::to_owned),
        data: data.to_string(),
        occurred_at,
    })
}

#[cfg(test)]
mod tests {
    use prost::Message as _;

    use super::*;

    #[test]
    fn an_event_that_is_not_consumed_cannot_be_decoded() {
        let decoded = Translated::decode("guerdon.orders.v1.OrderArchived", Bytes::new());
        assert!(decoded.is_err_and(|error| error.contains("OrderArchived")));
    }

    #[test]
    fn what_is_created_and_confirmed_at_once_becomes_two_events_in_order() {
        let id: Uuid = "01927b3a-5f10-7c3e-9a41-2f6d8e0b1c00".parse().unwrap();
        let of = |created| {
            let transaction = Some(events::TransactionSummary {
                r#type: "transfer".to_owned(),
                ..Default::default()
            });
            let event = events::TransactionConfirmed {
                transaction,
                created,
            };
            let bytes = event.encode_to_vec().into();
            let body = Translated::decode("guerdon.wallet.v1.TransactionConfirmed", bytes).unwrap();
            let row = row(id, DateTime::UNIX_EPOCH, body).unwrap();
            let events = row
                .events()
                .map(|(id, event_type)| (id, event_type.to_owned()));
            events.collect::<Vec<_>>()
        };
        let events = of(true);
        let types = events.iter().map(|(_, event_type)| event_type.as_str());
        let types: Vec<_> = types.collect();
        assert_eq!(
            types,
            [
                "transaction.transfer.created",
                "transaction.transfer.confirmed"
            ]
        );
        assert!(
            events.is_sorted(),
            "by id, as the feed has them: {events:?}"
        );
        assert_eq!(events[1].0, id);
        assert_eq!(of(true), events, "a redelivery");
        assert_eq!(of(false), events[1..]);
    }
}
