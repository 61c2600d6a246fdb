//! Public events: what happened in any context, as clients are told. Made from the events between
//! services, kept for a week, sent to webhooks, and
//! streamed to whoever watches.
//!
//! They name ids and amounts. No email, name, address or token is part of one.

pub(crate) mod event_types;
mod feed;
pub(crate) mod grpc;
mod model;
mod recorder;
pub(crate) mod repo;
mod translate;

use std::marker::PhantomData;

use chrono::{DateTime, Utc};
use platform::{
    error::Failure,
    messaging::inbox::{BatchHandler, Event},
    pg::Schema,
    service::Backbone,
};
use proto::events::v1 as events;
use sqlx::PgConnection;
use uuid::Uuid;

pub(crate) use feed::Feed;
pub use model::PublicEvent;
pub use recorder::Recorder;
pub(crate) use recorder::purge_until;

use self::translate::Translate;
use crate::{SCHEMA, consumers::ORDERS};

/// The context of wallet-svc.
const WALLET: Schema = Schema::new("wallet");

/// The part of the consumers' names that tells them from other consumers of the same events.
const PURPOSE: &str = "public";

/// Consumes the events that public ones are made from.
pub(crate) fn consume(backbone: &mut Backbone, recorder: &Recorder) {
    record::<events::OrderPlaced>(backbone, recorder, ORDERS, "OrderPlaced");
    record::<events::OrderPaid>(backbone, recorder, ORDERS, "OrderPaid");
    record::<events::OrderFulfilled>(backbone, recorder, ORDERS, "OrderFulfilled");
    record::<events::OrderCanceled>(backbone, recorder, ORDERS, "OrderCanceled");
    record::<events::OrderRefunded>(backbone, recorder, ORDERS, "OrderRefunded");
    record::<events::TransactionCreated>(backbone, recorder, WALLET, "TransactionCreated");
    record::<events::TransactionApproved>(backbone, recorder, WALLET, "TransactionApproved");
    record::<events::TransactionConfirmed>(backbone, recorder, WALLET, "TransactionConfirmed");
    record::<events::TransactionFailed>(backbone, recorder, WALLET, "TransactionFailed");
    record::<events::TransactionRejected>(backbone, recorder, WALLET, "TransactionRejected");
    record::<events::UserCreated>(backbone, recorder, SCHEMA, "UserCreated");
    record::<events::UserApproved>(backbone, recorder, SCHEMA, "UserApproved");
    record::<events::UserBlocked>(backbone, recorder, SCHEMA, "UserBlocked");
    record::<events::TaskCompleted>(backbone, recorder, SCHEMA, "TaskCompleted");
}

fn record<B: Translate>(
    backbone: &mut Backbone,
    recorder: &Recorder,
    source: Schema,
    event: &'static str,
) {
    let handler = Record::<B> {
        recorder: recorder.clone(),
        body: PhantomData,
    };
    backbone.consume_for(PURPOSE, source, event, handler);
}

/// Records the public events that an event becomes.
struct Record<B> {
    recorder: Recorder,
    body: PhantomData<fn() -> B>,
}

impl<B> Clone for Record<B> {
    fn clone(&self) -> Self {
        Self {
            recorder: self.recorder.clone(),
            body: PhantomData,
        }
    }
}

impl<B: Translate> BatchHandler for Record<B> {
    type Body = B;

    async fn apply_all_in_tx(
        &self,
        conn: &mut PgConnection,
        events: Vec<Event<B>>,
    ) -> Result<(), Failure> {
        let events = events.into_iter();
        let events =
            events.flat_map(|event| public(event.envelope.id, event.envelope.time, event.body));
        let events: Vec<_> = events.collect();
        self.recorder.record_in_tx(conn, &events).await
    }

    fn committed(&self) {
        self.recorder.notify();
    }
}

/// Returns the public events that an event with this id and time becomes.
fn public<B: Translate>(
    id: Uuid,
    occurred_at: DateTime<Utc>,
    body: B,
) -> impl Iterator<Item = PublicEvent> {
    // The same at each delivery, and the event that came before has the id before.
    let before = Uuid::from_u128(id.as_u128().wrapping_sub(1));
    let before = body.before().map(|translated| (before, translated));
    let own = body.translate().map(|translated| (id, translated));
    let events = before.into_iter().chain(own);
    events.map(move |(id, (event_type, data))| PublicEvent {
        id,
        event_type: event_type.to_owned(),
        data: data.to_string(),
        occurred_at,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_created_and_confirmed_at_once_becomes_two_events_in_order() {
        let id: Uuid = "01927b3a-5f10-7c3e-9a41-2f6d8e0b1c00".parse().unwrap();
        let of = |created| {
            let transaction = Some(events::TransactionSummary {
                r#type: "transfer".to_owned(),
                ..Default::default()
            });
            let body = events::TransactionConfirmed {
                transaction,
                created,
            };
            let events = public(id, DateTime::UNIX_EPOCH, body);
            let events = events.map(|event| (event.id, event.event_type));
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
