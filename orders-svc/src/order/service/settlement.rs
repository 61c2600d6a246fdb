//! Settlements: what a claim whose transfers are posted changes in the database. Those of new orders, of which
//! nothing must be read, are written in groups.

use chrono::{DateTime, Utc};
use platform::{
    idempotency::{self, Scope},
    messaging::outbox::{self, Message},
    pg::GroupWrite,
};
use prost::Message as _;
use proto::orders::v1 as wire;
use sqlx::PgConnection;

use super::{
    Orders,
    drive::Applied,
    record::{Change, Record},
    showing,
};
use crate::{
    SCHEMA,
    error::Error,
    order::{
        convert, events,
        model::{
            Action, Claim, ClaimId, Event, HistoryEntry, Order, OrderStatus, OrderWithLines,
            TransactionId,
        },
        repo::{self, payments::ClaimPayments},
    },
};

/// What a settlement writes, apart from refunds and lines.
pub(super) struct Settlement {
    claim: ClaimId,
    order: Order,
    payments: ClaimPayments,
    messages: Vec<Message>,
    record: Record,
    /// The response to record, encoded, if the request has a key.
    response: Option<(Scope, Vec<u8>)>,
}

/// Deletes claims and writes their settlements; returns for each whether the claim was there.
pub(super) struct WriteSettlements;

impl GroupWrite for WriteSettlements {
    type Item = Settlement;
    type Output = bool;

    async fn write_in_tx(
        &self,
        conn: &mut PgConnection,
        settlements: &[Settlement],
    ) -> Result<Vec<bool>, sqlx::Error> {
        let claims: Vec<_> = settlements.iter().map(|it| it.claim).collect();
        let deleted = repo::claims::delete_all_in_tx(conn, &claims).await?;
        let is_deleted = |it: &Settlement| deleted.contains(&it.claim.order_id);
        let own: Vec<_> = settlements.iter().filter(|it| is_deleted(it)).collect();
        write_all_in_tx(conn, &own).await?;
        Ok(settlements.iter().map(is_deleted).collect())
    }
}

/// Writes settlements whose claims the transaction has deleted.
pub(super) async fn write_all_in_tx(
    conn: &mut PgConnection,
    settlements: &[&Settlement],
) -> Result<(), sqlx::Error> {
    if settlements.is_empty() {
        return Ok(());
    }
    let payments: Vec<_> = settlements.iter().map(|it| &it.payments).collect();
    repo::payments::insert_all_in_tx(conn, &payments).await?;
    let orders: Vec<_> = settlements.iter().map(|it| &it.order).collect();
    repo::orders::update_all_in_tx(conn, &orders).await?;
    let messages = settlements
        .iter()
        .flat_map(|it| it.messages.iter().cloned());
    outbox::append_in_tx(conn, SCHEMA, messages).await?;
    let records: Vec<_> = settlements.iter().map(|it| &it.record).collect();
    Record::insert_all_in_tx(conn, &records).await?;
    let responses = settlements.iter().filter_map(|it| it.response.as_ref());
    let responses: Vec<_> = responses.map(|(scope, bytes)| (scope, &**bytes)).collect();
    idempotency::complete_all_in_tx(conn, SCHEMA, &responses).await
}

impl Orders {
    /// Applies a claim whose transfers are posted to its order. Returns what to write, and the response.
    pub(super) fn settlement(
        &self,
        applied: Applied<'_>,
        order: &mut OrderWithLines,
        now: DateTime<Utc>,
    ) -> Result<(Settlement, wire::Order), Error> {
        let Applied {
            claim,
            transactions,
            user,
        } = applied;
        let before = order.order.state();
        let events = apply(claim.action(), transactions, order, now)?;
        let messages = events::messages(&mut order.order, &events, &self.ids);
        let action = claim.action();
        let change = Change {
            done: action.done(),
            actor: Some(&claim.intent.actor),
            before: Some(before).filter(|before| before.order != OrderStatus::Draft),
            entries: HistoryEntry::of_events(&events, action.refund()),
        };
        let response = showing(convert::order(order), user);
        let settlement = Settlement {
            claim: claim.id(),
            payments: payments(claim, transactions, now),
            messages,
            record: self.record(&order.order, change),
            order: order.order.clone(),
            response: claim
                .idempotency_scope
                .map(|scope| (scope, response.encode_to_vec())),
        };
        Ok((settlement, response))
    }
}

/// Applies an action to its order, and returns the events.
fn apply(
    action: &Action,
    transactions: &[TransactionId],
    order: &mut OrderWithLines,
    now: DateTime<Utc>,
) -> Result<Vec<Event>, Error> {
    let mut events = Vec::new();
    match action {
        Action::PlaceAndCharge(legs) => {
            events.push(order.order.activate()?);
            events.extend(order.order.record_payment(legs, transactions, now)?);
        }
        Action::Charge(legs) => {
            events.extend(order.order.record_payment(legs, transactions, now)?);
        }
        Action::Cancel(refund) => events.extend(order.cancel(refund, transactions, now)?),
        Action::Refund(refund) => events.extend(order.refund(refund, transactions, now)?),
    }
    Ok(events)
}

/// Returns the payments that a claim takes; none if it refunds.
fn payments(claim: &Claim, transactions: &[TransactionId], now: DateTime<Utc>) -> ClaimPayments {
    let legs = match claim.action() {
        Action::PlaceAndCharge(legs) | Action::Charge(legs) => &**legs,
        Action::Cancel(_) | Action::Refund(_) => &[],
    };
    ClaimPayments {
        claim: claim.id(),
        legs: legs
            .iter()
            .cloned()
            .zip(transactions.iter().copied())
            .collect(),
        created_at: now,
    }
}
