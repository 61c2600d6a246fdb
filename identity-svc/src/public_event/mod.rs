//! Public events: what happened in any context, as clients are told. Made from the events between
//! services, kept for a week, sent to webhooks, and
//! streamed to whoever watches.
//!
//! They name ids and amounts. No email, name, address or token is part of one.

pub(crate) mod event_types;
mod feed;
pub(crate) mod grpc;
mod model;
pub(crate) mod repo;
mod sequencer;
mod translate;

use std::marker::PhantomData;

use platform::{
    error::Failure,
    messaging::inbox::{Envelope, Event, Handler},
    pg::Schema,
    service::Backbone,
};
use proto::events::v1 as events;
use sqlx::PgConnection;
use uuid::Uuid;

pub(crate) use feed::Feed;
pub(crate) use model::PublicEvent;
pub(crate) use sequencer::Sequencer;

use self::translate::Translate;
use crate::{SCHEMA, consumers::ORDERS};

/// The context of wallet-svc.
const WALLET: Schema = Schema::new("wallet");

/// The part of the consumers' names that tells them from other consumers of the same events.
const PURPOSE: &str = "public";

/// Consumes the events that public ones are made from.
pub(crate) fn consume(backbone: &mut Backbone) {
    record::<events::OrderPlaced>(backbone, ORDERS, "OrderPlaced");
    record::<events::OrderPaid>(backbone, ORDERS, "OrderPaid");
    record::<events::OrderFulfilled>(backbone, ORDERS, "OrderFulfilled");
    record::<events::OrderCanceled>(backbone, ORDERS, "OrderCanceled");
    record::<events::OrderRefunded>(backbone, ORDERS, "OrderRefunded");
    record::<events::TransactionCreated>(backbone, WALLET, "TransactionCreated");
    record::<events::TransactionApproved>(backbone, WALLET, "TransactionApproved");
    record::<events::TransactionConfirmed>(backbone, WALLET, "TransactionConfirmed");
    record::<events::TransactionFailed>(backbone, WALLET, "TransactionFailed");
    record::<events::TransactionRejected>(backbone, WALLET, "TransactionRejected");
    record::<events::UserCreated>(backbone, SCHEMA, "UserCreated");
    record::<events::UserApproved>(backbone, SCHEMA, "UserApproved");
    record::<events::UserBlocked>(backbone, SCHEMA, "UserBlocked");
    record::<events::TaskCompleted>(backbone, SCHEMA, "TaskCompleted");
}

fn record<B: Translate>(backbone: &mut Backbone, source: Schema, event: &'static str) {
    backbone.consume_for(PURPOSE, source, event, Record::<B>(PhantomData));
}

/// Records the public event that an event becomes.
struct Record<B>(PhantomData<fn() -> B>);

impl<B> Clone for Record<B> {
    fn clone(&self) -> Self {
        Self(PhantomData)
    }
}

impl<B: Translate> Handler for Record<B> {
    type Body = B;

    async fn apply_in_tx(
        &self,
        conn: &mut PgConnection,
        envelope: &Envelope,
        body: B,
    ) -> Result<(), Failure> {
        let events: Vec<_> = public(envelope, body).collect();
        Ok(repo::insert_in_tx(conn, &events).await?)
    }

    async fn apply_all_in_tx(
        &self,
        conn: &mut PgConnection,
        events: Vec<Event<B>>,
    ) -> Result<(), Failure> {
        let events = events.into_iter();
        let events = events.flat_map(|event| public(&event.envelope, event.body));
        Ok(repo::insert_in_tx(conn, &events.collect::<Vec<_>>()).await?)
    }
}

/// Returns the public events that an event becomes.
fn public<B: Translate>(
    envelope: &Envelope,
    body: B,
) -> impl Iterator<Item = PublicEvent> + use<B> {
    let (id, occurred_at) = (envelope.id, envelope.time);
    // The same at each delivery, and the event that came before has the id before.
    let before = Uuid::from_u128(id.as_u128().wrapping_sub(1));
    let before = body.before().map(|translated| (before, translated));
    let own = body.translate().map(|translated| (id, translated));
    before
        .into_iter()
        .chain(own)
        .map(move |(id, (event_type, data))| PublicEvent {
            id,
            event_type: event_type.to_owned(),
            data: data.to_string(),
            occurred_at,
        })
}
