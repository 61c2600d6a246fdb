//! The history of an order: its changes, for its owner and for admins.

use platform::money::Amount;
use serde::Serialize;

use super::{
    Event, FulfilmentDirection, LineUnits, Order, OrderStatus, PaymentStatus, Refund, TransactionId,
};

/// How far an order is fulfilled and paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) order: OrderStatus,
    pub(crate) payment: PaymentStatus,
}

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "snake_case")]
pub(crate) enum HistoryAction {
    Created,
    PaymentReceived,
    /// The order became fully paid, for the first time.
    Paid,
    Refunded,
    Canceled,
    Fulfilled,
    Unfulfilled,
    Updated,
    /// For admins.
    Note,
}

/// An entry that is not stored yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HistoryEntry {
    pub(crate) action: HistoryAction,
    /// In the order's asset.
    pub(crate) amount: Option<Amount>,
    /// JSON text of a string or an array.
    pub(crate) reason: Option<String>,
    pub(crate) note: Option<String>,
    pub(crate) details: Details,
}

/// What else an entry says; its JSON is public.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Details {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) lines: Vec<LineUnits>,
    /// Names of updated fields.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) fields: Vec<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) transaction_ids: Vec<TransactionId>,
}

impl HistoryAction {
    /// Returns the public name.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::PaymentReceived => "payment_received",
            Self::Paid => "paid",
            Self::Refunded => "refunded",
            Self::Canceled => "canceled",
            Self::Fulfilled => "fulfilled",
            Self::Unfulfilled => "unfulfilled",
            Self::Updated => "updated",
            Self::Note => "note",
        }
    }
}

impl From<FulfilmentDirection> for HistoryAction {
    fn from(direction: FulfilmentDirection) -> Self {
        match direction {
            FulfilmentDirection::Fulfill => Self::Fulfilled,
            FulfilmentDirection::Unfulfill => Self::Unfulfilled,
        }
    }
}

impl Order {
    pub(crate) const fn state(&self) -> State {
        State {
            order: self.order_status,
            payment: self.payment_status,
        }
    }
}

impl HistoryEntry {
    pub(crate) fn new(action: HistoryAction) -> Self {
        Self {
            action,
            amount: None,
            reason: None,
            note: None,
            details: Details::default(),
        }
    }

    /// Makes the entry of fields that were updated.
    pub(crate) fn updated(fields: Vec<&'static str>) -> Self {
        let details = Details {
            fields,
            ..Details::default()
        };
        Self {
            details,
            ..Self::new(HistoryAction::Updated)
        }
    }

    /// Makes the entry of units that were fulfilled or unfulfilled.
    pub(crate) fn moved(direction: FulfilmentDirection, lines: Vec<LineUnits>) -> Self {
        let details = Details {
            lines,
            ..Details::default()
        };
        Self {
            details,
            ..Self::new(direction.into())
        }
    }

    pub(crate) fn note(text: String) -> Self {
        Self {
            note: Some(text),
            ..Self::new(HistoryAction::Note)
        }
    }

    /// Makes the entries of events; `refund` is the one that they are about. Fulfilment has entries of its
    /// own, because an event tells only of whole orders.
    pub(crate) fn of_events(events: &[Event], refund: Option<&Refund>) -> Vec<Self> {
        let entries = events.iter().filter_map(|event| Self::of(event, refund));
        entries.collect()
    }

    fn of(event: &Event, refund: Option<&Refund>) -> Option<Self> {
        let reason = refund.and_then(|refund| refund.reason.clone());
        let lines = refund.map(|refund| refund.lines.clone());
        Some(match event {
            Event::Placed => Self::new(HistoryAction::Created),
            Event::Paid => Self::new(HistoryAction::Paid),
            Event::PaymentReceived {
                amount,
                transactions,
            } => Self {
                amount: Some(*amount),
                details: Details {
                    transaction_ids: transactions.clone(),
                    ..Details::default()
                },
                ..Self::new(HistoryAction::PaymentReceived)
            },
            Event::Canceled { .. } => Self {
                reason,
                ..Self::new(HistoryAction::Canceled)
            },
            Event::Refunded {
                refund,
                transactions,
                ..
            } => Self {
                amount: Some(*refund),
                reason,
                details: Details {
                    lines: lines.unwrap_or_default(),
                    transaction_ids: transactions.clone(),
                    ..Details::default()
                },
                ..Self::new(HistoryAction::Refunded)
            },
            Event::Fulfilled | Event::Unfulfilled => return None,
        })
    }
}
